#include "onnx_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "harmonia/core/error.hpp"
#include "onnx_fields.hpp"
#include "wire_format.hpp"

namespace harmonia {
namespace {

OnnxTensor read_tensor(WireReader in) {
  OnnxTensor tensor;
  std::vector<std::int64_t> integers;
  while (in.next()) {
    switch (in.field()) {
      case tensor_field::kDims:
        in.add_integers(tensor.dims);
        break;
      case tensor_field::kType:
        tensor.type = static_cast<OnnxType>(in.integer());
        break;
      case tensor_field::kFloats:
        in.add_floats(tensor.numbers);
        break;
      case tensor_field::kDoubles:
        in.add_doubles(tensor.numbers);
        break;
      case tensor_field::kInt32s:
      case tensor_field::kInt64s:
        in.add_integers(integers);
        break;
      case tensor_field::kStrings:
        tensor.strings.push_back(in.text());
        break;
      case tensor_field::kName:
        tensor.name = in.text();
        break;
      case tensor_field::kRaw:
        tensor.raw = in.text();
        break;
      case tensor_field::kExternal:
        tensor.external = true;
        break;
      case tensor_field::kLocation:
        tensor.external = tensor.external || in.integer() == 1;
        break;
      default:
        break;
    }
  }
  for (const std::int64_t integer : integers) tensor.numbers.push_back(static_cast<double>(integer));
  return tensor;
}

std::pair<std::string_view, OnnxAttribute> read_attribute(WireReader in) {
  std::string_view name;
  OnnxAttribute attribute;
  while (in.next()) {
    switch (in.field()) {
      case attribute_field::kName:
        name = in.text();
        break;
      case attribute_field::kReal:
        attribute.real = in.real();
        break;
      case attribute_field::kInteger:
        attribute.integer = in.integer();
        break;
      case attribute_field::kText:
        attribute.text = in.text();
        break;
      case attribute_field::kTensor:
        attribute.tensor = read_tensor(in.message());
        break;
      case attribute_field::kReals:
        in.add_floats(attribute.reals);
        break;
      case attribute_field::kIntegers:
        in.add_integers(attribute.integers);
        break;
      case attribute_field::kStrings:
        attribute.strings.push_back(in.text());
        break;
      case attribute_field::kGraph:
      case attribute_field::kGraphs:
        attribute.graph = true;
        break;
      default:
        break;
    }
  }
  return {name, std::move(attribute)};
}

OnnxNode read_node(WireReader in) {
  OnnxNode node;
  while (in.next()) {
    switch (in.field()) {
      case node_field::kInput:
        node.inputs.push_back(in.text());
        break;
      case node_field::kOutput:
        node.outputs.push_back(in.text());
        break;
      case node_field::kOperation:
        node.operation = in.text();
        break;
      case node_field::kDomain:
        node.domain = in.text();
        break;
      case node_field::kAttribute:
        node.attributes.insert(read_attribute(in.message()));
        break;
      default:
        break;
    }
  }
  return node;
}

// A shape: one message a dimension, which is a number (1), a name (2) or nothing.
std::vector<std::int64_t> read_shape(WireReader in) {
  std::vector<std::int64_t> dims;
  while (in.next()) {
    if (in.field() != 1) continue;
    std::int64_t size = -1;
    for (WireReader dim = in.message(); dim.next();) {
      if (dim.field() == 1) size = dim.integer();
    }
    dims.push_back(size > 0 ? size : -1);
  }
  return dims;
}

void read_type(WireReader in, OnnxValue& value) {
  while (in.next()) {
    switch (in.field()) {
      case type_field::kTensor: {
        value.kind = OnnxValue::Kind::tensor;
        for (WireReader tensor = in.message(); tensor.next();) {
          if (tensor.field() == 1) value.type = static_cast<OnnxType>(tensor.integer());
          if (tensor.field() == 2) value.dims = read_shape(tensor.message());
        }
        break;
      }
      case type_field::kSequence:
        value.kind = OnnxValue::Kind::sequence;
        break;
      case type_field::kMap:
        value.kind = OnnxValue::Kind::map;
        break;
      case type_field::kDenotation:
        break;
      default:
        value.kind = OnnxValue::Kind::other;
        break;
    }
  }
}

OnnxValue read_value(WireReader in) {
  OnnxValue value;
  while (in.next()) {
    if (in.field() == value_field::kName) value.name = in.text();
    if (in.field() == value_field::kType) read_type(in.message(), value);
  }
  return value;
}

OnnxGraph read_graph(WireReader in) {
  OnnxGraph graph;
  while (in.next()) {
    switch (in.field()) {
      case graph_field::kNode:
        graph.nodes.push_back(read_node(in.message()));
        break;
      case graph_field::kInitializer:
        graph.initializers.push_back(read_tensor(in.message()));
        break;
      case graph_field::kInput:
        graph.inputs.push_back(read_value(in.message()));
        break;
      case graph_field::kOutput:
        graph.outputs.push_back(read_value(in.message()));
        break;
      default:
        break;
    }
  }
  // Before version 4 of the format initializers were listed as inputs too.
  std::unordered_set<std::string_view> constants;
  for (const OnnxTensor& tensor : graph.initializers) constants.insert(tensor.name);
  std::erase_if(graph.inputs, [&](const OnnxValue& input) { return constants.contains(input.name); });
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string_view output : graph.nodes[i].outputs) {
      if (!output.empty()) graph.makers.emplace(output, i);
    }
  }
  return graph;
}

