#include "harmonia/data/convex_hull.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace harmonia {
namespace {

using Points = std::vector<std::vector<double>>;

Matrix<double> matrix(const Points& points) {
  Matrix<double> all(points.size(), points[0].size());
  for (std::size_t i = 0; i < points.size(); ++i) std::copy(points[i].begin(), points[i].end(), all.row(i));
  return all;
}

bool inside(const ConvexHull& hull, const std::vector<double>& x) { return hull.contains(x); }

TEST(ConvexHull, OfASquare) {
  const ConvexHull hull(matrix({{0, 0}, {4, 0}, {0, 2}, {4, 2}, {1, 1}, {2, 1.5}}));
  for (const std::vector<double>& x : Points{{2, 1}, {0, 0}, {4, 2}, {2, 0}, {4, 1}, {0.001, 1.999}}) {
    EXPECT_TRUE(inside(hull, x)) << x[0] << ' ' << x[1];
  }
  for (const std::vector<double>& x : Points{{-1e-6, 1}, {2, 2.00001}, {5, 5}, {4.0001, 0}, {1e300, 1}}) {
    EXPECT_FALSE(inside(hull, x)) << x[0] << ' ' << x[1];
  }
  EXPECT_FALSE(inside(hull, {std::numeric_limits<double>::quiet_NaN(), 1}));
}

// A point outside of the hull and inside of its box.
TEST(ConvexHull, OfATriangleFarFromTheOrigin) {
  const ConvexHull hull(matrix({{1e6, 1e-6}, {1e6 + 1, 1e-6}, {1e6, 3e-6}}));
  EXPECT_TRUE(inside(hull, {1e6 + 0.25, 1.5e-6}));
  EXPECT_TRUE(inside(hull, {1e6 + 0.5, 2e-6}));
  EXPECT_FALSE(inside(hull, {1e6 + 0.5, 2.001e-6}));
  EXPECT_FALSE(inside(hull, {1e6 + 0.999, 2.9e-6}));
}

TEST(ConvexHull, OfFlatAndSinglePoints) {
  const ConvexHull line(matrix({{0, 0, 5}, {1, 1, 5}, {2, 2, 5}}));
  EXPECT_TRUE(inside(line, {0.5, 0.5, 5}));
  EXPECT_FALSE(inside(line, {0.5, 0.6, 5}));
  EXPECT_FALSE(inside(line, {0.5, 0.5, 5.1}));
  const ConvexHull one(matrix({{3, 4}}));
  EXPECT_TRUE(inside(one, {3, 4}));
  EXPECT_FALSE(inside(one, {3, 4.0001}));
  const ConvexHull range(matrix({{3}, {-1}, {2}}));
  EXPECT_TRUE(inside(range, {-1}));
  EXPECT_TRUE(inside(range, {2.5}));
  EXPECT_FALSE(inside(range, {3.1}));
}

// In 2-D the answer is known by the turns along the border (Andrew's monotone chain).
bool by_turns(Points points, const std::vector<double>& x) {
  std::sort(points.begin(), points.end());
  const auto turn = [](const auto& a, const auto& b, const auto& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  };
  Points border;
  for (int side = 0; side < 2; ++side) {
    const std::size_t start = border.size();
    for (const auto& point : points) {
      while (border.size() >= start + 2 && turn(border[border.size() - 2], border.back(), point) <= 0)
        border.pop_back();
      border.push_back(point);
    }
    border.pop_back();
    std::reverse(points.begin(), points.end());
  }
  for (std::size_t i = 0; i < border.size(); ++i) {
    if (turn(border[i], border[(i + 1) % border.size()], x) < 0) return false;
  }
  return true;
}

TEST(ConvexHull, AgreesWithTheBorderInThePlane) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  int inside_count = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Points points;
    for (int i = 0; i < 5 + 20 * repeat; ++i) points.push_back({normal(generator), 100 * normal(generator)});
    const ConvexHull hull(matrix(points));
    for (int i = 0; i < 200; ++i) {
      const std::vector<double> x{1.5 * normal(generator), 150 * normal(generator)};
      const bool expected = by_turns(points, x);
      EXPECT_EQ(inside(hull, x), expected) << x[0] << ' ' << x[1];
      inside_count += expected ? 1 : 0;
    }
    for (const auto& point : points) EXPECT_TRUE(inside(hull, point));
  }
  EXPECT_GT(inside_count, 1000);
  EXPECT_LT(inside_count, 3500);
}

// The cross-polytope Σ|x| <= 1 and the cube |x| <= 1, in many dimensions.
TEST(ConvexHull, OfKnownBodies) {
  std::mt19937 generator(8);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {3, 8, 30}) {
    Points cross;
    for (std::size_t j = 0; j < n; ++j) {
      cross.emplace_back(n, 0.0);
      cross.back()[j] = 1;
      cross.emplace_back(n, 0.0);
      cross.back()[j] = -1;
    }
    const ConvexHull hull(matrix(cross));
    for (int i = 0; i < 100; ++i) {
      std::vector<double> x(n);
      double size = 0;
      for (double& value : x) size += std::abs(value = normal(generator));
      for (double& value : x) value /= size;
      EXPECT_TRUE(inside(hull, x)) << n;
      for (double& value : x) value *= 1 - 1e-6;
      EXPECT_TRUE(inside(hull, x)) << n;
      for (double& value : x) value *= 1 + 3e-6;
      EXPECT_FALSE(inside(hull, x)) << n;
    }
  }
  Points cube;
  for (std::size_t corner = 0; corner < 256; ++corner) {
    cube.emplace_back();
    for (std::size_t j = 0; j < 8; ++j) cube.back().push_back((corner >> j & 1U) != 0 ? 1 : -1);
  }
  const ConvexHull hull(matrix(cube));
  std::uniform_real_distribution<double> uniform(-1.05, 1.05);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> x(8);
    for (double& value : x) value = uniform(generator);
    const bool expected = std::all_of(x.begin(), x.end(), [](double value) { return std::abs(value) <= 1; });
    EXPECT_EQ(inside(hull, x), expected);
  }
}

}  // namespace
}  // namespace harmonia
