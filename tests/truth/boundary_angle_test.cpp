#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/boundary.hpp"
#include "harmonia/model/function_model.hpp"
#include "support/boundaries.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

struct PlaneCase {
  std::size_t n;
  Scalar scalar;
  NormalMethod method;
  double degrees;  // of the normal
};

class Plane : public testing::TestWithParam<PlaneCase> {};

TEST_P(Plane, CrossingAndNormal) {
  const std::size_t n = GetParam().n;
  const Scalar scalar = GetParam().scalar;
  const NormalMethod method = GetParam().method;
  const double degrees = GetParam().degrees;
  const Vector normal = unit(random_vector(n, 1));
  Vector a = random_vector(n, 2), b = random_vector(n, 3);
  // A lies one below the plane, B two above it.
  const double down = dot(normal, a) + 1, up = dot(normal, b) - 2;
  for (std::size_t j = 0; j < n; ++j) {
    a[j] -= down * normal[j];
    b[j] -= up * normal[j];
  }
  const bool labels = method == NormalMethod::label;
  const Sides model(
      n,
      [&](const double* x) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += normal[j] * x[j];
        return sum;
      },
      scalar, labels);
  const BoundaryResult result = measure(model, a, b, by(method));
  ASSERT_EQ(result.rows.size(), 1U);
  const BoundaryRow& row = result.rows[0];
  EXPECT_EQ(row.outcome, BoundaryOutcome::crossing);
  EXPECT_EQ(row.method, method);
  EXPECT_EQ(row.from, 0);
  EXPECT_EQ(row.to, 1);
  // Rounding of the points moves them across the plane by a few of their last places.
  EXPECT_NEAR(*row.t, 1.0 / 3, scalar == Scalar::float32 ? 3e-7 : 4e-15);
  EXPECT_EQ(std::nextafter(*row.t_low, 2), *row.t_high);
  EXPECT_LT(between(row.normal, normal), degrees);
  EXPECT_GT(dot(row.normal, normal), 0);
  expect_covers(row, angle_with(normal, a, b));
  EXPECT_LT(*row.angle_high - *row.angle_low, 20 * degrees + 0.02);
  const BoundaryCost cost = boundary_cost(by(method), n);
  EXPECT_NEAR(static_cast<double>(row.evaluations),
              static_cast<double>(cost.pair + cost.bisection + (labels ? cost.label : cost.margin)),
              0.2 * static_cast<double>(row.evaluations) + 30);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Plane,
                         testing::Values(PlaneCase{2, Scalar::float64, NormalMethod::margin, 1e-9},
                                         PlaneCase{50, Scalar::float64, NormalMethod::margin, 1e-9},
                                         PlaneCase{784, Scalar::float64, NormalMethod::margin, 1e-9},
                                         PlaneCase{2, Scalar::float32, NormalMethod::margin, 0.001},
                                         PlaneCase{50, Scalar::float32, NormalMethod::margin, 0.001},
                                         PlaneCase{784, Scalar::float32, NormalMethod::margin, 0.001},
                                         PlaneCase{2, Scalar::float64, NormalMethod::label, 0.001},
                                         PlaneCase{50, Scalar::float64, NormalMethod::label, 0.01},
                                         PlaneCase{784, Scalar::float64, NormalMethod::label, 0.05},
                                         PlaneCase{2, Scalar::float32, NormalMethod::label, 0.001},
                                         PlaneCase{50, Scalar::float32, NormalMethod::label, 0.01},
                                         PlaneCase{784, Scalar::float32, NormalMethod::label, 0.05}));

