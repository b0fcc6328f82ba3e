#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/core/error.hpp"
#include "harmonia/model/dense_network.hpp"
#include "onnx_graph.hpp"
#include "onnx_plan.hpp"

namespace harmonia {
namespace {

// What is here and is no chain of dense layers: ONNX Runtime has to run it.
struct NotOurs {};

void require(bool condition) {
  if (!condition) throw NotOurs{};
}

// Walks from the output back to the input. A layer is made of what lies behind it: its activation is met
// first, then its bias, then its weights.
class DenseReader {
 public:
  DenseReader(const OnnxGraph& graph, const OnnxPlan& plan) : graph_(graph), plan_(plan) {
    for (const OnnxTensor& tensor : graph.initializers) constants_.emplace(tensor.name, &tensor);
  }

  DenseNetwork read() {
    std::string_view value = plan_.output;
    // As many steps as there are nodes at most: a damaged graph may go round in a circle.
    for (std::size_t steps = 0; value != plan_.input; ++steps) {
      const OnnxNode* node = graph_.maker(value);
      require(node != nullptr && steps < graph_.nodes.size() && !node->outputs.empty());
      require(node->domain.empty() || node->domain == "ai.onnx");
      require(node->outputs.front() == value && !node->inputs.empty());
      value = step(*node);
    }
    require(!open_ && !layers_.empty() && (plan_.shape.size() == 2 || flat_));
    require(plan_.width == layers_.back().inputs && fits(plan_.width));
    std::reverse(layers_.begin(), layers_.end());
    require(layers_.back().activation.kind == DenseActivation::Kind::identity);
    return {std::move(layers_), link_};
  }

 private:
  // Takes in what the node does; the value to go on from.
  std::string_view step(const OnnxNode& node) {
    const std::string_view operation = node.operation;
    if (operation == "Identity") return node.inputs.front();
    if (operation == "Dropout") return dropout(node);
    if (operation == "Cast") return cast(node);
    if (operation == "Flatten" || operation == "Reshape") return flatten(node);
    if (operation == "Softmax" || (operation == "Sigmoid" && layers_.empty() && !open_))
      return set_link(node);
    if (operation == "Gemm") return gemm(node);
    if (operation == "MatMul") return product(node);
    if (operation == "Add") return add(node);
    return activate(node);
  }

  // Outside training it does nothing.
  static std::string_view dropout(const OnnxNode& node) {
    require(node.inputs.size() < 3 || node.inputs[2].empty());
    return node.inputs.front();
  }

  // A cast to float is what the weights behind it ask for, or follows them; what follows the last layer
  // may be one to double.
  std::string_view cast(const OnnxNode& node) const {
    const std::int64_t to = node.attribute("to").integer.value_or(0);
    require(to == static_cast<std::int64_t>(OnnxType::float32) ||
            (to == static_cast<std::int64_t>(OnnxType::float64) && layers_.empty() && !open_));
    return node.inputs.front();
  }

  // Rows stay rows.
  std::string_view flatten(const OnnxNode& node) {
    if (node.operation == "Flatten") {
      require(node.attribute("axis").integer.value_or(1) == 1 && node.inputs.size() == 1);
    } else {
      require(node.inputs.size() == 2);
      const std::vector<double> shape = numbers(constant(node.inputs[1]));
      const auto batch = static_cast<double>(plan_.shape.front());
      require(shape.size() == 2 && node.attribute("allowzero").integer.value_or(0) == 0);
      require(shape[0] == 0 || (batch > 0 && shape[0] == batch) || (shape[0] == -1 && shape[1] > 0));
      require(shape[1] == -1 || (shape[1] > 0 && (width_ == 0 || width_ == shape[1])));
      if (shape[1] > 0) width_ = shape[1];
    }
    flat_ = true;
    return node.inputs.front();
  }

  std::string_view set_link(const OnnxNode& node) {
    require(node.inputs.size() == 1 && layers_.empty() && !open_ && link_ == DenseLink::identity);
    if (node.operation == "Softmax") {
      const std::int64_t axis = node.attribute("axis").integer.value_or(-1);
      require(axis == 1 || axis == -1);
    }
    link_ = node.operation == "Softmax" ? DenseLink::softmax : DenseLink::sigmoid;
    return node.inputs.front();
  }

  std::string_view gemm(const OnnxNode& node) {
    require(node.inputs.size() == 2 || node.inputs.size() == 3);
    require(node.attribute("alpha").real.value_or(1) == 1 && node.attribute("beta").real.value_or(1) == 1 &&
            node.attribute("transA").integer.value_or(0) == 0);
    begin();
    if (node.inputs.size() == 3 && !node.inputs[2].empty()) set_bias(constant(node.inputs[2]));
    set_weights(constant(node.inputs[1]), node.attribute("transB").integer.value_or(0) != 0);
    return node.inputs.front();
  }

  std::string_view product(const OnnxNode& node) {
    require(node.inputs.size() == 2);
    begin();
    set_weights(constant(node.inputs[1]), false);
    return node.inputs.front();
  }

  // The bias of the product that has to come next.
  std::string_view add(const OnnxNode& node) {
    require(node.inputs.size() == 2);
    const std::size_t which = find_constant(node.inputs[1]) != nullptr ? 1 : 0;
    begin();
    require(bias_.empty());
    set_bias(constant(node.inputs[which]));
    return node.inputs[1 - which];
  }

