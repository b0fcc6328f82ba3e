#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/model/dense_network.hpp"

namespace harmonia {

/// The activation of z.
inline double activated(const DenseActivation& activation, double z) {
  switch (activation.kind) {
    case DenseActivation::Kind::leaky:
      return z > 0 ? z : static_cast<double>(activation.slope) * z;
    case DenseActivation::Kind::clip:
      return std::min(std::max(z, static_cast<double>(activation.low)), static_cast<double>(activation.high));
    case DenseActivation::Kind::tanh:
      return std::tanh(z);
    case DenseActivation::Kind::sigmoid:
      return 0.5 + 0.5 * std::tanh(0.5 * z);
    default:
      return z;
  }
}

/// The slope of its tangent at z; at a kink, of the piece below.
inline double slope_at(const DenseActivation& activation, double z) {
  switch (activation.kind) {
    case DenseActivation::Kind::leaky:
      return z > 0 ? 1 : static_cast<double>(activation.slope);
    case DenseActivation::Kind::clip:
      return z > static_cast<double>(activation.low) && z <= static_cast<double>(activation.high) ? 1 : 0;
    case DenseActivation::Kind::tanh: {
      const double t = std::tanh(z);
      return (1 - t) * (1 + t);
    }
    case DenseActivation::Kind::sigmoid: {
      const double t = std::tanh(0.5 * z);
      return 0.25 * (1 - t) * (1 + t);
    }
    default:
      return 1;
  }
}

/// How far z is from the next kink of an activation of straight pieces.
inline double kink_distance(const DenseActivation& activation, double z) {
  switch (activation.kind) {
    case DenseActivation::Kind::leaky:
      return std::abs(z);
    case DenseActivation::Kind::clip:
      return std::min(std::abs(z - static_cast<double>(activation.low)),
                      std::abs(z - static_cast<double>(activation.high)));
    default:
      return std::numeric_limits<double>::infinity();
  }
}

/// How far the activation at z + delta is from its tangent at z; of straight pieces, 0 if no kink is between.
inline double bend_between(const DenseActivation& activation, double z, double delta) {
  const double there = z + delta;
  switch (activation.kind) {
    case DenseActivation::Kind::leaky: {
      if ((z > 0) == (there > 0)) return 0;
      const double rest = 1 - static_cast<double>(activation.slope);
      return z > 0 ? -rest * there : rest * there;
    }
    case DenseActivation::Kind::clip: {
      const double low = activation.low, high = activation.high;
      if (slope_at(activation, z) > 0) return std::max(low - there, 0.0) + std::min(high - there, 0.0);
      return activated(activation, there) - activated(activation, z);
    }
    default:
      return 0;
  }
}

/// The most by which the activation stretches a difference.
inline double stretch_of(const DenseActivation& activation) {
  return activation.kind == DenseActivation::Kind::leaky
             ? std::max(1.0, std::abs(static_cast<double>(activation.slope)))
             : 1;
}

}  // namespace harmonia
