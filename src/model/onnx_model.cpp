#include "harmonia/model/onnx_model.hpp"

#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>

#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "model_file.hpp"
#include "onnx_plan.hpp"

namespace harmonia {
namespace {

constexpr std::int64_t kMostOutputs = std::int64_t{1} << 31;  // numbers a row

// Rows a call: enough that a call's own cost and the reading of the weights do not show, few enough that
// what lies between two layers stays in the cache.
constexpr std::size_t kBatchRows = 512;
constexpr std::size_t kBatchPixels = std::size_t{1} << 17U;  // and of images, this many values a call

// ONNX Runtime's log goes nowhere: what matters of it comes back as errors.
void ORT_API_CALL no_log(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

// Before anything else of the runtime: with headers newer than the library there is nothing to call.
void check_version(const std::string& file) {
  const OrtApiBase& base = *OrtGetApiBase();
  if (base.GetApi(ORT_API_VERSION) != nullptr) return;
  throw Error(
      ErrorCode::input,
      fmt::format("model {}: the ONNX Runtime library found is version {}; expected 1.{} or newer, with "
                  "which harmonia was built",
                  file, base.GetVersionString(), ORT_API_VERSION));
}

Ort::Session make_session(const Ort::Env& environment, const std::string& bytes, const std::string& file) {
  Ort::SessionOptions options;
  // Threads are the caller's: calls run side by side, each on the thread that makes it.
  options.SetIntraOpNumThreads(1);
  options.SetInterOpNumThreads(1);
  options.SetExecutionMode(ORT_SEQUENTIAL);
  options.SetGraphOptimizationLevel(ORT_ENABLE_ALL);
  options.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, "0");
  options.AddConfigEntry(kOrtSessionOptionsConfigAllowInterOpSpinning, "0");
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) folder = ".";
  options.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath, folder.c_str());
  return {environment, bytes.data(), bytes.size(), options};
}

// What the runtime says, without the places in its own source.
std::string message_of(const Ort::Exception& error) { return sentence(error.what()); }

class OnnxModel final : public Model {
 public:
  OnnxModel(const std::string& path, const ModelOptions& options, std::span<const double> example) {
    std::string bytes = read_model_file(path);
    const OnnxGraph graph = read_onnx_graph(bytes, path);
    plan_ = plan_onnx(graph, options, example, path);
    info_.name = path;
    info_.kind = "onnx";
    info_.sha256 = sha256_hex(bytes);
    info_.inputs = plan_.width;
    if (plan_.shape.size() > 2) info_.row_shape.assign(plan_.shape.begin() + 1, plan_.shape.end());
    info_.scalar = plan_.scalar;
    info_.takes_missing = plan_.takes_missing || options.takes_missing;
    try {
      session_ = make_session(environment_,
                              plan_.rewrite ? with_only_output(bytes, plan_.output, path) : bytes, path);
      read_output();
      set_batch();
    } catch (const Ort::Exception& error) {
      throw Error(ErrorCode::input, fmt::format("model {} cannot be loaded by ONNX Runtime {}: {}", path,
                                                OrtGetApiBase()->GetVersionString(), message_of(error)));
    }
    if (!tail_known()) ask_shape();
    std::int64_t outputs = 1;
    for (const std::int64_t dimension : tail_) {
      if (dimension > kMostOutputs / outputs) refuse_shape(tail_);
      outputs *= dimension;
    }
    info_.outputs = static_cast<std::size_t>(outputs);
    if (info_.outputs == 1) info_.binary = options.binary;
    if (plan_.classes.size() == info_.outputs) info_.classes = plan_.classes;
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    try {
      plan_.scalar == Scalar::float32 ? evaluate_as(x.as<float>(), y) : evaluate_as(x.as<double>(), y);
    } catch (const Ort::Exception& error) {
      throw Error(ErrorCode::model, fmt::format("model {} failed: {}", info_.name, message_of(error)));
    }
  }