// The normal of a sphere is its radius, at every obliqueness; the interval covers the angle of 200 random
// segments out of the sphere, and is no wider than the step's curvature makes it.
TEST(Crossings, SphereHasRadialNormalsAndIntervalsCover) {
  for (const std::size_t n : {2U, 10U}) {
    const auto f = [n](const double* x) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += x[j] * x[j];
      return std::sqrt(sum) - 1;
    };
    for (const bool labels : {false, true}) {
      const Sides model(n, f, Scalar::float64, labels);
      Vector a, b;
      for (unsigned k = 0; k < 200; ++k) {
        const Vector inside = unit(random_vector(n, 100 + k)), outside = unit(random_vector(n, 400 + k));
        for (const double x : inside) a.push_back(0.9 * x);
        for (const double x : outside) b.push_back(2 * x);
      }
      BoundaryOptions options;
      options.step = 0.02;
      const BoundaryResult result = measure(model, a, b, options);
      ASSERT_EQ(result.rows.size(), 200U);
      EXPECT_EQ(result.summary.pairs_by_crossings, (std::vector<std::size_t>{0, 200}));
      std::size_t covered = 0;
      for (const BoundaryRow& row : result.rows) {
        EXPECT_EQ(row.method, labels ? NormalMethod::label : NormalMethod::margin);
        if (row.outcome == BoundaryOutcome::partial) continue;
        const Vector from(a.begin() + static_cast<long>(row.row * n),
                          a.begin() + static_cast<long>(row.row * n + n));
        const Vector to(b.begin() + static_cast<long>(row.row * n),
                        b.begin() + static_cast<long>(row.row * n + n));
        const double truth = angle_with(row.point, from, to);
        const double slope = 1 / std::tan(truth / kDegrees);
        if (!labels) {
          EXPECT_LT(between(row.normal, unit(row.point)), 0.05);
        }
        if (labels && truth > 20) {
          EXPECT_LT(between(row.normal, unit(row.point)), 0.5 * (1 + slope * slope));
        }
        covered += *row.angle_low <= truth + 1e-7 && truth - 1e-7 <= *row.angle_high ? 1 : 0;
        if (truth > 20) {
          EXPECT_LT(*row.angle_high - *row.angle_low, 5) << truth;
        }
      }
      EXPECT_GE(covered, 196U) << n << labels;
    }
  }
}

TEST(Crossings, AStepThatDoesNotMoveThePointIsRefused) {
  const Sides model(
      2, [](const double* x) { return x[0] + x[1] - 2; }, Scalar::float32);
  for (const NormalMethod method : {NormalMethod::margin, NormalMethod::label}) {
    BoundaryOptions options = by(method);
    options.step = 1e-9;
    EXPECT_THROW(measure(model, {0.25, 1}, {1.75, 1}, options), Error);
  }
}

// Feature y, at 1.5, moves by the step in float32 and not by half of it.
TEST(Crossings, AStepWhoseHalfDoesNotMoveThePointTellsNoAngle) {
  const Sides model(
      2, [](const double* x) { return x[0] + 2 * (x[1] - 1.5); }, Scalar::float32);
  BoundaryOptions options = by(NormalMethod::margin);
  options.step = 8e-8;
  const BoundaryResult result = measure(model, {-1, 1.5}, {2, 1.5}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  ASSERT_TRUE(result.rows[0].angle);
  EXPECT_EQ(*result.rows[0].angle_low, 0);
  EXPECT_EQ(*result.rows[0].angle_high, 90);
}

// A probability that jumps at the boundary, as that of trees, has no slope there: labels find the normal.
TEST(Crossings, AnswersThatJumpAreLeftToTheLabels) {
  const Sides model(
      3, [](const double* x) { return x[0] + 2 * x[1] > 0.3 ? 0.8 : -0.4; }, Scalar::float64);
  const BoundaryResult result = measure(model, {-1, 0, 0}, {1, 0.5, 2});
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].method, NormalMethod::label);
  EXPECT_LT(between(result.rows[0].normal, unit({1, 2, 0})), 0.001);
  // Asked for all the same, the interval owns that nothing is known.
  const BoundaryResult forced = measure(model, {-1, 0, 0}, {1, 0.5, 2}, by(NormalMethod::margin));
  EXPECT_LT(*forced.rows[0].angle_low, 1);
  EXPECT_GT(*forced.rows[0].angle_high, 89);
}

