#include "ray_surrogate.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <utility>

#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kAcross = 64;  // values that stand for the distribution of the length across the slope

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
  across_.assign(n > 1 ? kAcross : 1, 0.0);
  if (n == 1) return;
  const boost::math::chi_squared squares(static_cast<double>(n - 1));
  for (std::size_t i = 0; i < kAcross; ++i)
    across_[i] = boost::math::quantile(squares, (static_cast<double>(i) + 0.5) / kAcross);
}

double RaySurrogate::inverse_exit(std::span<const double> z) const {
  double sum = bend_ * length(z);
  for (std::size_t j = 0; j < z.size(); ++j) sum += slope_[j] * z[j];
  return sum;
}

double RaySurrogate::kept(double sigma) const {
  double sum = 0;
  for (const double across : across_) sum += share_below(steepness_, bend_, across, 1 / sigma);
  return sum / static_cast<double>(across_.size());
}

}  // namespace harmonia
