#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../src/model/dense_activation.hpp"
#include "harmonia/ball/ball.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/model/dense_network.hpp"

namespace harmonia::test {

/// Random weights of the usual size, for layers of these widths.
inline harmonia::DenseNetwork random_dense(const std::vector<std::size_t>& widths,
                                           const DenseActivation& activation, std::uint64_t seed = 1) {
  harmonia::DenseNetwork network;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    DenseLayer& layer = network.layers.emplace_back();
    layer.inputs = widths[l];
    layer.outputs = widths[l + 1];
    std::vector<float> weights(layer.inputs * layer.outputs), bias(layer.outputs);
    normals({.seed = seed, .row = l}, weights);
    normals({.seed = seed, .row = l, .sample = 1}, bias);
    for (float& weight : weights) weight *= std::sqrt(2.0F / static_cast<float>(layer.inputs));
    for (float& value : bias) value *= 0.1F;
    layer.weights.assign(weights.begin(), weights.end());
    layer.bias.assign(bias.begin(), bias.end());
    if (l + 2 < widths.size()) layer.activation = activation;
  }
  return network;
}

/// The coordinates of every point of a ball as a network sees them, in the order of units and points; the row
/// itself comes first.
inline Matrix<double> points_of(const RowBall& ball) {
  const std::size_t n = ball.x().size(), each = ball.shape().points();
  Matrix<double> points(1 + ball.shape().units * each, n);
  std::vector<float> point(n);
  for (std::size_t j = 0; j < n; ++j) points.row(0)[j] = static_cast<double>(static_cast<float>(ball.x()[j]));
  for (std::uint64_t unit = 0; unit < ball.shape().units; ++unit) {
    for (std::size_t p = 0; p < each; ++p) {
      const RowBall::Place place = ball.place(unit, p);
      ball.fill(place, point);
      if (place.own != RowBall::Place::kNone)
        point[place.own] = static_cast<float>(ball.own_coordinate(place));
      std::copy(point.begin(), point.end(), points.row(1 + unit * each + p));
    }
  }
  return points;
}

/// The network's last sums, in single precision: the plain loop that a black box is. Activations are rounded
/// once, which no black box does better.
inline std::vector<float> float_answer(const harmonia::DenseNetwork& network, const double* x) {
  std::vector<float> in(x, x + network.inputs()), out;
  for (const DenseLayer& layer : network.layers) {
    out.assign(layer.outputs, 0.0F);
    for (std::size_t k = 0; k < layer.outputs; ++k) {
      for (std::size_t i = 0; i < layer.inputs; ++i)
        out[k] += static_cast<float>(layer.weights[k * layer.inputs + i]) * in[i];
      out[k] += static_cast<float>(layer.bias[k]);
      out[k] = static_cast<float>(activated(layer.activation, static_cast<double>(out[k])));
    }
    std::swap(in, out);
  }
  return in;
}

}  // namespace harmonia::test
