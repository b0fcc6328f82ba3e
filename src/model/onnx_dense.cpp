#include <algorithm>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/model/dense_network.hpp"
#include "onnx_activation.hpp"
#include "onnx_columns.hpp"

namespace harmonia {
namespace {

// Units of a layer that has one weight a unit, at most: an activation of the row itself, or of the outputs.
constexpr std::size_t kMostDiagonal = 512;

// What is here and is no chain of dense layers: ONNX Runtime has to run it.
struct NotOurs {};

void require(bool condition) {
  if (!condition) throw NotOurs{};
}

template <class T>
T required(std::optional<T> found) {
  require(found.has_value());
  return std::move(*found);
}

// Walks from the output back to the input. What was met since the last weights is what is done to the sums of
// the weights that come next: activation(affine(sums)).
class DenseReader {
 public:
  DenseReader(const OnnxGraph& graph, const OnnxPlan& plan) : graph_(graph), plan_(plan), constants_(graph) {}

  DenseNetwork read() {
    std::string_view value = plan_.output;
    std::optional<OnnxColumns> columns;
    // As many steps as there are nodes at most: a damaged graph may go round in a circle.
    for (std::size_t steps = 0; !columns; ++steps) {
      if (!layers_.empty() || activation_.kind != Kind::identity)
        columns = onnx_columns(graph_, plan_, constants_, value);
      if (columns) break;
      const OnnxNode* const node = graph_.maker(value);
      require(node != nullptr && steps < graph_.nodes.size() && !node->inputs.empty());
      // A classifier's first output is the label.
      const bool classifier = node->machine_learning() && node->operation == "LinearClassifier";
      require(node->outputs.size() > (classifier ? 1 : 0) && node->outputs[classifier ? 1 : 0] == value);
      value = step(*node);
    }
    end(*columns);
    std::reverse(layers_.begin(), layers_.end());
    if (two_classes_) add_first_class();
    require(!sums_to_one_ || link_ == DenseLink::softmax);
    return {std::move(layers_), link_, type_ == OnnxType::float64 ? Scalar::float64 : Scalar::float32};
  }

 private:
  using Kind = DenseActivation::Kind;

  // Nothing was met yet but what keeps the numbers.
  bool at_end() const {
    return layers_.empty() && !outputs_ && activation_.kind == Kind::identity && affine_.identity();
  }

  // Takes in what the node does; the value to go on from.
  std::string_view step(const OnnxNode& node) {
    const std::string_view operation = node.operation;
    if (onnx_own(node)) {
      if (operation == "Identity") return node.inputs.front();
      if (operation == "Dropout") return dropout(node);
      if (operation == "Cast") return cast(node);
      if (operation == "Flatten" || operation == "Reshape") return flatten(node);
      if (operation == "Concat") return join_classes(node);
      if (operation == "Softmax" || operation == "LogSoftmax" || (operation == "Sigmoid" && at_end()))
        return set_link(node);
      if (operation == "Gemm") return gemm(node);
      if (operation == "MatMul") return product(node);
    }
    if (node.machine_learning()) {
      if (operation == "Normalizer") return normalize(node);
      if (operation == "LinearRegressor" || operation == "LinearClassifier") return linear(node);
    }
    if (const auto affine = onnx_affine(constants_, node, {})) {
      see(affine->type);
      require(affine_.after(affine->affine));
      return affine->input;
    }
    return activate(node);
  }

  // Outside training it does nothing.
  static std::string_view dropout(const OnnxNode& node) {
    require(node.inputs.size() < 3 || node.inputs[2].empty());
    return node.inputs.front();
  }

  // What follows the last layer may be cast to double; else everything is of one type.
  std::string_view cast(const OnnxNode& node) {
    const auto to = static_cast<OnnxType>(node.attribute("to").integer.value_or(0));
    require(to == OnnxType::float32 || to == OnnxType::float64);
    if (!at_end() || to == OnnxType::float32) see(to);
    return node.inputs.front();
  }

  // Rows stay rows, and flat ones.
  std::string_view flatten(const OnnxNode& node) {
    if (node.operation == "Flatten") {
      require(node.attribute("axis").integer.value_or(1) == 1 && node.inputs.size() == 1);
      return node.inputs.front();
    }
    require(node.inputs.size() == 2);
    const std::vector<double> shape = required(constants_.numbers(node.inputs[1]));
    require(shape.size() == 2 && node.attribute("allowzero").integer.value_or(0) == 0);
    require(onnx_keeps_rows(shape, plan_.shape.front()));
    require(shape[1] == -1 || (shape[1] > 0 && (width_ == 0 || width_ == shape[1])));
    if (shape[1] > 0) width_ = shape[1];
    return node.inputs.front();
  }

