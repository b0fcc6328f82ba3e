#include "harmonia/model/onnx_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "dense_path.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "model_file.hpp"
#include "onnx_plan.hpp"
#include "onnx_session.hpp"

namespace harmonia {
namespace {

constexpr std::int64_t kMostOutputs = std::int64_t{1} << 31;  // numbers a row

// Rows a call: enough that a call's own cost and the reading of the weights do not show, few enough that
// what lies between two layers stays in the cache.
constexpr std::size_t kBatchRows = 512;
constexpr std::size_t kBatchPixels = std::size_t{1} << 17U;  // and of images, this many values a call

template <class T>
constexpr OnnxType kType = OnnxType::undefined;
template <>
constexpr OnnxType kType<float> = OnnxType::float32;
template <>
constexpr OnnxType kType<double> = OnnxType::float64;
template <>
constexpr OnnxType kType<std::int32_t> = OnnxType::int32;
template <>
constexpr OnnxType kType<std::int64_t> = OnnxType::int64;
template <>
constexpr OnnxType kType<bool> = OnnxType::boolean;

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
    session_.emplace(plan_.rewrite ? with_only_output(bytes, plan_.output, path) : bytes, path);
    read_output();
    set_batch();
    if (!tail_known()) ask_shape();
    std::int64_t outputs = 1;
    for (const std::int64_t dimension : tail_) {
      if (dimension > kMostOutputs / outputs) refuse_shape(tail_);
      outputs *= dimension;
    }
    info_.outputs = static_cast<std::size_t>(outputs);
    if (info_.outputs == 1) info_.binary = options.binary;
    if (plan_.classes.size() == info_.outputs) info_.classes = plan_.classes;
    if (options.fast_path) find_dense(bytes, options, example);
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    plan_.scalar == Scalar::float32 ? evaluate_as(x.as<float>(), y) : evaluate_as(x.as<double>(), y);
  }

  const BallPath* ball_path() const override { return dense_ ? &*dense_ : nullptr; }

 private:
  void find_dense(const std::string& bytes, const ModelOptions& options, std::span<const double> example) {
    auto network = read_onnx_dense(bytes, info_.name, options, example);
    if (!network || network->inputs() != info_.inputs || network->outputs() != info_.outputs) return;
    dense_.emplace(std::move(*network));
  }

  // Type and shape of the output, as far as the graph tells.
  void read_output() {
    const std::optional<OnnxValue> output = session_->output(plan_.output);
    if (!output) {
      throw Error(ErrorCode::input,
                  fmt::format("model {} has lost its output {}", info_.name, in_quotes(plan_.output)));
    }
    if (output->kind != OnnxValue::Kind::tensor) {
      throw Error(ErrorCode::input, fmt::format("model {}: output {} is no tensor; expected one of numbers",
                                                info_.name, in_quotes(plan_.output)));
    }
    type_ = output->type;
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
    const std::vector<std::int64_t>& shape = *output->dims;
    if (!shape.empty() && shape.front() > 0 && shape.front() != plan_.shape.front()) refuse_shape(shape);
    if (!shape.empty()) tail_.assign(shape.begin() + 1, shape.end());
    shape_known_ = !shape.empty();
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
    const std::vector<std::int64_t> shape =
        plan_.scalar == Scalar::float32 ? shape_of_answer<float>(rows) : shape_of_answer<double>(rows);
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
    const std::vector<std::int64_t> shape = input_shape(rows);
    return session_->answer_shape(std::array{input(zeros.data(), shape)}, plan_.output, "on a row of zeros");
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
    const std::vector<std::int64_t> shape = input_shape(rows);
    const OnnxNumbers in = input(x, shape);
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

  std::vector<std::int64_t> input_shape(std::size_t rows) const {
    std::vector<std::int64_t> shape = plan_.shape;
    shape.front() = static_cast<std::int64_t>(rows);
    return shape;
  }

  template <class T>
  OnnxNumbers input(const T* x, const std::vector<std::int64_t>& shape) const {
    return {plan_.input, kType<T>, const_cast<T*>(x), shape};
  }

  template <class T>
  void run_and_copy(const OnnxNumbers& in, std::size_t rows, double* y, std::size_t wanted) const {
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
  void run(const OnnxNumbers& in, T* answers, std::size_t rows) const {
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows)};
    shape.insert(shape.end(), tail_.begin(), tail_.end());
    session_->run({&in, 1}, {plan_.output, kType<T>, answers, shape});
  }

  ModelInfo info_;
  std::optional<DensePath> dense_;
  OnnxPlan plan_;
  OnnxType type_ = OnnxType::undefined;
  std::vector<std::int64_t> tail_;  // of the output's shape, after the rows
  bool shape_known_ = false;
  std::size_t fixed_batch_ = 0;  // 0: any
  std::optional<OnnxSession> session_;
};

}  // namespace

std::unique_ptr<Model> open_onnx_model(const std::string& path, const ModelOptions& options,
                                       std::span<const double> example) {
  require_onnx_runtime("model " + path);
  return std::make_unique<OnnxModel>(path, options, example);
}

}  // namespace harmonia
