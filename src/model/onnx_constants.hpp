#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_graph.hpp"

namespace harmonia {

/// The constants of a graph, by the names of their values. The graph has to outlive it.
class OnnxConstants {
 public:
  explicit OnnxConstants(const OnnxGraph& graph);

  /// An initializer or a Constant, or a copy of one; null: it is something else.
  const OnnxTensor* find(std::string_view value) const;
  /// The elements of one; nothing if it is none, or not of numbers.
  std::optional<std::vector<double>> numbers(std::string_view value) const;
  /// The only element of one.
  std::optional<double> number(std::string_view value) const;

 private:
  const OnnxGraph& graph_;
  std::unordered_map<std::string_view, const OnnxTensor*> initializers_;
};

/// Whether an operator is ONNX's own, not one of another domain by the same name.
inline bool onnx_own(const OnnxNode& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

}  // namespace harmonia
