#include "onnx_constants.hpp"

#include "onnx_plan.hpp"

namespace harmonia {

OnnxConstants::OnnxConstants(const OnnxGraph& graph) : graph_(graph) {
  for (const OnnxTensor& tensor : graph.initializers) initializers_.emplace(tensor.name, &tensor);
}

const OnnxTensor* OnnxConstants::find(std::string_view value) const {
  value = onnx_origin(graph_, value);
  if (const auto found = initializers_.find(value); found != initializers_.end()) return found->second;
  const OnnxNode* node = graph_.maker(value);
  if (node == nullptr || node->operation != "Constant") return nullptr;
  const auto& tensor = node->attribute("value").tensor;
  return tensor ? &*tensor : nullptr;
}

std::optional<std::vector<double>> OnnxConstants::numbers(std::string_view value) const {
  const OnnxTensor* tensor = find(value);
  return tensor == nullptr ? std::nullopt : tensor_numbers(*tensor);
}

std::optional<double> OnnxConstants::number(std::string_view value) const {
  const auto all = numbers(value);
  return all && all->size() == 1 ? std::optional(all->front()) : std::nullopt;
}

}  // namespace harmonia
