#include "../../src/measure/boundary_normal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace harmonia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BoundaryNormal, OneNanAmongEstimatesTellsNothing) {
  EXPECT_EQ(estimates_error(std::array{0.5, 0.75, 0.5}), 0.5);
  for (std::size_t i = 0; i < 3; ++i) {
    std::array angles{0.5, 0.5, 0.5};
    angles[i] = kNan;
    EXPECT_EQ(estimates_error(angles), std::numbers::pi / 2);
  }
}

TEST(BoundaryNormal, UnitOfWhatHasNoDirectionIsEmpty) {
  EXPECT_EQ(unit({3, -4}), (std::vector<double>{0.6, -0.8}));
  EXPECT_EQ(unit({5e-324, 0}), (std::vector<double>{1, 0}));
  EXPECT_EQ(unit({-1e308, 0}), (std::vector<double>{-1, 0}));
  EXPECT_TRUE(unit({0, 0}).empty());
  EXPECT_TRUE(unit({1, kNan}).empty());
  EXPECT_TRUE(unit({1, -std::numeric_limits<double>::infinity()}).empty());
  EXPECT_TRUE(unit({}).empty());
}

}  // namespace
}  // namespace harmonia
