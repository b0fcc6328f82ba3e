#include "onnx_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "model_file.hpp"

namespace harmonia {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("model {}: {}", file, what));
}

std::string shape_text(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t dim : dims) {
    text += fmt::format("{}{}", text.empty() ? "" : "×", dim < 0 ? "?" : std::to_string(dim));
  }
  return text.empty() ? "no dimensions" : text;
}

std::string names_of(const std::vector<OnnxValue>& values) {
  constexpr std::size_t kNamed = 6;
  std::string names;
  for (std::size_t i = 0; i < std::min(values.size(), kNamed); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", printable(values[i].name));
  }
  return values.size() > kNamed ? names + ", …" : names;
}

bool real(OnnxType type) { return type == OnnxType::float32 || type == OnnxType::float64; }

const OnnxValue& single_input(const OnnxGraph& graph, const std::string& file) {
  if (graph.inputs.size() != 1) {
    refuse(file, graph.inputs.empty()
                     ? std::string("its graph has no input; expected one of floats or doubles")
                     : fmt::format("its graph has {} inputs ({}); expected one, rows × features",
                                   graph.inputs.size(), names_of(graph.inputs)));
  }
  const OnnxValue& input = graph.inputs.front();
  static constexpr std::array kinds{"of unknown type", "a tensor", "a sequence", "a map",
                                    "optional or sparse"};
  if (input.kind != OnnxValue::Kind::tensor) {
    refuse(file, fmt::format("input {} is {}; expected a tensor of float or double", in_quotes(input.name),
                             kinds[static_cast<std::size_t>(input.kind)]));
  }
  if (!real(input.type)) {
    refuse(file, fmt::format("input {} holds {}; expected float or double", in_quotes(input.name),
                             onnx_type_name(input.type)));
  }
  return input;
}

// Sizes that the file leaves open are those of the rows, where these have as many dimensions.
void fill_open_sizes(std::vector<std::int64_t>& shape, const std::vector<std::size_t>& row_shape) {
  if (shape.size() != row_shape.size() + 1) return;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i] < 0) shape[i] = static_cast<std::int64_t>(row_shape[i - 1]);
  }
}

void plan_input(OnnxPlan& plan, const OnnxValue& input, const ModelOptions& options,
                std::span<const double> example, const std::string& file) {
  constexpr std::int64_t kWidest = std::numeric_limits<std::int32_t>::max();
  plan.input = input.name;
  plan.scalar = input.type == OnnxType::float32 ? Scalar::float32 : Scalar::float64;
  plan.shape = input.dims.value_or(std::vector<std::int64_t>{-1, -1});
  fill_open_sizes(plan.shape, options.row_shape);
  if (plan.shape.size() < 2) {
    refuse(file, fmt::format("input {} has the shape {}; expected rows × features", in_quotes(input.name),
                             shape_text(plan.shape)));
  }
  if (plan.shape.size() == 2 && plan.shape[1] < 0) plan.shape[1] = static_cast<std::int64_t>(example.size());
  std::int64_t width = 1;
  for (std::size_t i = 1; i < plan.shape.size(); ++i) {
    if (plan.shape[i] <= 0) {
      refuse(file, fmt::format("input {} has the shape {}; expected a fixed size but for the rows",
                               in_quotes(input.name), shape_text(input.dims.value_or(plan.shape))));
    }
    if (plan.shape[i] > kWidest / width) {
      refuse(file, fmt::format("input {} has the shape {}; expected fewer than 2^31 features",
                               in_quotes(input.name), shape_text(plan.shape)));
    }
    width *= plan.shape[i];
  }
  plan.width = static_cast<std::size_t>(width);
}

const OnnxValue& choose_output(const OnnxGraph& graph, const std::string& file) {
  if (graph.outputs.empty()) refuse(file, "its graph has no output");
  for (const OnnxValue& output : graph.outputs) {
    const OnnxNode* maker = graph.maker(output.name);
    const bool table = output.kind == OnnxValue::Kind::unknown ||
                       (output.kind == OnnxValue::Kind::tensor && real(output.type));
    if (table || (maker != nullptr && maker->operation == "ZipMap")) return output;
  }
  return graph.outputs.front();
}

// The node gives on what it gets, at most in the other type of real numbers.
bool passes_on(const OnnxNode& node) {
  if (node.inputs.size() != 1) return false;
  const std::int64_t to = node.attribute("to").integer.value_or(0);
  return node.operation == "Identity" || (node.operation == "Cast" && real(static_cast<OnnxType>(to)));
}

