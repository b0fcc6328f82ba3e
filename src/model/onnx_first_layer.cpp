#include "onnx_first_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "onnx_columns.hpp"
#include "onnx_fields.hpp"
#include "wire_format.hpp"

namespace harmonia {
namespace {

// A first layer with fewer than so many of the weights that follow it is a small part of the graph.
constexpr double kSmallPart = 1.0 / 16;
constexpr std::size_t kMostWeights = std::size_t{1} << 27U;  // that are held a second time

// The numbers of the nodes that a value is made by, not looking behind `from`; and whether the input is met.
struct Making {
  std::unordered_set<std::size_t> nodes;
  bool hears_input = false;
  bool control_flow = false;  // a graph inside a node may use any value
};

Making making_of(const OnnxGraph& graph, std::string_view value, std::string_view from,
                 std::string_view input) {
  Making making;
  std::vector<std::string_view> open{value};
  while (!open.empty()) {
    const std::string_view next = open.back();
    open.pop_back();
    if (next == from) continue;
    making.hears_input |= next == input;
    const auto maker = graph.makers.find(next);
    if (maker == graph.makers.end() || !making.nodes.insert(maker->second).second) continue;
    const OnnxNode& node = graph.nodes[maker->second];
    for (const auto& [name, attribute] : node.attributes) making.control_flow |= attribute.graph;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return making;
}

// A product of the row by constants, as it stands in the graph.
struct Product {
  std::vector<double> weights;  // inputs × units, or the other way round
  bool by_unit = false;
  std::size_t inputs = 0, units = 0;
  double scale = 1;
  std::vector<double> bias;  // one number stands for all
  OnnxType type = OnnxType::undefined;
};

bool real(OnnxType type) { return type == OnnxType::float32 || type == OnnxType::float64; }

bool is_product(const OnnxNode& node) {
  const bool gemm = node.operation == "Gemm";
  return onnx_own(node) && (gemm || node.operation == "MatMul") && node.outputs.size() == 1 &&
         node.inputs.size() >= 2 && node.inputs.size() <= (gemm ? 3 : 2);
}

std::optional<Product> product_of(const OnnxConstants& constants, const OnnxNode& node) {
  const OnnxTensor* const weights = constants.find(node.inputs[1]);
  if (weights == nullptr || weights->dims.size() != 2 || !real(weights->type)) return std::nullopt;
  auto numbers = tensor_numbers(*weights);
  if (!numbers || numbers->empty() || node.attribute("transA").integer.value_or(0) != 0) return std::nullopt;
  Product product{.weights = std::move(*numbers), .bias = {0}, .type = weights->type};
  product.by_unit = node.attribute("transB").integer.value_or(0) != 0;
  product.inputs = static_cast<std::size_t>(weights->dims[product.by_unit ? 1 : 0]);
  product.units = static_cast<std::size_t>(weights->dims[product.by_unit ? 0 : 1]);
  product.scale = node.attribute("alpha").real.value_or(1);
  if (node.inputs.size() == 3 && !node.inputs[2].empty()) {
    const OnnxTensor* const bias = constants.find(node.inputs[2]);
    if (bias == nullptr || bias->type != product.type || bias->dims.size() > 2) return std::nullopt;
    if (bias->dims.size() == 2 && bias->dims[0] != 1) return std::nullopt;
    auto shift = tensor_numbers(*bias);
    if (!shift || (shift->size() != 1 && shift->size() != product.units)) return std::nullopt;
    for (double& value : *shift) value *= node.attribute("beta").real.value_or(1);
    product.bias = std::move(*shift);
  }
  return product;
}

// The product of the features that the columns are.
OnnxFirstLayer layer_of(const Product& product, const OnnxColumns& columns, std::size_t features) {
  OnnxFirstLayer layer{features,
                       product.units,
                       std::vector<double>(product.units * features),
                       std::vector<double>(product.units),
                       {}};
  for (std::size_t u = 0; u < product.units; ++u)
    layer.bias[u] = product.bias[product.bias.size() == 1 ? 0 : u];
  const auto add = [&](std::size_t u, std::size_t i, double number) {
    const OnnxColumn& column = columns.columns[i];
    const double weight = product.scale * number;
    layer.bias[u] += weight * column.shift;
    layer.weights[u * features + column.feature] += weight * column.scale;
  };
  // Some units at a time, so that both sides stay in the cache.
  constexpr std::size_t kTogether = 8;
  for (std::size_t first = 0; first < product.units; first += kTogether) {
    const std::size_t end = std::min(first + kTogether, product.units);
    if (product.by_unit) {
      for (std::size_t u = first; u < end; ++u) {
        for (std::size_t i = 0; i < product.inputs; ++i) add(u, i, product.weights[u * product.inputs + i]);
      }
    } else {
      for (std::size_t i = 0; i < product.inputs; ++i) {
        for (std::size_t u = first; u < end; ++u) add(u, i, product.weights[i * product.units + u]);
      }
    }
  }
  return layer;
}

// The only node that takes the value; null: there are none or several.
const OnnxNode* only_user(const OnnxGraph& graph, std::string_view value) {
  const OnnxNode* user = nullptr;
  for (const OnnxNode& node : graph.nodes) {
    const auto uses = std::count(node.inputs.begin(), node.inputs.end(), value);
    if (uses == 0) continue;
    if (user != nullptr || uses > 1) return nullptr;
    user = &node;
  }
  return user;
}

// Takes what is done to every unit alone, by constants, into the layer.
void fold_what_follows(const OnnxGraph& graph, const OnnxPlan& plan, const OnnxConstants& constants,
                       OnnxType type, OnnxFirstLayer& layer) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(layer.units)};
  // As many steps as there are nodes at most: a damaged graph may go round in a circle.
  for (std::size_t steps = 0; steps < graph.nodes.size() && layer.value != plan.output; ++steps) {
    const OnnxNode* const node = only_user(graph, layer.value);
    if (node == nullptr || node->outputs.empty()) return;
    const auto follows = onnx_affine(constants, *node, shape);
    if (!follows || follows->input != layer.value || follows->type != type) return;
    const OnnxAffine& affine = follows->affine;
    for (const std::size_t size : {affine.scale.size(), affine.shift.size()}) {
      if (size != 1 && size != layer.units) return;
    }
    for (std::size_t u = 0; u < layer.units; ++u) {
      const double scale = affine.scale_at(u);
      layer.bias[u] = scale * layer.bias[u] + affine.shift_at(u);
      for (std::size_t i = 0; i < layer.inputs; ++i) layer.weights[u * layer.inputs + i] *= scale;
    }
    layer.value = node->outputs.front();
  }
}

bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
}

