#include "onnx_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "harmonia/core/error.hpp"
#include "wire_format.hpp"

namespace harmonia {
namespace {

// Field numbers of onnx.proto, of the messages that are read here. They never change.
namespace model_field {
constexpr std::uint32_t graph = 7;
}
namespace graph_field {
constexpr std::uint32_t node = 1, initializer = 5, input = 11, output = 12;
}
namespace node_field {
constexpr std::uint32_t input = 1, output = 2, operation = 4, attribute = 5, domain = 7;
}
namespace attribute_field {
constexpr std::uint32_t name = 1, real = 2, integer = 3, text = 4, tensor = 5, graph = 6, reals = 7,
                        integers = 8, strings = 9, graphs = 11;
}
namespace tensor_field {
constexpr std::uint32_t dims = 1, type = 2, floats = 4, int32s = 5, strings = 6, int64s = 7, name = 8,
                        raw = 9, doubles = 10, external = 13, location = 14;
}
namespace value_field {
constexpr std::uint32_t name = 1, type = 2;
}
namespace type_field {
constexpr std::uint32_t tensor = 1, sequence = 4, map = 5, denotation = 6;
}

OnnxTensor read_tensor(WireReader in) {
  OnnxTensor tensor;
  std::vector<std::int64_t> integers;
  while (in.next()) {
    switch (in.field()) {
      case tensor_field::dims:
        in.add_integers(tensor.dims);
        break;
      case tensor_field::type:
        tensor.type = static_cast<OnnxType>(in.integer());
        break;
      case tensor_field::floats:
        in.add_floats(tensor.numbers);
        break;
      case tensor_field::doubles:
        in.add_doubles(tensor.numbers);
        break;
      case tensor_field::int32s:
      case tensor_field::int64s:
        in.add_integers(integers);
        break;
      case tensor_field::strings:
        tensor.strings.push_back(in.text());
        break;
      case tensor_field::name:
        tensor.name = in.text();
        break;
      case tensor_field::raw:
        tensor.raw = in.text();
        break;
      case tensor_field::external:
        tensor.external = true;
        break;
      case tensor_field::location:
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
      case attribute_field::name:
        name = in.text();
        break;
      case attribute_field::real:
        attribute.real = in.real();
        break;
      case attribute_field::integer:
        attribute.integer = in.integer();
        break;
      case attribute_field::text:
        attribute.text = in.text();
        break;
      case attribute_field::tensor:
        attribute.tensor = read_tensor(in.message());
        break;
      case attribute_field::reals:
        in.add_floats(attribute.reals);
        break;
      case attribute_field::integers:
        in.add_integers(attribute.integers);
        break;
      case attribute_field::strings:
        attribute.strings.push_back(in.text());
        break;
      case attribute_field::graph:
      case attribute_field::graphs:
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
      case node_field::input:
        node.inputs.push_back(in.text());
        break;
      case node_field::output:
        node.outputs.push_back(in.text());
        break;
      case node_field::operation:
        node.operation = in.text();
        break;
      case node_field::domain:
        node.domain = in.text();
        break;
      case node_field::attribute:
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
      case type_field::tensor: {
        value.kind = OnnxValue::Kind::tensor;
        for (WireReader tensor = in.message(); tensor.next();) {
          if (tensor.field() == 1) value.type = static_cast<OnnxType>(tensor.integer());
          if (tensor.field() == 2) value.dims = read_shape(tensor.message());
        }
        break;
      }
      case type_field::sequence:
        value.kind = OnnxValue::Kind::sequence;
        break;
      case type_field::map:
        value.kind = OnnxValue::Kind::map;
        break;
      case type_field::denotation:
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
    if (in.field() == value_field::name) value.name = in.text();
    if (in.field() == value_field::type) read_type(in.message(), value);
  }
  return value;
}

OnnxGraph read_graph(WireReader in) {
  OnnxGraph graph;
  while (in.next()) {
    switch (in.field()) {
      case graph_field::node:
        graph.nodes.push_back(read_node(in.message()));
        break;
      case graph_field::initializer:
        graph.initializers.push_back(read_tensor(in.message()));
        break;
      case graph_field::input:
        graph.inputs.push_back(read_value(in.message()));
        break;
      case graph_field::output:
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
    if (node.field() == node_field::operation) operation = node.text();
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
    if (in.field() != model_field::graph) continue;
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
    if (in.field() != model_field::graph) {
      model += in.whole();
      continue;
    }
    std::string graph;
    for (WireReader part = in.message(); part.next();) {
      if (part.field() == graph_field::output) continue;
      if (part.field() == graph_field::node && operation_of(part.message()) == "ZipMap") continue;
      graph += part.whole();
    }
    graph += wire_text(graph_field::output, wire_text(value_field::name, value));
    model += wire_text(model_field::graph, graph);
  }
  return model;
}

}  // namespace harmonia
