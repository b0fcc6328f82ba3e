#include "ray_surrogate.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <utility>

#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

// Normal numbers that stand for all: the rule of the trapezoid, whose error is out of sight for smooth
// functions.
constexpr int kNodes = 61, kMiddle = 30;
constexpr double kStep = 0.2;

constexpr double kSpreadOfLength = 0.7;  // of a normal vector of many dimensions

double node(int i) { return kStep * (i - kMiddle); }
double weight(int i) { return kStep * std::exp(-node(i) * node(i) / 2) / std::sqrt(2 * M_PI); }

double length(std::span<const double> z) {
  double squares = 0;
  for (const double component : z) squares += component * component;
  return std::sqrt(squares);
}

// Where steepness·u + bend·√(u² + across) is at most `level`, for a normal number u.
double share_below(double steepness, double bend, double across, double level) {
  const auto below = [&](double u) { return steepness * u + bend * std::sqrt(u * u + across) <= level; };
  // Its ends are among the roots of the squared equation.
  const double a = bend * bend - steepness * steepness, b = steepness * level,
               c = bend * bend * across - level * level;
  constexpr double kFar = 40;
  double first = kFar, second = kFar;
  // b² − a·c, without the difference of what is nearly equal.
  const double inside = bend * bend * (level * level + (steepness * steepness - bend * bend) * across);
  if (std::abs(a) <= 1e-12 * (bend * bend + steepness * steepness)) {
    if (b != 0) first = -c / (2 * b);
  } else if (inside >= 0) {
    const double q = -(b + std::copysign(std::sqrt(inside), b));
    first = q / a;
    second = q != 0 ? c / q : 0;
  }
  if (first > second) std::swap(first, second);
  double share = 0, from = -kFar;
  for (const double root : {first, second, kFar}) {
    const double to = std::clamp(root, -kFar, kFar);
    if (to > from && below((from + to) / 2)) share += normal_cdf(to) - normal_cdf(from);
    from = to;
  }
  return share;
}

}  // namespace

RaySurrogate::RaySurrogate(MatrixView<const double> rays, std::span<const double> inverse_exits) {
  const auto count = static_cast<Eigen::Index>(rays.rows), n = static_cast<Eigen::Index>(rays.columns);
  Eigen::MatrixXd known(count, n + 1);
  Eigen::VectorXd exits(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double* const z = rays.row(static_cast<std::size_t>(i));
    for (Eigen::Index j = 0; j < n; ++j) known(i, j) = z[j];
    known(i, n) = length({z, rays.columns});
    exits(i) = inverse_exits[static_cast<std::size_t>(i)];
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(known);
  const Eigen::VectorXd found = factors.solve(exits);
  slope_.assign(found.data(), found.data() + n);
  bend_ = found(n);
  steepness_ = length(slope_);
  // The residual that a ray would have had if the others alone had been fitted.
  const Eigen::MatrixXd basis = factors.householderQ() * Eigen::MatrixXd::Identity(count, n + 1);
  const Eigen::VectorXd residual = exits - known * found;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double free = std::max(1e-6, 1 - basis.row(i).squaredNorm());
    error_ += std::pow(residual(i) / free, 2) / static_cast<double>(count);
  }
  error_ = std::sqrt(error_);
  dimensions_ = rays.columns;
  if (n == 1) return;
  const boost::math::chi_squared squares(static_cast<double>(n - 1));
  for (int i = 0; i < kNodes; ++i) {
    const double p = normal_cdf(-std::abs(node(i)));
    across_.push_back(node(i) < 0 ? boost::math::quantile(squares, p)
                                  : boost::math::quantile(boost::math::complement(squares, p)));
  }
}

double RaySurrogate::inverse_exit(std::span<const double> z) const {
  double sum = bend_ * length(z);
  for (std::size_t j = 0; j < z.size(); ++j) sum += slope_[j] * z[j];
  return sum;
}

// Over the squared length across the slope if the slope varies most, over the number along it otherwise: what
// is left to integrate is smooth.
double RaySurrogate::kept(double sigma) const {
  const double level = 1 / sigma;
  if (dimensions_ == 1) return share_below(steepness_, bend_, 0, level);
  double sum = 0;
  if (steepness_ >= std::abs(bend_) * kSpreadOfLength) {
    for (int i = 0; i < kNodes; ++i)
      sum += weight(i) * share_below(steepness_, bend_, across_[static_cast<std::size_t>(i)], level);
    return sum;
  }
  const boost::math::chi_squared squares(static_cast<double>(dimensions_ - 1));
  for (int i = 0; i < kNodes; ++i) {
    const double left = level - steepness_ * node(i);  // for bend·√(u² + across)
    const double across = left * left / (bend_ * bend_) - node(i) * node(i);
    const double below = across > 0 ? boost::math::cdf(squares, across) : 0;
    sum += weight(i) * (bend_ > 0 ? (left > 0 ? below : 0) : (left >= 0 ? 1 : 1 - below));
  }
  return sum;
}

}  // namespace harmonia
