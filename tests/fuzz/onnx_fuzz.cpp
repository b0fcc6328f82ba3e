// The ONNX graph reader, what is decided from the graph, the file cut down to one output, its trees, its
// dense network, and its first layer with the file that begins behind it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../src/model/onnx_first_layer.hpp"
#include "../../src/model/onnx_graph.hpp"
#include "../../src/model/onnx_plan.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/model/dense_balls.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "read_trees.hpp"

namespace {

// A network that was read can be measured.
void ask_network(const harmonia::DenseNetwork& network) {
  constexpr std::size_t kMostInputs = 256;
  if (network.inputs() > kMostInputs) return;
  harmonia::BallOptions options = harmonia::parse_ball("simplex+anti");
  options.radius = 0.5;
  const harmonia::Ball ball(options, {}, 1);
  if (!harmonia::dense_refused(network, ball).empty()) return;
  const std::vector<double> x(network.inputs(), 0.25);
  const harmonia::RowBall around(ball, x, 0);
  const harmonia::DenseBalls balls(network, ball);
  if (!balls.takes(around)) __builtin_trap();
  std::vector<double> centre(network.outputs()), sum(network.outputs());
  const harmonia::RowBall* const row = &around;
  balls.sums({&row, 1}, {centre.data(), 1, centre.size()}, {sum.data(), 1, sum.size()});
}

// What is written of the rest can be read again: it takes the units, and gives the same output.
void cut_first_layer(const std::string& bytes, const harmonia::OnnxGraph& graph,
                     const harmonia::OnnxPlan& plan, const std::string& name) {
  const auto found = harmonia::find_onnx_first_layer(graph, plan);
  if (!found.layer) return;
  const std::string rest = harmonia::onnx_rest(bytes, plan, *found.layer, name);
  const harmonia::OnnxGraph cut = harmonia::read_onnx_graph(rest, name);
  if (cut.inputs.size() != 1 || cut.inputs.front().name != found.layer->value) __builtin_trap();
  if (cut.outputs.size() != 1 || cut.outputs.front().name != plan.output) __builtin_trap();
  if (found.layer->weights.size() != found.layer->units * plan.width) __builtin_trap();
}

}  // namespace

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
    cut_first_layer(bytes, graph, plan, name);
  } catch (const harmonia::Error&) {
  }
  if (const auto trees = harmonia::read_onnx_trees(bytes, name)) harmonia::fuzz::ask_trees(*trees);
  if (const auto network = harmonia::read_onnx_dense(bytes, name, {}, example)) ask_network(*network);
  return 0;
}