 private:
  // Type and shape of the output, as far as the graph tells.
  void read_output() {
    for (std::size_t i = 0; i < session_.GetOutputCount(); ++i) {
      if (session_.GetOutputNameAllocated(i, Ort::AllocatorWithDefaultOptions()).get() != plan_.output)
        continue;
      const Ort::TypeInfo type = session_.GetOutputTypeInfo(i);
      if (type.GetONNXType() != ONNX_TYPE_TENSOR) {
        throw Error(ErrorCode::input, fmt::format("model {}: output {} is no tensor; expected one of numbers",
                                                  info_.name, in_quotes(plan_.output)));
      }
      const auto tensor = type.GetTensorTypeAndShapeInfo();
      type_ = static_cast<OnnxType>(tensor.GetElementType());
      switch (type_) {
        case OnnxType::float32:
        case OnnxType::float64:
        case OnnxType::int32:
        case OnnxType::int64:
        case OnnxType::boolean:
          break;
        default:
          throw Error(ErrorCode::input,
                      fmt::format("model {}: output {} holds {}; expected numbers", info_.name,
                                  in_quotes(plan_.output), onnx_type_name(type_)));
      }
      // A shape that is not known looks like that of a single number.
      const std::vector<std::int64_t> shape = tensor.GetShape();
      if (!shape.empty() && shape.front() > 0 && shape.front() != plan_.shape.front()) refuse_shape(shape);
      if (!shape.empty()) tail_.assign(shape.begin() + 1, shape.end());
      shape_known_ = !shape.empty();
      return;
    }
    throw Error(ErrorCode::input,
                fmt::format("model {} has lost its output {}", info_.name, in_quotes(plan_.output)));
  }

  [[noreturn]] void refuse_shape(const std::vector<std::int64_t>& shape) const {
    throw Error(ErrorCode::input,
                fmt::format("model {}: output {} has the shape [{}]; expected as many rows as the input has",
                            info_.name, in_quotes(plan_.output), fmt::join(shape, ", ")));
  }

  void set_batch() {
    fixed_batch_ = plan_.shape.front() > 0 ? static_cast<std::size_t>(plan_.shape.front()) : 0;
    // What an image network has between two layers is many times its input.
    const std::size_t rows = plan_.shape.size() > 2
                                 ? std::clamp<std::size_t>(kBatchPixels / plan_.width, 1, kBatchRows)
                                 : kBatchRows;
    info_.preferred_batch =
        fixed_batch_ == 0 ? rows : std::max<std::size_t>(1, rows / fixed_batch_) * fixed_batch_;
  }

  bool tail_known() const {
    return shape_known_ && std::all_of(tail_.begin(), tail_.end(), [](std::int64_t dim) { return dim > 0; });
  }

  // Runs a row of zeros, to see what comes back.
  void ask_shape() {
    const std::size_t rows = std::max<std::size_t>(1, fixed_batch_);
    std::vector<std::int64_t> shape;
    try {
      shape = plan_.scalar == Scalar::float32 ? shape_of_answer<float>(rows) : shape_of_answer<double>(rows);
    } catch (const Ort::Exception& error) {
      throw Error(ErrorCode::model,
                  fmt::format("model {} failed on a row of zeros: {}", info_.name, message_of(error)));
    }
    if (shape.empty() || shape.front() != static_cast<std::int64_t>(rows) ||
        std::find(shape.begin(), shape.end(), 0) != shape.end()) {
      refuse_shape(shape);
    }
    tail_.assign(shape.begin() + 1, shape.end());
    info_.example_rows = rows;
  }

  template <class T>
  std::vector<std::int64_t> shape_of_answer(std::size_t rows) const {
    const std::vector<T> zeros(rows * plan_.width);
    const Ort::Value in = input_tensor(zeros.data(), rows);
    const std::array inputs{plan_.input.c_str()};
    const std::array outputs{plan_.output.c_str()};
    const auto out =
        const_cast<Ort::Session&>(session_).Run(Ort::RunOptions(), inputs.data(), &in, 1, outputs.data(), 1);
    return out.front().GetTensorTypeAndShapeInfo().GetShape();
  }

