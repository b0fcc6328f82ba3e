#include "boundary_normal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kPointsTogether = std::size_t{1} << 15;

}  // namespace

std::vector<double> unit(std::vector<double> v) {
  // By the largest first, so that no square is too large or too small for a double.
  double largest = 0, squares = 0;
  for (const double x : v) {
    if (!std::isfinite(x)) return {};
    largest = std::max(largest, std::abs(x));
  }
  if (largest == 0) return {};
  for (double& x : v) {
    x /= largest;
    squares += x * x;
  }
  for (double& x : v) x /= std::sqrt(squares);
  return v;
}

void offset_point(const NormalSite& site, std::span<const double> direction, double length,
                  std::span<double> point) {
  std::copy(site.x.begin(), site.x.end(), point.begin());
  for (std::size_t i = 0; i < site.moved.size(); ++i)
    point[site.moved[i]] += length * direction[i] * site.scale[i];
}

double in_type(double value, Scalar scalar) {
  return scalar == Scalar::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

double feature_step(const NormalSite& site, std::size_t i, double step, Scalar scalar) {
  const double x = site.x[site.moved[i]], move = step * site.scale[i];
  const double taken = (in_type(x + move, scalar) - in_type(x - move, scalar)) / site.scale[i];
  if (taken == 0) {
    throw Error(ErrorCode::usage,
                fmt::format("step {}: feature {} at {} does not change by it in {}; expected a larger one",
                            step, site.moved[i], x, scalar == Scalar::float32 ? "float32" : "float64"));
  }
  return taken;
}

double estimates_error(std::span<const double> angles) {
  if (std::any_of(angles.begin(), angles.end(), [](double angle) { return std::isnan(angle); }))
    return std::numbers::pi / 2;
  const auto [least, most] = std::minmax_element(angles.begin(), angles.end());
  return 2 * (*most - *least);
}

void find_normals(PointAsker& asker, std::span<NormalSite> sites, NormalMethod method, double step,
                  const std::function<void()>& tell) {
  const ModelInfo& model = asker.model().info();
  const bool automatic = method == NormalMethod::automatic;
  const bool margins = model.outputs > 1 || model.binary;
  for (std::size_t first = 0; first < sites.size();) {
    std::size_t end = first, points = 0;
    while (end < sites.size() && (end == first || points < kPointsTogether))
      points += 2 * sites[end++].moved.size();
    const std::span<NormalSite> group = sites.subspan(first, end - first);
    if (method == NormalMethod::margin || (automatic && margins))
      margin_normals(asker, group, automatic, step);
    if (method != NormalMethod::margin) label_normals(asker, group, step);
    first = end;
    tell();
  }
}

}  // namespace harmonia
