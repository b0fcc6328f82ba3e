#include "onnx_session.hpp"

#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include <array>
#include <filesystem>
#include <numeric>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

// ONNX Runtime's log goes nowhere: what matters of it comes back as errors.
void ORT_API_CALL no_log(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

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

std::size_t bytes_of(OnnxType type) {
  switch (type) {
    case OnnxType::float64:
    case OnnxType::int64:
      return 8;
    case OnnxType::boolean:
      return 1;
    default:
      return 4;
  }
}

Ort::Value tensor(const Ort::MemoryInfo& memory, const OnnxNumbers& numbers) {
  const auto count = static_cast<std::size_t>(
      std::accumulate(numbers.shape.begin(), numbers.shape.end(), std::int64_t{1}, std::multiplies<>()));
  return Ort::Value::CreateTensor(memory, numbers.data, count * bytes_of(numbers.type), numbers.shape.data(),
                                  numbers.shape.size(), static_cast<ONNXTensorElementDataType>(numbers.type));
}

}  // namespace

// Before anything else of the runtime: with headers newer than the library there is nothing to call.
void require_onnx_runtime(const std::string& what) {
  const OrtApiBase& base = *OrtGetApiBase();
  if (base.GetApi(ORT_API_VERSION) != nullptr) return;
  throw Error(ErrorCode::input,
              fmt::format("{}: the ONNX Runtime library found is version {}; expected 1.{} or newer, with "
                          "which harmonia was built",
                          what, base.GetVersionString(), ORT_API_VERSION));
}

struct OnnxSession::Runtime {
  Ort::Env environment{ORT_LOGGING_LEVEL_FATAL, "harmonia", no_log, nullptr};
  Ort::Session session{nullptr};
  Ort::RunOptions options;
  Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);

  // What Run() takes: names and tensors apart.
  struct Inputs {
    std::vector<const char*> names;
    std::vector<Ort::Value> tensors;
  };
  Inputs inputs_of(std::span<const OnnxNumbers> inputs) const {
    Inputs parts;
    for (const OnnxNumbers& input : inputs) {
      parts.names.push_back(input.name.c_str());
      parts.tensors.push_back(tensor(memory, input));
    }
    return parts;
  }
};

OnnxSession::OnnxSession(const std::string& bytes, const std::string& file)
    : file_(file), runtime_(std::make_unique<Runtime>()) {
  try {
    runtime_->session = make_session(runtime_->environment, bytes, file);
  } catch (const Ort::Exception& error) {
    throw Error(ErrorCode::input, fmt::format("model {} cannot be loaded by ONNX Runtime {}: {}", file,
                                              OrtGetApiBase()->GetVersionString(), message_of(error)));
  }
}

OnnxSession::~OnnxSession() = default;

std::optional<OnnxValue> OnnxSession::output(const std::string& name) const {
  const Ort::Session& session = runtime_->session;
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    if (session.GetOutputNameAllocated(i, Ort::AllocatorWithDefaultOptions()).get() != name) continue;
    const Ort::TypeInfo type = session.GetOutputTypeInfo(i);
    OnnxValue value;
    value.kind = OnnxValue::Kind::other;
    if (type.GetONNXType() == ONNX_TYPE_TENSOR) {
      const auto info = type.GetTensorTypeAndShapeInfo();
      value.kind = OnnxValue::Kind::tensor;
      value.type = static_cast<OnnxType>(info.GetElementType());
      value.dims = info.GetShape();
    }
    return value;
  }
  return std::nullopt;
}

void OnnxSession::run(std::span<const OnnxNumbers> inputs, const OnnxNumbers& answer) const {
  try {
    const Runtime::Inputs in = runtime_->inputs_of(inputs);
    Ort::Value out = tensor(runtime_->memory, answer);
    const std::array outputs{answer.name.c_str()};
    runtime_->session.Run(runtime_->options, in.names.data(), in.tensors.data(), in.tensors.size(),
                          outputs.data(), &out, 1);
  } catch (const Ort::Exception& error) {
    throw Error(ErrorCode::model, fmt::format("model {} failed: {}", file_, message_of(error)));
  }
}

std::vector<std::int64_t> OnnxSession::answer_shape(std::span<const OnnxNumbers> inputs,
                                                    const std::string& output, const std::string& on) const {
  try {
    const Runtime::Inputs in = runtime_->inputs_of(inputs);
    const std::array outputs{output.c_str()};
    const auto out = runtime_->session.Run(runtime_->options, in.names.data(), in.tensors.data(),
                                           in.tensors.size(), outputs.data(), 1);
    return out.front().GetTensorTypeAndShapeInfo().GetShape();
  } catch (const Ort::Exception& error) {
    throw Error(ErrorCode::model, fmt::format("model {} failed {}: {}", file_, on, message_of(error)));
  }
}

}  // namespace harmonia