template <class T>
std::vector<double> numbers_of(std::string_view raw) {
  std::vector<double> numbers(raw.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value{};
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

std::optional<std::vector<double>> raw_numbers(const OnnxTensor& tensor) {
  switch (tensor.type) {
    case OnnxType::float32:
      return numbers_of<float>(tensor.raw);
    case OnnxType::float64:
      return numbers_of<double>(tensor.raw);
    case OnnxType::int32:
      return numbers_of<std::int32_t>(tensor.raw);
    case OnnxType::int64:
      return numbers_of<std::int64_t>(tensor.raw);
    default:
      return std::nullopt;
  }
}

std::string_view operation_of(WireReader node) {
  std::string_view operation;
  while (node.next()) {
    if (node.field() == node_field::kOperation) operation = node.text();
  }
  return operation;
}

}  // namespace

std::string onnx_type_name(OnnxType type) {
  static constexpr std::array<std::string_view, 12> names{"undefined", "float", "uint8",   "int8",
                                                          "uint16",    "int16", "int32",   "int64",
                                                          "string",    "bool",  "float16", "double"};
  const auto number = static_cast<std::size_t>(type);
  return number < names.size() ? std::string(names[number])
                               : fmt::format("type {}", static_cast<std::int64_t>(type));
}

std::optional<std::vector<double>> tensor_numbers(const OnnxTensor& tensor) {
  if (tensor.external) return std::nullopt;
  std::optional<std::vector<double>> numbers = tensor.raw.empty() ? tensor.numbers : raw_numbers(tensor);
  if (!numbers) return std::nullopt;
  std::size_t left = numbers->size();
  for (const std::int64_t dim : tensor.dims) {
    if (dim <= 0) return left == 0 && dim == 0 ? numbers : std::nullopt;
    if (left % static_cast<std::size_t>(dim) != 0) return std::nullopt;
    left /= static_cast<std::size_t>(dim);
  }
  if (left != 1) return std::nullopt;
  return numbers;
}

const OnnxAttribute& OnnxNode::attribute(std::string_view name) const {
  static const OnnxAttribute none;
  const auto found = attributes.find(name);
  return found == attributes.end() ? none : found->second;
}

const OnnxNode* OnnxGraph::maker(std::string_view value) const {
  const auto found = makers.find(value);
  return found == makers.end() ? nullptr : &nodes[found->second];
}

bool looks_like_onnx(std::string_view head) {
  // ir_version, a small number, comes first; then one of the model's other fields.
  if (head.size() < 4 || head[0] != 0x08 || head[1] < 1 || head[1] > 64) return false;
  const int tag = static_cast<unsigned char>(head[2]);
  return tag == 0x12 || tag == 0x1a || tag == 0x22 || tag == 0x28 || tag == 0x32 || tag == 0x3a ||
         tag == 0x42;
}

OnnxGraph read_onnx_graph(std::string_view bytes, const std::string& file) {
  WireReader in(bytes, file);
  std::optional<OnnxGraph> graph;
  while (in.next()) {
    if (in.field() != model_field::kGraph) continue;
    if (graph) throw Error(ErrorCode::input, fmt::format("model {} has two graphs; expected one", file));
    graph = read_graph(in.message());
  }
  if (!graph) {
    throw Error(ErrorCode::input, fmt::format("model {} has no graph; expected an ONNX file", file));
  }
  return std::move(*graph);
}

std::string with_only_output(std::string_view bytes, std::string_view value, const std::string& file) {
  std::string model;
  for (WireReader in(bytes, file); in.next();) {
    if (in.field() != model_field::kGraph) {
      model += in.whole();
      continue;
    }
    std::string graph;
    for (WireReader part = in.message(); part.next();) {
      if (part.field() == graph_field::kOutput) continue;
      if (part.field() == graph_field::kNode && operation_of(part.message()) == "ZipMap") continue;
      graph += part.whole();
    }
    graph += wire_text(graph_field::kOutput, wire_text(value_field::kName, value));
    model += wire_text(model_field::kGraph, graph);
  }
  return model;
}

}  // namespace harmonia