// The values that the nodes take.
std::unordered_set<std::string_view> taken_by(const OnnxGraph& graph,
                                              const std::unordered_set<std::size_t>& nodes) {
  std::unordered_set<std::string_view> values;
  for (const std::size_t node : nodes)
    values.insert(graph.nodes[node].inputs.begin(), graph.nodes[node].inputs.end());
  return values;
}

double weights_of(const OnnxGraph& graph, const std::unordered_set<std::size_t>& nodes) {
  const std::unordered_set<std::string_view> taken = taken_by(graph, nodes);
  double weights = 0;
  for (const OnnxTensor& tensor : graph.initializers) {
    if (!taken.contains(tensor.name)) continue;
    double size = 1;
    for (const std::int64_t side : tensor.dims) size *= static_cast<double>(side);
    weights += size;
  }
  return weights;
}

std::string name_of(WireReader message, std::uint32_t field) {
  std::string name;
  while (message.next()) {
    if (message.field() == field) name = message.text();
  }
  return name;
}

// The input that takes the units: rows × units.
std::string units_input(const OnnxPlan& plan, const OnnxFirstLayer& layer) {
  std::string rows;
  if (plan.shape.front() > 0)
    rows = wire_integer(shape_field::kSize, static_cast<std::uint64_t>(plan.shape.front()));
  const std::string shape = wire_text(shape_field::kDimension, rows) +
                            wire_text(shape_field::kDimension, wire_integer(shape_field::kSize, layer.units));
  const OnnxType type = plan.scalar == Scalar::float32 ? OnnxType::float32 : OnnxType::float64;
  const std::string tensor = wire_integer(tensor_type_field::kElement, static_cast<std::uint64_t>(type)) +
                             wire_text(tensor_type_field::kShape, shape);
  return wire_text(value_field::kName, layer.value) +
         wire_text(value_field::kType, wire_text(type_field::kTensor, tensor));
}

}  // namespace