  template <class T>
  void evaluate_as(MatrixView<const T> x, MutableRowsView y) const {
    if (fixed_batch_ == 0) {
      call(x.data, x.rows, y.data, x.rows);
      return;
    }
    thread_local std::vector<T> filled;
    for (std::size_t i = 0; i < x.rows; i += fixed_batch_) {
      const std::size_t rows = std::min(fixed_batch_, x.rows - i);
      const T* data = x.row(i);
      if (rows < fixed_batch_) {
        filled.assign(data, data + rows * x.columns);
        for (std::size_t j = rows; j < fixed_batch_; ++j) {
          filled.insert(filled.end(), x.row(x.rows - 1), x.row(x.rows - 1) + x.columns);
        }
        data = filled.data();
      }
      call(data, fixed_batch_, y.row(i), rows);
    }
  }

  // Runs `rows` rows and keeps the first `wanted` answers.
  template <class T>
  void call(const T* x, std::size_t rows, double* y, std::size_t wanted) const {
    const Ort::Value in = input_tensor(x, rows);
    switch (type_) {
      case OnnxType::float64:
        if (wanted == rows) return run(in, y, rows);
        return run_and_copy<double>(in, rows, y, wanted);
      case OnnxType::float32:
        return run_and_copy<float>(in, rows, y, wanted);
      case OnnxType::int32:
        return run_and_copy<std::int32_t>(in, rows, y, wanted);
      case OnnxType::int64:
        return run_and_copy<std::int64_t>(in, rows, y, wanted);
      default:
        return run_and_copy<bool>(in, rows, y, wanted);
    }
  }

  template <class T>
  Ort::Value input_tensor(const T* x, std::size_t rows) const {
    std::vector<std::int64_t> shape = plan_.shape;
    shape.front() = static_cast<std::int64_t>(rows);
    // The runtime does not write to its inputs; its interface has no word for that.
    return Ort::Value::CreateTensor<T>(memory_, const_cast<T*>(x), rows * plan_.width, shape.data(),
                                       shape.size());
  }

  template <class T>
  void run_and_copy(const Ort::Value& in, std::size_t rows, double* y, std::size_t wanted) const {
    // Kept from call to call; an array, because a vector of bool has no elements.
    thread_local std::unique_ptr<T[]> answers;
    thread_local std::size_t capacity = 0;
    if (const std::size_t size = rows * info_.outputs; capacity < size) {
      answers = std::make_unique<T[]>(size);
      capacity = size;
    }
    run(in, answers.get(), rows);
    std::transform(answers.get(), answers.get() + wanted * info_.outputs, y,
                   [](T answer) { return static_cast<double>(answer); });
  }

  template <class T>
  void run(const Ort::Value& in, T* answers, std::size_t rows) const {
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows)};
    shape.insert(shape.end(), tail_.begin(), tail_.end());
    Ort::Value out =
        Ort::Value::CreateTensor<T>(memory_, answers, rows * info_.outputs, shape.data(), shape.size());
    const std::array inputs{plan_.input.c_str()};
    const std::array outputs{plan_.output.c_str()};
    // Run() may be called from many threads at once, and is not marked const.
    const_cast<Ort::Session&>(session_).Run(options_, inputs.data(), &in, 1, outputs.data(), &out, 1);
  }

  ModelInfo info_;
  OnnxPlan plan_;
  OnnxType type_ = OnnxType::undefined;
  std::vector<std::int64_t> tail_;  // of the output's shape, after the rows
  bool shape_known_ = false;
  std::size_t fixed_batch_ = 0;  // 0: any
  Ort::Env environment_{ORT_LOGGING_LEVEL_FATAL, "harmonia", no_log, nullptr};
  Ort::Session session_{nullptr};
  Ort::RunOptions options_;
  Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
};

}  // namespace

std::unique_ptr<Model> open_onnx_model(const std::string& path, const ModelOptions& options,
                                       std::span<const double> example) {
  check_version(path);
  return std::make_unique<OnnxModel>(path, options, example);
}

}  // namespace harmonia
