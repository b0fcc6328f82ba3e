#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harmonia/model/dense_network.hpp"

namespace harmonia {

/// 1 / (1 + e^-z).
inline double sigmoid(double z) { return 0.5 + 0.5 * std::tanh(0.5 * z); }

/// The normal distribution's Φ(z) and its density.
inline double normal_share(double z) { return 0.5 * std::erfc(-z * std::numbers::sqrt2 / 2); }
inline double normal_density(double z) {
  return std::exp(-0.5 * z * z) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// What gelu_tanh takes tanh of, and its slope.
inline double gelu_argument(double z) {
  return std::numbers::sqrt2 * std::numbers::inv_sqrtpi * (z + 0.044715 * z * z * z);
}
inline double gelu_argument_slope(double z) {
  return std::numbers::sqrt2 * std::numbers::inv_sqrtpi * (1 + 3 * 0.044715 * z * z);
}

/// What hard_swish multiplies z by.
inline double hard_share(double z) { return std::clamp(z / 6 + 0.5, 0.0, 1.0); }

/// The activation of z.
inline double activated(const DenseActivation& activation, double z) {
  using Kind = DenseActivation::Kind;
  switch (activation.kind) {
    case Kind::leaky:
      return z > 0 ? z : activation.slope * z;
    case Kind::clip:
      return std::min(std::max(z, activation.low), activation.high);
    case Kind::tanh:
      return std::tanh(z);
    case Kind::sigmoid:
      return sigmoid(z);
    case Kind::elu:
      return z > 0 ? z : activation.slope * std::expm1(z);
    case Kind::softplus:
      return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    case Kind::silu:
      return z * sigmoid(z);
    case Kind::gelu:
      return z * normal_share(z);
    case Kind::gelu_tanh:
      return z * (0.5 + 0.5 * std::tanh(gelu_argument(z)));
    case Kind::hard_swish:
      return z * hard_share(z);
    default:
      return z;
  }
}

/// The slope of its tangent at z; at a kink, of the piece below.
inline double slope_at(const DenseActivation& activation, double z) {
  using Kind = DenseActivation::Kind;
  switch (activation.kind) {
    case Kind::leaky:
      return z > 0 ? 1 : activation.slope;
    case Kind::clip:
      return z > activation.low && z <= activation.high ? 1 : 0;
    case Kind::tanh: {
      const double t = std::tanh(z);
      return (1 - t) * (1 + t);
    }
    case Kind::sigmoid: {
      const double t = std::tanh(0.5 * z);
      return 0.25 * (1 - t) * (1 + t);
    }
    case Kind::elu:
      return z > 0 ? 1 : activation.slope * std::exp(z);
    case Kind::softplus:
      return sigmoid(z);
    case Kind::silu:
      return sigmoid(z) * (1 + z * sigmoid(-z));
    case Kind::gelu:
      return normal_share(z) + z * normal_density(z);
    case Kind::gelu_tanh: {
      const double t = std::tanh(gelu_argument(z));
      return 0.5 + 0.5 * t + 0.5 * z * (1 - t) * (1 + t) * gelu_argument_slope(z);
    }
    case Kind::hard_swish:
      return z > -3 && z < 3 ? z / 3 + 0.5 : hard_share(z);
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
      return std::min(std::abs(z - activation.low), std::abs(z - activation.high));
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
      const double rest = 1 - activation.slope;
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

/// The most by which an activation of straight pieces stretches a difference.
inline double stretch_of(const DenseActivation& activation) {
  return activation.kind == DenseActivation::Kind::leaky ? std::max(1.0, std::abs(activation.slope)) : 1;
}

}  // namespace harmonia