  // The share of the second of two classes, and what is left of 1 before it.
  std::string_view join_classes(const OnnxNode& node) {
    const std::int64_t axis = node.attribute("axis").integer.value_or(0);
    require(at_end() && !two_classes_ && link_ == DenseLink::identity && node.inputs.size() == 2);
    require(axis == 1 || axis == -1);
    const OnnxNode* const rest = graph_.maker(onnx_origin(graph_, node.inputs[0]));
    require(rest != nullptr && rest->operation == "Sub" && onnx_own(*rest) && rest->inputs.size() == 2);
    require(constants_.number(rest->inputs[0]) == 1.0);
    const std::string_view share = onnx_origin(graph_, node.inputs[1]);
    const OnnxNode* const sigmoid = graph_.maker(share);
    require(onnx_origin(graph_, rest->inputs[1]) == share && sigmoid != nullptr &&
            sigmoid->operation == "Sigmoid");
    two_classes_ = true;
    return share;
  }

  std::string_view set_link(const OnnxNode& node) {
    require(node.inputs.size() == 1 && at_end() && link_ == DenseLink::identity);
    if (node.operation == "Sigmoid") {
      link_ = DenseLink::sigmoid;
      return node.inputs.front();
    }
    const std::int64_t axis = node.attribute("axis").integer.value_or(-1);
    require(axis == 1 || axis == -1);
    link_ = node.operation == "Softmax" ? DenseLink::softmax : DenseLink::log_softmax;
    return node.inputs.front();
  }

  // Shares that sum to 1 stay as they are.
  std::string_view normalize(const OnnxNode& node) {
    require(at_end() && link_ == DenseLink::identity && node.attribute("norm").text == "L1");
    sums_to_one_ = true;
    return node.inputs.front();
  }

  std::string_view gemm(const OnnxNode& node) {
    require(node.inputs.size() == 2 || node.inputs.size() == 3);
    require(node.attribute("transA").integer.value_or(0) == 0);
    const double alpha = node.attribute("alpha").real.value_or(1),
                 beta = node.attribute("beta").real.value_or(1);
    if (node.inputs.size() == 3 && !node.inputs[2].empty()) {
      const OnnxTensor* const bias = constants_.find(node.inputs[2]);
      require(bias != nullptr && bias->dims.size() <= 2 && (bias->dims.size() < 2 || bias->dims[0] == 1));
      see(bias->type);
      OnnxAffine shift{{1}, required(tensor_numbers(*bias))};
      for (double& value : shift.shift) value *= beta;
      require(!shift.shift.empty() && affine_.after(shift));
    }
    require(affine_.after({{alpha}, {0}}));
    add_weights(node.inputs[1], node.attribute("transB").integer.value_or(0) != 0);
    return node.inputs.front();
  }

  std::string_view product(const OnnxNode& node) {
    require(node.inputs.size() == 2);
    add_weights(node.inputs[1], false);
    return node.inputs.front();
  }

  // Models of one layer, of ai.onnx.ml. A classifier with one score for two classes is none of ours.
  std::string_view linear(const OnnxNode& node) {
    const bool classifier = node.operation == "LinearClassifier";
    std::vector<double> bias = node.attribute("intercepts").reals;
    const std::size_t outputs = classifier ? onnx_class_names(node).size()
                                           : static_cast<std::size_t>(std::max<std::int64_t>(
                                                 0, node.attribute("targets").integer.value_or(1)));
    if (bias.empty()) bias.assign(outputs, 0.0);
    const std::vector<double>& weights = node.attribute("coefficients").reals;
    require(outputs > (classifier ? 1 : 0) && bias.size() == outputs && !weights.empty());
    require(weights.size() % outputs == 0);
    const std::string_view after = node.attribute("post_transform").text;
    if (!after.empty() && after != "NONE") {
      require(classifier && at_end() && link_ == DenseLink::identity);
      require(after == "LOGISTIC" || after == "SOFTMAX");
      link_ = after == "LOGISTIC" ? DenseLink::sigmoid : DenseLink::softmax;
    }
    require(node.inputs.size() == 1 && affine_.after({{1}, std::move(bias)}));
    see(OnnxType::float32);
    add_layer(weights.size() / outputs, outputs, weights);
    return node.inputs.front();
  }

  // What is done to it afterwards goes into the weights of the next layer, or into a layer of its own.
  std::string_view activate(const OnnxNode& node) {
    const OnnxActivation met = required(onnx_activation(graph_, constants_, node));
    require(affine_.after({{met.scale}, {0}}));
    if (activation_.kind != Kind::identity) {
      require(!layers_.empty());
      add_diagonal(layers_.back().inputs);
    } else if (layers_.empty()) {
      require(!outputs_);
      outputs_ = std::move(affine_);
    } else {
      fold(affine_, layers_.back());
    }
    activation_ = met.activation;
    affine_ = {{met.inner_scale}, {met.inner_shift}};
    return met.input;
  }

