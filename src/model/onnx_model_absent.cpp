// In place of onnx_model.cpp where ONNX Runtime was not found when Harmonia was built.
#include <fmt/format.h>

#include "harmonia/core/error.hpp"
#include "harmonia/model/onnx_model.hpp"

namespace harmonia {

std::unique_ptr<Model> open_onnx_model(const std::string& path, const ModelOptions&,
                                       std::span<const double>) {
  throw Error(
      ErrorCode::usage,
      fmt::format("model {} needs ONNX Runtime, which harmonia was built without; 'scripts/setup.sh build' "
                  "installs it, 'make build' builds again with it",
                  path));
}

}  // namespace harmonia
