// In place of onnx_session.cpp where ONNX Runtime was not found when Harmonia was built.
#include <fmt/format.h>

#include "harmonia/core/error.hpp"
#include "onnx_session.hpp"

namespace harmonia {

void require_onnx_runtime(const std::string& what) {
  throw Error(ErrorCode::usage,
              fmt::format("{} needs ONNX Runtime, which harmonia was built without; 'scripts/setup.sh build' "
                          "installs it, 'make build' builds again with it",
                          what));
}

// Nothing below is reached.
struct OnnxSession::Runtime {};

OnnxSession::OnnxSession(const std::string&, const std::string& file) {
  require_onnx_runtime("model " + file);
}

OnnxSession::~OnnxSession() = default;

std::optional<OnnxValue> OnnxSession::output(const std::string&) const { return std::nullopt; }

void OnnxSession::run(std::span<const OnnxNumbers>, const OnnxNumbers&) const {}

std::vector<std::int64_t> OnnxSession::answer_shape(std::span<const OnnxNumbers>, const std::string&,
                                                    const std::string&) const {
  return {};
}

}  // namespace harmonia
