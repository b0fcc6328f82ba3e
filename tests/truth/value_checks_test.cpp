#include "harmonia/core/value_checks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace harmonia {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ValueChecks, AboveIsTheComparison) {
  const std::vector<double> sizes{0,   std::numeric_limits<double>::denorm_min(), 0.1,      1,
                                  1.5, std::numeric_limits<double>::max(),        kInfinity};
  for (const double a : sizes)
    for (const double b : sizes) EXPECT_EQ(is_above(a, b), a > b ? 1U : 0U) << a << " and " << b;
  for (const double b : sizes) EXPECT_EQ(is_above(kNan, b), 1U) << b;
}

TEST(ValueChecks, CountsByDistanceFromZero) {
  const std::vector<double> values{-3, 0.5, kNan, -kInfinity, 2, -kNan, -0.0, kInfinity, 1};
  EXPECT_EQ(count_nan(values), 2U);
  EXPECT_EQ(count_above(values, std::numeric_limits<double>::max()), 4U);
  EXPECT_EQ(count_above(values, 1), 6U);
  EXPECT_EQ(count_nan({}), 0U);
}

}  // namespace
}  // namespace harmonia