OnnxFirstLayerFound find_onnx_first_layer(const OnnxGraph& graph, const OnnxPlan& plan) {
  const OnnxConstants constants(graph);
  const OnnxType type = plan.scalar == Scalar::float32 ? OnnxType::float32 : OnnxType::float64;
  OnnxFirstLayerFound found{.layer = {}, .why = "no first layer that is a product of the row by constants"};
  for (const OnnxNode& node : graph.nodes) {
    if (!is_product(node)) continue;
    const auto columns = onnx_columns(graph, plan, constants, node.inputs.front());
    if (!columns || columns->type != type || columns->shape.size() != 1) continue;
    if (const OnnxTensor* const weights = constants.find(node.inputs[1]);
        weights != nullptr && weights->dims.size() == 2 &&
        static_cast<double>(weights->dims[0]) * static_cast<double>(weights->dims[1]) > kMostWeights) {
      found.why = "its first layer is too large to be held twice";
      continue;
    }
    const auto product = product_of(constants, node);
    if (!product || product->type != type || product->inputs != columns->columns.size()) continue;
    OnnxFirstLayer layer = layer_of(*product, *columns, plan.width);
    layer.value = node.outputs.front();
    fold_what_follows(graph, plan, constants, type, layer);
    const Making rest = making_of(graph, plan.output, layer.value, plan.input);
    if (layer.value == plan.output) {
      found.why = "nothing follows its first layer";
    } else if (rest.hears_input) {
      found.why = "its first layer is not all that hears of the row";
    } else if (rest.control_flow) {
      found.why = "it has graphs within its graph";
    } else if (!all_finite(layer.weights) || !all_finite(layer.bias)) {
      found.why = "its first layer has weights that are not finite";
    } else if (static_cast<double>(layer.weights.size()) < kSmallPart * weights_of(graph, rest.nodes)) {
      found.why = "its first layer is a small part of it";
    } else {
      found.layer = std::move(layer);
      return found;
    }
  }
  return found;
}

std::string onnx_rest(std::string_view bytes, const OnnxPlan& plan, const OnnxFirstLayer& layer,
                      const std::string& file) {
  const OnnxGraph graph = read_onnx_graph(bytes, file);
  const Making rest = making_of(graph, plan.output, layer.value, plan.input);
  const std::unordered_set<std::string_view> taken = taken_by(graph, rest.nodes);
  std::unordered_set<std::string_view> constants;
  for (const OnnxTensor& tensor : graph.initializers) {
    if (taken.contains(tensor.name) && tensor.name != layer.value) constants.insert(tensor.name);
  }
  std::string model;
  for (WireReader in(bytes, file); in.next();) {
    if (in.field() != model_field::kGraph) {
      model += in.whole();
      continue;
    }
    std::string cut;
    std::size_t node = 0;
    bool has_output = false;
    for (WireReader part = in.message(); part.next();) {
      bool keep =
          part.field() != graph_field::kValue;  // shapes between nodes, which the runtime finds itself
      if (part.field() == graph_field::kNode) keep = rest.nodes.contains(node++);
      if (part.field() == graph_field::kInitializer)
        keep = constants.contains(name_of(part.message(), tensor_field::kName));
      // Before version 4 of the format constants were listed as inputs too.
      if (part.field() == graph_field::kInput)
        keep = constants.contains(name_of(part.message(), value_field::kName));
      if (part.field() == graph_field::kOutput) {
        keep = !has_output && name_of(part.message(), value_field::kName) == plan.output;
        has_output |= keep;
      }
      if (keep) cut += part.whole();
    }
    cut += wire_text(graph_field::kInput, units_input(plan, layer));
    if (!has_output) cut += wire_text(graph_field::kOutput, wire_text(value_field::kName, plan.output));
    model += wire_text(model_field::kGraph, cut);
  }
  return model;
}

}  // namespace harmonia
