#include "onnx_activation.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "onnx_plan.hpp"

namespace harmonia {
namespace {

using Kind = DenseActivation::Kind;

double real(const OnnxNode& node, std::string_view name, float otherwise) {
  return node.attribute(name).real.value_or(static_cast<double>(otherwise));
}

// An attribute up to version 6 of Clip, an input since.
std::optional<double> bound(const OnnxConstants& constants, const OnnxNode& node, std::string_view name,
                            std::size_t input, double none) {
  if (const auto& given = node.attribute(name).real) return given;
  if (node.inputs.size() <= input || node.inputs[input].empty()) return none;
  return constants.number(node.inputs[input]);
}

std::optional<OnnxActivation> clip(const OnnxConstants& constants, const OnnxNode& node) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto low = bound(constants, node, "min", 1, -kMost), high = bound(constants, node, "max", 2, kMost);
  if (!low || !high) return std::nullopt;
  return OnnxActivation{node.inputs.front(), {.kind = Kind::clip, .low = *low, .high = *high}};
}

// One slope for all units.
std::optional<OnnxActivation> prelu(const OnnxConstants& constants, const OnnxNode& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  const auto slope = constants.number(node.inputs[1]);
  if (!slope) return std::nullopt;
  return OnnxActivation{node.inputs.front(), {.kind = Kind::leaky, .slope = *slope}};
}

// Operators of one value.
std::optional<OnnxActivation> single(const OnnxNode& node) {
  const std::string_view operation = node.operation;
  const auto of = [&](const DenseActivation& activation) {
    return OnnxActivation{node.inputs.front(), activation};
  };
  if (operation == "Relu") return of({.kind = Kind::leaky});
  if (operation == "LeakyRelu") return of({.kind = Kind::leaky, .slope = real(node, "alpha", 0.01F)});
  if (operation == "Tanh") return of({.kind = Kind::tanh});
  if (operation == "Sigmoid") return of({.kind = Kind::sigmoid});
  if (operation == "Softplus") return of({.kind = Kind::softplus});
  if (operation == "HardSwish") return of({.kind = Kind::hard_swish});
  if (operation == "Elu") return of({.kind = Kind::elu, .slope = real(node, "alpha", 1)});
  if (operation == "Gelu") {
    const std::string_view how = node.attribute("approximate").text;
    if (how.empty() || how == "none") return of({.kind = Kind::gelu});
    return how == "tanh" ? std::optional(of({.kind = Kind::gelu_tanh})) : std::nullopt;
  }
  if (operation == "Selu") {
    auto selu = of({.kind = Kind::elu, .slope = real(node, "alpha", 1.67326319217681884765625F)});
    selu.scale = real(node, "gamma", 1.05070102214813232421875F);
    return selu;
  }
  if (operation == "Celu") {  // alpha · elu(z / alpha)
    auto celu = of({.kind = Kind::elu, .slope = 1});
    celu.scale = real(node, "alpha", 1);
    if (!(celu.scale > 0)) return std::nullopt;
    celu.inner_scale = 1 / celu.scale;
    return celu;
  }
  if (operation == "HardSigmoid") {
    auto hard = of({.kind = Kind::clip, .low = 0, .high = 1});
    hard.inner_scale = real(node, "alpha", 0.2F);
    hard.inner_shift = real(node, "beta", 0.5F);
    return hard;
  }
  return std::nullopt;
}

// The other input of a commutative operation with a constant, which goes into `constant`.
std::optional<std::string_view> beside(const OnnxConstants& constants, const OnnxNode* node,
                                       std::string_view operation, double& constant) {
  if (node == nullptr || node->operation != operation || !onnx_own(*node) || node->inputs.size() != 2)
    return std::nullopt;
  for (const std::size_t which : {1, 0}) {
    const auto number = constants.number(node->inputs[which]);
    if (!number) continue;
    constant = *number;
    return node->inputs[1 - which];
  }
  return std::nullopt;
}

// 1 + erf(z · factor): the factor, and z.
std::optional<std::string_view> one_and_erf(const OnnxGraph& graph, const OnnxConstants& constants,
                                            const OnnxNode* node, double& factor) {
  double one = 0;
  const auto erf = beside(constants, node, "Add", one);
  const OnnxNode* const inner = erf ? graph.maker(*erf) : nullptr;
  if (one != 1 || inner == nullptr || inner->operation != "Erf" || !onnx_own(*inner) ||
      inner->inputs.size() != 1)
    return std::nullopt;
  const OnnxNode* const scaled = graph.maker(inner->inputs.front());
  if (const auto z = beside(constants, scaled, "Mul", factor)) return z;
  if (scaled == nullptr || scaled->operation != "Div" || !onnx_own(*scaled) || scaled->inputs.size() != 2)
    return std::nullopt;
  const auto divisor = constants.number(scaled->inputs[1]);
  if (!divisor || *divisor == 0) return std::nullopt;
  factor = 1 / *divisor;
  return scaled->inputs.front();
}

// z · sigmoid(z), and z · (1 + erf(z / √2)) with a half before or after it.
std::optional<OnnxActivation> of_product(const OnnxGraph& graph, const OnnxConstants& constants,
                                         const OnnxNode& node) {
  for (const std::size_t which : {0, 1}) {
    const std::string_view other = node.inputs[1 - which];
    const OnnxNode* const factor = graph.maker(node.inputs[which]);
    if (factor == nullptr || factor->inputs.empty()) continue;
    if (factor->operation == "Sigmoid" && onnx_own(*factor) && factor->inputs.front() == other)
      return OnnxActivation{other, {.kind = Kind::silu}};
    double inner = 1, outer = 1;
    const auto z = one_and_erf(graph, constants, factor, inner);
    if (!z) continue;
    if (*z != other && beside(constants, graph.maker(other), "Mul", outer) != z) continue;
    // Φ takes z·√2·inner: what is rounded in the graph's constant is kept.
    const double scale = std::numbers::sqrt2 * inner;
    return OnnxActivation{*z, {.kind = Kind::gelu}, scale, 0, 2 * outer / scale};
  }
  return std::nullopt;
}

}  // namespace

std::optional<OnnxActivation> onnx_activation(const OnnxGraph& graph, const OnnxConstants& constants,
                                              const OnnxNode& node) {
  const bool microsoft = node.domain == "com.microsoft" && node.operation == "Gelu";
  if ((!onnx_own(node) && !microsoft) || node.inputs.empty()) return std::nullopt;
  if (node.operation == "Clip") return clip(constants, node);
  if (node.operation == "PRelu") return prelu(constants, node);
  if (node.operation == "Mul" && node.inputs.size() == 2) return of_product(graph, constants, node);
  return node.inputs.size() == 1 ? single(node) : std::nullopt;
}

}  // namespace harmonia