// What goes into the link that the value comes from.
std::string_view before_link(const OnnxGraph& graph, std::string_view value, const std::string& file) {
  const OnnxNode* maker = graph.maker(onnx_origin(graph, value));
  if (maker != nullptr && (maker->operation == "Softmax" || maker->operation == "Sigmoid") &&
      maker->inputs.size() == 1) {
    return maker->inputs.front();
  }
  throw Error(
      ErrorCode::usage,
      fmt::format("--margin: output {} of model {} does not come from a softmax or sigmoid but from {}; "
                  "expected one, or --model-output with the name of the value before the link",
                  in_quotes(value), file,
                  maker == nullptr ? "an input" : fmt::format("{}", in_quotes(maker->operation))));
}

void plan_output(OnnxPlan& plan, const OnnxGraph& graph, const ModelOptions& options,
                 const std::string& file) {
  std::string_view value = options.output_name;
  if (value.empty()) {
    value = choose_output(graph, file).name;
  } else if (graph.maker(value) == nullptr &&
             std::none_of(graph.outputs.begin(), graph.outputs.end(),
                          [&](const OnnxValue& output) { return output.name == value; })) {
    throw Error(ErrorCode::usage,
                fmt::format("--model-output {}: model {} has no such value; its outputs are {}",
                            in_quotes(value), file, names_of(graph.outputs)));
  }
  const OnnxNode* maker = graph.maker(value);
  if (maker != nullptr && maker->operation == "ZipMap") {
    plan.classes = onnx_class_names(*maker);
    if (maker->inputs.size() != 1) refuse(file, "its ZipMap has no input");
    value = maker->inputs.front();
  }
  if (options.margin && options.output_name.empty()) value = before_link(graph, value, file);
  plan.output = value;
  const auto is_output = [&](const OnnxValue& output) { return output.name == value; };
  plan.rewrite = std::none_of(graph.outputs.begin(), graph.outputs.end(), is_output) ||
                 std::any_of(graph.nodes.begin(), graph.nodes.end(),
                             [](const OnnxNode& node) { return node.operation == "ZipMap"; });
}

// NaN is answered with meaning where every node that sees the features is a tree or replaces NaN.
bool knows_missing(const OnnxGraph& graph, std::string_view input) {
  bool used = false;
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string_view value : node.inputs) {
      if (passes_on(node) || onnx_origin(graph, value) != input) continue;
      used = true;
      if (!node.machine_learning() ||
          !(node.operation.starts_with("TreeEnsemble") || node.operation == "Imputer")) {
        return false;
      }
    }
    // A graph inside a node may use any value.
    for (const auto& [name, attribute] : node.attributes) {
      if (attribute.graph) return false;
    }
  }
  return used;
}

}  // namespace

bool onnx_needs_example(const std::string& path) {
  const std::string bytes = read_model_file(path);
  const OnnxGraph graph = read_onnx_graph(bytes, path);
  if (graph.inputs.size() != 1) return false;
  const OnnxValue& input = graph.inputs.front();
  if (input.kind != OnnxValue::Kind::tensor || !real(input.type)) return false;
  return !input.dims || (input.dims->size() == 2 && (*input.dims)[1] < 0);
}

std::string_view onnx_origin(const OnnxGraph& graph, std::string_view value) {
  // As many steps as there are nodes at most: a damaged graph may go round in a circle.
  for (std::size_t steps = 0; steps < graph.nodes.size(); ++steps) {
    const OnnxNode* maker = graph.maker(value);
    if (maker == nullptr || !passes_on(*maker)) break;
    value = maker->inputs.front();
  }
  return value;
}

std::vector<std::string> onnx_class_names(const OnnxNode& node) {
  std::vector<std::string> names;
  for (const char* attribute : {"classlabels_strings", "class_labels_strings"}) {
    for (const std::string_view name : node.attribute(attribute).strings) names.emplace_back(name);
  }
  if (!names.empty()) return names;
  for (const char* attribute : {"classlabels_int64s", "classlabels_ints"}) {
    for (const std::int64_t name : node.attribute(attribute).integers) names.push_back(std::to_string(name));
  }
  return names;
}

OnnxPlan plan_onnx(const OnnxGraph& graph, const ModelOptions& options, std::span<const double> example,
                   const std::string& file) {
  OnnxPlan plan;
  plan_input(plan, single_input(graph, file), options, example, file);
  plan_output(plan, graph, options, file);
  plan.takes_missing = knows_missing(graph, plan.input);
  if (plan.classes.empty()) {
    for (const OnnxNode& node : graph.nodes) {
      if (!node.machine_learning() || node.outputs.empty() || plan.output == node.outputs.front()) continue;
      if (plan.classes = onnx_class_names(node); !plan.classes.empty()) break;
    }
  }
  return plan;
}

}  // namespace harmonia
