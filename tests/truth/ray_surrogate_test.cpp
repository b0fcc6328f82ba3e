#include "../../src/measure/ray_surrogate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <utility>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

// Normal vectors, and 1/t = exit(z) of each.
template <class Exit>
RaySurrogate learnt(std::size_t rays, std::size_t dimensions, const Exit& exit) {
  Matrix<double> directions(rays, dimensions);
  std::vector<double> exits;
  std::vector<float> z(dimensions);
  for (std::size_t i = 0; i < rays; ++i) {
    normals({.seed = 5, .stream = Stream::noise, .sample = i}, z);
    std::copy(z.begin(), z.end(), directions.row(i));
    exits.push_back(exit(std::span<const double>(directions.row(i), dimensions)));
  }
  return {std::as_const(directions).view(), exits};
}

double across(std::span<const double> z) {
  double squares = 0;
  for (std::size_t j = 1; j < z.size(); ++j) squares += z[j] * z[j];
  return std::sqrt(squares);
}

TEST(RaySurrogate, KnowsAHalfSpace) {
  for (const std::size_t dimensions : {1, 2, 30}) {
    const RaySurrogate surrogate = learnt(dimensions + 5, dimensions, [](auto z) { return -z[0] / 2; });
    EXPECT_LT(surrogate.error(), 1e-9);
    for (const double sigma : {0.5, 2.0, 3.8, 50.0})
      EXPECT_NEAR(surrogate.kept(sigma), normal_cdf(2 / sigma), 1e-9) << dimensions << ' ' << sigma;
    const std::vector<double> z(dimensions, 0.5);
    EXPECT_NEAR(surrogate.inverse_exit(z), -0.25, 1e-9);
  }
}

// math.md: the share is .7 at .569338 and at .218037. The surrogate takes the whole length for the one
// across.
TEST(RaySurrogate, KnowsConesNearly) {
  for (const auto& [degrees, sigma] : {std::pair{80.0, .569338}, std::pair{60.0, .218037}}) {
    const double slope = 1 / std::tan(degrees * M_PI / 180);
    const RaySurrogate surrogate = learnt(80, 50, [&](auto z) { return slope * across(z) - z[0]; });
    EXPECT_NEAR(surrogate.kept(sigma), 0.7, 0.015) << degrees;
  }
}

// A ball around its centre: 1/t = ‖z‖/r, and ‖z‖² is chi-squared.
TEST(RaySurrogate, KnowsABallFromItsCentre) {
  const RaySurrogate surrogate = learnt(60, 50, [](auto z) { return std::hypot(z[0], across(z)) / 5; });
  EXPECT_LT(surrogate.error(), 1e-9);
  EXPECT_NEAR(surrogate.kept(.675905), 0.7, 1e-5);
}

}  // namespace
}  // namespace harmonia
