#include "../../src/model/onnx_graph.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "../../src/model/onnx_plan.hpp"
#include "../../src/model/wire_format.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

const std::string kName = "test.onnx";

std::string bytes_of(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string operation(const std::string& name, const std::string& input, const std::string& output,
                      const std::string& attributes = "") {
  return wire_text(1, wire_text(1, input) + wire_text(2, output) + wire_text(4, name) + attributes);
}

// A tensor of floats: rows × width, rows free.
std::string value(std::uint32_t field, const std::string& name, std::uint64_t width) {
  const std::string shape = wire_text(1, wire_text(2, "N")) + wire_text(1, wire_integer(1, width));
  return wire_text(field,
                   wire_text(1, name) + wire_text(2, wire_text(1, wire_integer(1, 1) + wire_text(2, shape))));
}

std::string model(const std::string& graph) { return wire_integer(1, 8) + wire_text(7, graph); }

std::string softmax_network() {
  const std::string weights =
      wire_text(5, wire_integer(1, 3) + wire_integer(1, 2) + wire_integer(2, 1) + wire_text(8, "w") +
                       wire_text(9, bytes_of({1, 2, 3, 4, 5, 6})));
  return model(operation("MatMul", "x", "h") + operation("Softmax", "h", "y") + weights + value(11, "x", 3) +
               value(12, "y", 2));
}

TEST(OnnxGraph, IsReadAsItIsWritten) {
  const std::string bytes = softmax_network();
  EXPECT_TRUE(looks_like_onnx(bytes));
  const OnnxGraph graph = read_onnx_graph(bytes, kName);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[1].operation, "Softmax");
  EXPECT_EQ(graph.maker("y"), &graph.nodes[1]);
  EXPECT_EQ(graph.maker("x"), nullptr);
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].type, OnnxType::float32);
  EXPECT_EQ(graph.inputs[0].dims, (std::vector<std::int64_t>{-1, 3}));
  ASSERT_EQ(graph.initializers.size(), 1U);
  EXPECT_EQ(tensor_numbers(graph.initializers[0]), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(OnnxGraph, NumbersAreAsManyAsTheShapeSays) {
  OnnxTensor tensor;
  tensor.type = OnnxType::float32;
  const std::string six = bytes_of({1, 2, 3, 4, 5, 6});
  tensor.raw = six;
  for (const auto& [dims, right] : std::vector<std::pair<std::vector<std::int64_t>, bool>>{{{6}, true},
                                                                                           {{2, 3}, true},
                                                                                           {{}, false},
                                                                                           {{5}, false},
                                                                                           {{12}, false},
                                                                                           {{0}, false},
                                                                                           {{-6}, false}}) {
    tensor.dims = dims;
    EXPECT_EQ(tensor_numbers(tensor).has_value(), right) << dims.size();
  }
}

TEST(OnnxGraph, IsCutDownToOneOutput) {
  const std::string bytes = softmax_network();
  const std::string cut = with_only_output(bytes, "h", kName);
  const OnnxGraph graph = read_onnx_graph(cut, kName);
  ASSERT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(graph.outputs[0].name, "h");
  EXPECT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.inputs.size(), 1U);
}

TEST(OnnxGraph, TheMarginIsWhatGoesIntoTheSoftmax) {
  const std::string bytes = softmax_network();
  const OnnxGraph graph = read_onnx_graph(bytes, kName);
  ModelOptions options;
  EXPECT_EQ(plan_onnx(graph, options, {}, kName).output, "y");
  options.margin = true;
  const OnnxPlan plan = plan_onnx(graph, options, {}, kName);
  EXPECT_EQ(plan.output, "h");
  EXPECT_TRUE(plan.rewrite);
  EXPECT_EQ(plan.width, 3U);
  EXPECT_FALSE(plan.takes_missing);
}

TEST(OnnxGraph, EveryCutIsNoticedOrHarmless) {
  const std::string bytes = softmax_network();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string part = bytes.substr(0, length);
    EXPECT_THROW(read_onnx_graph(part, kName), Error) << length;
    EXPECT_FALSE(read_onnx_trees(part, kName)) << length;
  }
}

TEST(OnnxGraph, SaysWhatIsWrong) {
  test::expect_error(ErrorCode::input, "model test.onnx has no graph; expected an ONNX file",
                     [] { read_onnx_graph("\x08\x08", kName); });
  test::expect_error(ErrorCode::input,
                     "model test.onnx is not a whole ONNX file: a number is longer than 64 bits",
                     [] { read_onnx_graph(std::string(11, '\xff'), kName); });
}

// Casts that go round in a circle lead nowhere, and end.
TEST(OnnxGraph, CirclesEnd) {
  const std::string bytes = model(operation("Identity", "a", "b") + operation("Identity", "b", "a") +
                                  operation("Relu", "x", "y") + value(11, "x", 3) + value(12, "a", 2));
  EXPECT_FALSE(read_onnx_trees(bytes, kName));
}

}  // namespace
}  // namespace harmonia