  std::string_view activate(const OnnxNode& node) {
    begin();
    require(bias_.empty() && layer_.activation.kind == DenseActivation::Kind::identity);
    DenseActivation& activation = layer_.activation;
    const std::string_view operation = node.operation;
    using Kind = DenseActivation::Kind;
    if (operation == "Clip") {
      activation.kind = Kind::clip;
      activation.low = bound(node, "min", 1, -std::numeric_limits<float>::max());
      activation.high = bound(node, "max", 2, std::numeric_limits<float>::max());
      return node.inputs.front();
    }
    require(node.inputs.size() == 1);
    if (operation == "Relu" || operation == "LeakyRelu") {
      activation.kind = Kind::leaky;
      if (operation == "LeakyRelu")
        activation.slope =
            static_cast<float>(node.attribute("alpha").real.value_or(static_cast<double>(0.01F)));
    } else {
      require(operation == "Tanh" || operation == "Sigmoid");
      activation.kind = operation == "Tanh" ? Kind::tanh : Kind::sigmoid;
    }
    return node.inputs.front();
  }

  // An attribute up to version 6 of Clip, an input since.
  float bound(const OnnxNode& node, std::string_view name, std::size_t input, float none) const {
    if (const auto& real = node.attribute(name).real) return static_cast<float>(*real);
    if (node.inputs.size() <= input || node.inputs[input].empty()) return none;
    const std::vector<double> values = numbers(constant(node.inputs[input]));
    require(values.size() == 1);
    return static_cast<float>(values.front());
  }

  // Whether this is the width that a Reshape behind it asks for.
  bool fits(std::size_t width) {
    const bool right = width_ == 0 || width_ == static_cast<double>(width);
    width_ = 0;
    return right;
  }

  // A layer is under way from here on.
  void begin() {
    open_ = true;
    flat_ = false;
  }

  void set_bias(const OnnxTensor& tensor) {
    require(bias_.empty() && tensor.type == OnnxType::float32);
    bias_ = numbers(tensor);
    require(!bias_.empty());
    // One for each unit: what leads is 1.
    for (std::size_t i = 0; i + 1 < tensor.dims.size(); ++i) require(tensor.dims[i] == 1);
    require(tensor.dims.size() <= 2);
  }

  void set_weights(const OnnxTensor& tensor, bool transposed) {
    require(tensor.type == OnnxType::float32 && tensor.dims.size() == 2);
    const std::vector<double> values = numbers(tensor);
    require(!values.empty());
    const auto rows = static_cast<std::size_t>(tensor.dims[0]),
               columns = static_cast<std::size_t>(tensor.dims[1]);
    layer_.inputs = transposed ? columns : rows;
    layer_.outputs = transposed ? rows : columns;
    require((layers_.empty() || layers_.back().inputs == layer_.outputs) && fits(layer_.outputs));
    require(bias_.empty() || bias_.size() == 1 || bias_.size() == layer_.outputs);
    layer_.weights.resize(values.size());
    for (std::size_t k = 0; k < layer_.outputs; ++k) {
      for (std::size_t i = 0; i < layer_.inputs; ++i)
        layer_.weights[k * layer_.inputs + i] =
            static_cast<float>(transposed ? values[k * columns + i] : values[i * columns + k]);
    }
    layer_.bias.resize(layer_.outputs);
    for (std::size_t k = 0; k < layer_.outputs; ++k)
      layer_.bias[k] = bias_.empty() ? 0.0F : static_cast<float>(bias_[bias_.size() == 1 ? 0 : k]);
    layers_.push_back(std::move(layer_));
    layer_ = {};
    bias_.clear();
    open_ = false;
  }

  // An initializer or a Constant, or a copy of one.
  const OnnxTensor* find_constant(std::string_view value) const {
    value = onnx_origin(graph_, value);
    if (const auto found = constants_.find(value); found != constants_.end()) return found->second;
    const OnnxNode* node = graph_.maker(value);
    if (node == nullptr || node->operation != "Constant") return nullptr;
    const auto& tensor = node->attribute("value").tensor;
    return tensor ? &*tensor : nullptr;
  }

  const OnnxTensor& constant(std::string_view value) const {
    const OnnxTensor* tensor = find_constant(value);
    require(tensor != nullptr);
    return *tensor;
  }

  static std::vector<double> numbers(const OnnxTensor& tensor) {
    auto values = tensor_numbers(tensor);
    require(values.has_value());
    return std::move(*values);
  }

  const OnnxGraph& graph_;
  const OnnxPlan& plan_;
  std::unordered_map<std::string_view, const OnnxTensor*> constants_;
  std::vector<DenseLayer> layers_;  // the last one first
  DenseLayer layer_;                // under way, if open_
  std::vector<double> bias_;
  DenseLink link_ = DenseLink::identity;
  bool open_ = false;
  double width_ = 0;   // that a Reshape asks for; 0: any
  bool flat_ = false;  // rows are flattened between here and the layer that was read last
};

}  // namespace

std::optional<DenseNetwork> read_onnx_dense(const std::string& bytes, const std::string& name,
                                            const ModelOptions& options, std::span<const double> example) {
  try {
    const OnnxGraph graph = read_onnx_graph(bytes, name);
    const OnnxPlan plan = plan_onnx(graph, options, example, name);
    DenseNetwork network = DenseReader(graph, plan).read();
    check_dense(network, name);
    return network;
  } catch (const NotOurs&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // opening it with ONNX Runtime says what is wrong
  }
}

}  // namespace harmonia
