#include "harmonia/ball/quadrature.hpp"

#include <cmath>

namespace harmonia {
namespace {

// Recurrence of the monic polynomials orthogonal on [0, 2] with weight (2 − y)^(n/2−1), y = 1 − x where x is
// Jacobi's variable, so that nodes near the surface (y near 0) keep their digits when n is large:
// p_{k+1}(y) = (y − centre_k) p_k(y) − coupling_k p_{k−1}(y).
struct Recurrence {
  double beta;

  double centre(double k) const {
    const double s = 2 * k + beta;
    if (k == 0) return 2 / (beta + 2);
    return (4 * k * k + 4 * k * beta + 4 * k + 2 * beta) / (s * (s + 2));
  }
  double coupling(double k) const {
    const double s = 2 * k + beta;
    return 4 * k * k * (k + beta) * (k + beta) / (s * s * (s + 1) * (s - 1));
  }
};

// Roots of p_count below y: sign changes of the Sturm sequence p_0, p_1, …, p_count at y.
std::size_t roots_below(const Recurrence& r, std::size_t count, double y) {
  std::size_t below = 0;
  double ratio = 1;
  for (std::size_t k = 0; k < count; ++k) {
    const auto index = static_cast<double>(k);
    const double step = r.centre(index) - y;
    ratio = k == 0 ? step : step - r.coupling(index) / ratio;
    if (ratio == 0) ratio = 1e-300;
    if (ratio < 0) ++below;
  }
  return below;
}

}  // namespace

void solid_ball_rule(std::size_t n, std::size_t count, std::vector<double>& nodes,
                     std::vector<double>& weights) {
  const Recurrence r{static_cast<double>(n) / 2 - 1};
  nodes.resize(count);
  weights.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    double low = 0, high = 2;
    for (int halving = 0; halving < 200; ++halving) {
      const double middle = low + (high - low) / 2;
      (roots_below(r, count, middle) > i ? high : low) = middle;
    }
    const double y = low;
    // The weight is 1 / Σ (orthonormal polynomials at the node)².
    double previous = 0, value = 1, norm = 1, sum = 1;
    for (std::size_t k = 0; k + 1 < count; ++k) {
      const auto index = static_cast<double>(k);
      const double next = (y - r.centre(index)) * value - (k == 0 ? 0 : r.coupling(index)) * previous;
      previous = value;
      value = next;
      norm *= r.coupling(index + 1);
      sum += value * value / norm;
    }
    nodes[i] = std::sqrt(1 - y / 2);
    weights[i] = 1 / sum;
  }
}

}  // namespace harmonia