TEST(Crossings, ScalesAreTheUnitOfAngles) {
  const RowFunction model(2, [](const double* x) { return x[0] / 10 + x[1] > 0 ? 1 : 0; });
  BoundaryOptions options;
  options.schema = plain_schema({"x", "y"});
  options.schema[0].scale = 10;
  // In units of the scales the segment is (2, 0) and the normal (1, 1).
  const BoundaryResult result = measure(model, {-10, 0}, {10, 0}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_NEAR(*result.rows[0].angle, 45, 0.001);
  EXPECT_LT(between(result.rows[0].normal, unit({1, 1})), 0.001);
}

// The corner of three classes: where the third one lies, no boundary of the first two is found.
TEST(Crossings, DirectionsWithoutBoundaryAreLeftOut) {
  const RowFunction model(2, [](const double* x) { return x[1] > 0.001 ? 2 : (x[0] > 0 ? 1 : 0); });
  BoundaryOptions options;
  options.step = 0.1;
  const BoundaryResult result = measure(model, {-1, 0}, {1, 0}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].outcome, BoundaryOutcome::partial);
  EXPECT_EQ(result.rows[0].left_out, 1U);
  EXPECT_EQ(*result.rows[0].angle_low, 0);
  EXPECT_EQ(result.summary.angles, 0U);
  // A second pair, far from the corner, is all that the mean is about.
  const BoundaryResult two = measure(model, {-1, 0, -1, -3}, {1, 0, 1, -1}, options);
  ASSERT_EQ(two.rows.size(), 2U);
  EXPECT_EQ(two.summary.angles, 1U);
  EXPECT_EQ(*two.summary.mean, *two.rows[1].angle);
  EXPECT_EQ(two.summary.max_error, two.summary.median_error);
  std::size_t in_histogram = 0;
  for (const std::size_t bin : two.summary.histogram) in_histogram += bin;
  EXPECT_EQ(in_histogram, 1U);
  EXPECT_EQ(two.summary.outcomes[static_cast<std::size_t>(BoundaryOutcome::partial)], 1U);
}

TEST(Crossings, NormalOfANetworkIsItsGradient) {
  constexpr std::size_t pairs = 8, n = 784;
  const Vector a = random_vector(pairs * n, 21), b = random_vector(pairs * n, 22);
  for (const Scalar scalar : {Scalar::float64, Scalar::float32}) {
    const Network model(scalar);
    const BoundaryResult result = measure(model, a, b);
    EXPECT_GE(result.summary.crossings, pairs);
    Vector errors;
    for (const BoundaryRow& row : result.rows) {
      if (!row.t) continue;
      EXPECT_EQ(row.outcome, BoundaryOutcome::crossing);
      ASSERT_EQ(row.method, NormalMethod::margin);
      const Vector gradient = unit(
          model.gradient(row.point, static_cast<std::size_t>(*row.from), static_cast<std::size_t>(*row.to)));
      errors.push_back(between(row.normal, gradient));
      const auto first = static_cast<long>(row.row * n), end = static_cast<long>((row.row + 1) * n);
      expect_covers(row, angle_with(gradient, {a.begin() + first, a.begin() + end},
                                    {b.begin() + first, b.begin() + end}));
    }
    std::sort(errors.begin(), errors.end());
    // In float32 answers are rounded; a kink of the network may lie within the larger step of a few
    // crossings.
    EXPECT_LT(errors[errors.size() / 2], scalar == Scalar::float32 ? 0.03 : 1e-6);
    EXPECT_LT(errors.back(), scalar == Scalar::float32 ? 3 : 1e-6);
  }
}

// Pairs whose angles are drawn from one population; 500 samples of 20 pairs, so that fewer than 452 of 500
// covered happens once in a thousand times if 95 % are.
TEST(Crossings, TheMeanAnglesIntervalCovers) {
  const RowFunction model(2, [](const double* x) { return x[0] > 0 ? 1 : 0; });
  std::mt19937 engine(9);
  std::uniform_real_distribution<double> angle(0.2, std::numbers::pi / 2);
  const double truth = kDegrees * (0.2 + std::numbers::pi / 2) / 2;
  int covered = 0;
  for (int sample = 0; sample < 500; ++sample) {
    Vector a, b;
    for (int i = 0; i < 20; ++i) {
      const double at = angle(engine);
      a.insert(a.end(), {-std::sin(at), -std::cos(at)});
      b.insert(b.end(), {std::sin(at), std::cos(at)});
    }
    BoundaryOptions options;
    options.steps = 3;
    const BoundarySummary summary = measure(model, a, b, options).summary;
    covered += *summary.low <= truth && truth <= *summary.high ? 1 : 0;
  }
  EXPECT_GE(covered, 452);
}

}  // namespace
}  // namespace harmonia
