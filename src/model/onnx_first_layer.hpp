#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx_plan.hpp"

namespace harmonia {

/// The first layer of a graph, W·x + b, and where the rest of the graph begins.
struct OnnxFirstLayer {
  std::size_t inputs = 0, units = 0;
  std::vector<double> weights;  ///< units × inputs
  std::vector<double> bias;     ///< one a unit
  std::string value;            ///< that holds the units; nothing else of the input is heard behind it
};

/// The layer, or why there is none.
struct OnnxFirstLayerFound {
  std::optional<OnnxFirstLayer> layer;
  std::string why;
};

/// Looks for a Gemm or MatMul of the flat row by constants through which all of the plan's output hears of
/// the input. Scalers, normalisations and choices of columns before it are part of its weights, and so is
/// what is added to its sums or multiplies them. None where the layer is a small part of the graph.
OnnxFirstLayerFound find_onnx_first_layer(const OnnxGraph& graph, const OnnxPlan& plan);

/// The file from the layer's units on: they are its only input, the plan's output is its only output, and
/// nodes and constants that it does not take to get there are left out.
std::string onnx_rest(std::string_view bytes, const OnnxPlan& plan, const OnnxFirstLayer& layer,
                      const std::string& file);

}  // namespace harmonia
