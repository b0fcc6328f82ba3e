#pragma once

#include <memory>
#include <string>

#include "harmonia/model/first_layer.hpp"
#include "onnx_caller.hpp"
#include "onnx_first_layer.hpp"

namespace harmonia {

/// The first layer of an ONNX file, and ONNX Runtime on the rest of it; null if the runtime does not load
/// that, or it has another output than `whole`, the caller of the entire file.
std::unique_ptr<FirstLayer> open_onnx_first_layer(const std::string& bytes, const OnnxPlan& plan,
                                                  OnnxFirstLayer layer, const OnnxCaller& whole,
                                                  const std::string& file);

}  // namespace harmonia
