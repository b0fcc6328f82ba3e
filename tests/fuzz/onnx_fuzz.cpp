// The ONNX graph reader, what is decided from the graph, the file cut down to one output, and its trees.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../src/model/onnx_graph.hpp"
#include "../../src/model/onnx_plan.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "read_trees.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size), name = "fuzz.onnx";
  const std::vector<double> example(3);
  try {
    const harmonia::OnnxGraph graph = harmonia::read_onnx_graph(bytes, name);
    for (const harmonia::OnnxTensor& tensor : graph.initializers) harmonia::tensor_numbers(tensor);
    const harmonia::OnnxPlan plan = harmonia::plan_onnx(graph, {}, example, name);
    const std::string cut = harmonia::with_only_output(bytes, plan.output, name);
    // What we write can be read again, and has that one output.
    if (harmonia::read_onnx_graph(cut, name).outputs.size() != 1) __builtin_trap();
  } catch (const harmonia::Error&) {
  }
  if (const auto trees = harmonia::read_onnx_trees(bytes, name)) harmonia::fuzz::ask_trees(*trees);
  return 0;
}