  // All constants are of one type, which the network computes in.
  void see(OnnxType type) {
    require(type == OnnxType::float32 || type == OnnxType::float64);
    require(type_ == OnnxType::undefined || type_ == type);
    type_ = type;
  }

  static void fold(const OnnxAffine& affine, DenseLayer& layer) {
    require(affine.width() == 1 || affine.width() == layer.inputs);
    if (affine.identity()) return;
    for (std::size_t k = 0; k < layer.outputs; ++k) {
      double* const weights = layer.weights.data() + k * layer.inputs;
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        layer.bias[k] += weights[i] * affine.shift_at(i);
        weights[i] *= affine.scale_at(i);
      }
    }
  }

  void add_weights(std::string_view value, bool transposed) {
    const OnnxTensor* const tensor = constants_.find(value);
    require(tensor != nullptr && tensor->dims.size() == 2);
    see(tensor->type);
    std::vector<double> values = required(tensor_numbers(*tensor));
    require(!values.empty());
    const auto rows = static_cast<std::size_t>(tensor->dims[0]),
               columns = static_cast<std::size_t>(tensor->dims[1]);
    if (transposed) return add_layer(columns, rows, values);
    std::vector<double> turned(values.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < columns; ++k) turned[k * rows + i] = values[i * columns + k];
    }
    add_layer(rows, columns, turned);
  }

  // A layer with these weights, outputs × inputs, and what was met since the last.
  void add_layer(std::size_t inputs, std::size_t outputs, const std::vector<double>& weights) {
    require(width_ == 0 || width_ == static_cast<double>(outputs));
    width_ = 0;
    if (outputs_) add_outputs(outputs);
    require(layers_.empty() || layers_.back().inputs == outputs);
    require(affine_.width() == 1 || affine_.width() == outputs);
    DenseLayer layer{inputs, outputs, weights, std::vector<double>(outputs), activation_};
    for (std::size_t k = 0; k < outputs; ++k) {
      layer.bias[k] = affine_.shift_at(k);
      for (std::size_t i = 0; i < inputs; ++i) layer.weights[k * inputs + i] *= affine_.scale_at(k);
    }
    layers_.push_back(std::move(layer));
    affine_ = {};
    activation_ = {};
  }

  // One weight a unit.
  void add_diagonal(std::size_t width) {
    require(width <= kMostDiagonal);
    std::vector<double> weights(width * width);
    for (std::size_t k = 0; k < width; ++k) weights[k * width + k] = 1;
    add_layer(width, width, weights);
  }

  // What is made of the last activation.
  void add_outputs(std::size_t width) {
    OnnxAffine below = std::move(affine_);
    const DenseActivation activation = activation_;
    affine_ = std::move(*outputs_);
    activation_ = {};
    outputs_.reset();
    add_diagonal(width);
    affine_ = std::move(below);
    activation_ = activation;
  }

  // The input is reached.
  void end(const OnnxColumns& columns) {
    require(columns.shape.size() == 1);
    const std::size_t width = columns.columns.size();
    if (activation_.kind != Kind::identity) add_diagonal(width);
    require(!layers_.empty() && layers_.back().inputs == width && !outputs_);
    require(width_ == 0 || width_ == static_cast<double>(width));
    see(columns.type);
    DenseLayer& layer = layers_.back();
    fold(affine_, layer);
    std::vector<double> weights(layer.outputs * plan_.width);
    for (std::size_t k = 0; k < layer.outputs; ++k) {
      for (std::size_t i = 0; i < width; ++i) {
        const OnnxColumn& column = columns.columns[i];
        const double weight = layer.weights[k * width + i];
        layer.bias[k] += weight * column.shift;
        weights[k * plan_.width + column.feature] += weight * column.scale;
      }
    }
    layer.inputs = plan_.width;
    layer.weights = std::move(weights);
  }

  // Shares 1 − sigmoid(z) and sigmoid(z) are the softmax of 0 and z.
  void add_first_class() {
    DenseLayer& last = layers_.back();
    require(last.outputs == 1 && link_ == DenseLink::sigmoid);
    last.outputs = 2;
    last.weights.insert(last.weights.begin(), last.inputs, 0.0);
    last.bias.insert(last.bias.begin(), 0.0);
    link_ = DenseLink::softmax;
  }

  const OnnxGraph& graph_;
  const OnnxPlan& plan_;
  OnnxConstants constants_;
  std::vector<DenseLayer> layers_;     // the last one first
  OnnxAffine affine_;                  // met since the last weights or activation
  DenseActivation activation_;         // met since the last weights, before the affine
  std::optional<OnnxAffine> outputs_;  // what is done after an activation that is the last thing in the graph
  DenseLink link_ = DenseLink::identity;
  bool two_classes_ = false, sums_to_one_ = false;
  OnnxType type_ = OnnxType::undefined;
  double width_ = 0;  // that a Reshape asks for; 0: any
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
