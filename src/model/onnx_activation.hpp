#pragma once

#include <optional>
#include <string_view>

#include "harmonia/model/dense_network.hpp"
#include "onnx_constants.hpp"

namespace harmonia {

/// What a node makes of every number of a value: scale · activation(inner_scale · z + inner_shift).
struct OnnxActivation {
  std::string_view input;
  DenseActivation activation;
  double inner_scale = 1, inner_shift = 0, scale = 1;
};

/// The activation that a node is, or that it and some before it are together; nothing if it is none that we
/// know.
std::optional<OnnxActivation> onnx_activation(const OnnxGraph& graph, const OnnxConstants& constants,
                                              const OnnxNode& node);

}  // namespace harmonia
