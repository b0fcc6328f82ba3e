#pragma once

#include <string>
#include <vector>

#include "harmonia/model/dense_network.hpp"
#include "onnx_bytes.hpp"

namespace harmonia::test {

/// The network as an ONNX file: Gemm and an activation, again and again.
template <class T>
std::string dense_file(const harmonia::DenseNetwork& network, const std::string& activation) {
  using namespace onnx;
  std::string graph, from = "x";
  const std::uint64_t type = sizeof(T) == sizeof(float) ? 1 : 11;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const DenseLayer& layer = network.layers[l];
    const std::string number = std::to_string(l), sums = l + 1 < network.layers.size() ? "z" + number : "y";
    graph += node("Gemm", {from, "w" + number, "b" + number}, sums, integer_attribute("transB", 1));
    if (sums != "y") graph += node(activation, {sums}, from = "a" + number);
    graph += tensor("w" + number, {layer.outputs, layer.inputs},
                    std::vector<T>(layer.weights.begin(), layer.weights.end()));
    graph += tensor("b" + number, {layer.outputs}, std::vector<T>(layer.bias.begin(), layer.bias.end()));
  }
  return model(graph + value(11, "x", {network.inputs()}, type) + value(12, "y", {network.outputs()}, type));
}

}  // namespace harmonia::test
