#include "harmonia/model/dense_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dense_activation.hpp"
#include "dense_link.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

bool finite(double value) { return std::isfinite(static_cast<float>(value)); }

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return finite(value); });
}

}  // namespace

void check_dense(const DenseNetwork& network, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::input, fmt::format("network {}: {}", name, what));
  };
  if (network.layers.empty()) refuse("it has no layers; expected one at least");
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const DenseLayer& layer = network.layers[l];
    if (layer.inputs == 0 || layer.outputs == 0) refuse(fmt::format("layer {} has no inputs or outputs", l));
    if (l > 0 && layer.inputs != network.layers[l - 1].outputs)
      refuse(
          fmt::format("layer {} has {} inputs; expected {}", l, layer.inputs, network.layers[l - 1].outputs));
    if (layer.weights.size() / layer.inputs != layer.outputs || layer.weights.size() % layer.inputs != 0 ||
        layer.bias.size() != layer.outputs) {
      refuse(fmt::format("layer {} has {} weights and {} biases; expected {} × {}, and {}", l,
                         layer.weights.size(), layer.bias.size(), layer.outputs, layer.inputs,
                         layer.outputs));
    }
    const DenseActivation& activation = layer.activation;
    if (!finite(layer.weights) || !finite(layer.bias) || !finite(activation.slope))
      refuse(fmt::format("layer {} has a number that is not finite", l));
    if (activation.kind == DenseActivation::Kind::clip && !(activation.low <= activation.high))
      refuse(fmt::format("layer {} is clipped to [{}, {}]", l, activation.low, activation.high));
  }
  if (network.layers.back().activation.kind != DenseActivation::Kind::identity)
    refuse("its last layer has an activation; expected a link");
}

void evaluate_dense(const DenseNetwork& network, MatrixView<const double> x, MutableRowsView y) {
  std::vector<double> in, out;
  for (std::size_t r = 0; r < x.rows; ++r) {
    in.assign(x.row(r), x.row(r) + x.columns);
    for (const DenseLayer& layer : network.layers) {
      out.assign(layer.bias.begin(), layer.bias.end());
      for (std::size_t k = 0; k < layer.outputs; ++k) {
        const double* const weights = layer.weights.data() + k * layer.inputs;
        for (std::size_t i = 0; i < layer.inputs; ++i) out[k] += weights[i] * in[i];
        out[k] = activated(layer.activation, out[k]);
      }
      std::swap(in, out);
    }
    link_differences(network.link, in, {});
    std::copy(in.begin(), in.end(), y.row(r));
  }
}

}  // namespace harmonia
