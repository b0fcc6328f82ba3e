#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harmonia/model/open_model.hpp"
#include "onnx_graph.hpp"

namespace harmonia {

/// What is asked of an ONNX graph, and how.
struct OnnxPlan {
  std::string input, output;        ///< names of values
  Scalar scalar = Scalar::float32;  ///< of the input
  std::vector<std::int64_t> shape;  ///< of the input; shape[0], the batch, is −1 if it is free
  std::size_t width = 0;            ///< features: the product of the rest
  bool rewrite = false;             ///< the graph has to be cut down to the output first
  bool takes_missing = false;       ///< only trees and imputers see the features, which know NaN
  std::vector<std::string> classes;
};

/// Decides what to ask of a graph. Throws Error(input) for a graph that has no single input of real numbers,
/// Error(usage) for an output that is not there.
OnnxPlan plan_onnx(const OnnxGraph& graph, const ModelOptions& options, std::span<const double> example,
                   const std::string& file);

/// The value that this one is a copy of, through Identity and casts between float and double.
std::string_view onnx_origin(const OnnxGraph& graph, std::string_view value);

/// The class names that a node of ai.onnx.ml carries; empty if it carries none.
std::vector<std::string> onnx_class_names(const OnnxNode& node);

}  // namespace harmonia
