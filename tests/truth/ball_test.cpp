#include "harmonia/ball/ball.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonia/ball/quadrature.hpp"
#include "harmonia/ball/rotations.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

BallOptions ball_of(const std::string& text, double radius = 1) {
  BallOptions options = parse_ball(text);
  options.radius = radius;
  return options;
}

// All points around x, as displacements.
std::vector<std::vector<double>> displacements(const RowBall& ball) {
  std::vector<std::vector<double>> all;
  std::vector<double> point(ball.x().size()), u(point.size());
  for (std::uint64_t unit = 0; unit < ball.shape().units; ++unit) {
    for (std::size_t p = 0; p < ball.shape().points(); ++p) {
      const RowBall::Place place = ball.place(unit, p);
      if (place.dense) {
        ball.direction(unit, u);
        ball.fill_dense(place, u, point);
      } else {
        ball.fill(place, point);
        if (place.own != RowBall::Place::kNone) point[place.own] = ball.own_coordinate(place);
      }
      all.push_back(point);
      for (std::size_t j = 0; j < point.size(); ++j) all.back()[j] -= ball.x()[j];
    }
  }
  return all;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// Unit length, zero sum, second moment I/n: a design of strength 2.
void expect_design(const std::vector<std::vector<double>>& points, std::size_t n, double tolerance) {
  const auto count = static_cast<double>(points.size());
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (const auto& v : points) sum += v[i];
    EXPECT_NEAR(sum / count, 0, tolerance);
    for (std::size_t j = 0; j < n; ++j) {
      double moment = 0;
      for (const auto& v : points) moment += v[i] * v[j];
      EXPECT_NEAR(moment / count, i == j ? 1 / static_cast<double>(n) : 0, tolerance);
    }
  }
  for (const auto& v : points) EXPECT_NEAR(dot(v, v), 1, tolerance * static_cast<double>(n));
}

TEST(Ball, SimplexIsRegular) {
  for (const std::size_t n : {1, 2, 3, 10, 100}) {
    const Ball ball(ball_of("simplex"), {}, 1);
    const std::vector<double> x(n);
    const auto points = displacements(RowBall(ball, x, 0));
    ASSERT_EQ(points.size(), n + 1);
    expect_design(points, n, 1e-15);
    for (std::size_t k = 0; k < points.size(); ++k) {
      for (std::size_t l = 0; l < k; ++l)
        EXPECT_NEAR(dot(points[k], points[l]), -1 / static_cast<double>(n), 1e-14);
    }
  }
}

TEST(Ball, EveryDeterministicBallIsADesign) {
  for (const char* name : {"anti", "simplex+anti", "cross", "rotated:3", "rademacher", "one-hot"}) {
    for (const std::size_t n : {2, 3, 7, 12}) {
      SCOPED_TRACE(name);
      const Ball ball(ball_of(name), {}, 1);
      const std::vector<double> x(n);
      expect_design(displacements(RowBall(ball, x, 0)), n, 1e-14);
    }
  }
}

TEST(Ball, ABallAboveTheHaarLimitIsADesignToo) {
  const std::size_t n = Rotations::kHaarLimit + 3;
  const Rotations rotations(1, 1, n);
  std::vector<double> a(n), b(n);
  rotations.image(0, 5, a);
  rotations.image(0, n - 1, b);
  EXPECT_NEAR(dot(a, a), 1, 1e-12);
  EXPECT_NEAR(dot(b, b), 1, 1e-12);
  EXPECT_NEAR(dot(a, b), 0, 1e-12);
  for (const double component : a) EXPECT_LT(std::abs(component), 8 / std::sqrt(static_cast<double>(n)));
}

// Haar: a fixed vector's image is uniform on the sphere, and the determinant takes both signs. Each moment at
// five standard errors over 4000 rotations.
TEST(Ball, RotationsAreHaar) {
  const std::size_t n = 3, count = 4000;
  const Rotations rotations(7, count, n);
  double first[3][3] = {}, second[3][3] = {}, fourth = 0, mixed = 0;
  int positive = 0;
  for (std::size_t k = 0; k < count; ++k) {
    double q[3][3];
    for (std::size_t j = 0; j < n; ++j) rotations.image(k, j, {q[j], n});
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        first[i][j] += q[i][j] / count;
        second[i][j] += q[i][j] * q[i][j] / count;
      }
    }
    fourth += std::pow(q[0][0], 4) / count;
    mixed += q[0][0] * q[0][0] * q[1][1] * q[1][1] / count;
    const double determinant = q[0][0] * (q[1][1] * q[2][2] - q[1][2] * q[2][1]) -
                               q[0][1] * (q[1][0] * q[2][2] - q[1][2] * q[2][0]) +
                               q[0][2] * (q[1][0] * q[2][1] - q[1][1] * q[2][0]);
    EXPECT_NEAR(std::abs(determinant), 1, 1e-14);
    positive += determinant > 0 ? 1 : 0;
  }
  const double error = 1 / std::sqrt(static_cast<double>(count));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_NEAR(first[i][j], 0, 5 * error * std::sqrt(1.0 / 3));
      EXPECT_NEAR(second[i][j], 1.0 / 3, 5 * error * std::sqrt(4.0 / 45));
    }
  }
  EXPECT_NEAR(fourth, 0.2, 5 * error * std::sqrt(1.0 / 9 - 0.04));
  EXPECT_NEAR(mixed, 2.0 / 15, 5 * error * 0.17);  // E q11² q22² = (n+1)/((n−1)n(n+2))
  EXPECT_NEAR(positive, count / 2.0, 5 * std::sqrt(count / 4.0));
}

TEST(Ball, RandomDirectionsAreFreshForEveryRowAndUnit) {
  const Ball ball(ball_of("random:4"), {}, 1);
  const std::vector<double> x(5);
  const auto one = displacements(RowBall(ball, x, 0)), other = displacements(RowBall(ball, x, 1));
  for (const auto& v : one) EXPECT_NEAR(dot(v, v), 1, 1e-12);
  EXPECT_NE(one[0], one[1]);
  EXPECT_NE(one[0], other[0]);
  const auto again = displacements(RowBall(ball, x, 0));
  EXPECT_EQ(one, again);
}

TEST(Ball, MeanLengthOfTheSumOfRandomVectors) {
  for (const auto& [n, expected] : {std::pair{2, 1.273}, std::pair{10, 3.090}, std::pair{50, 7.038}}) {
    const Ball ball(ball_of("random:" + std::to_string(n)), {}, 3);
    const std::vector<double> x(static_cast<std::size_t>(n));
    double total = 0;
    const int repeats = 4000;
    for (int row = 0; row < repeats; ++row) {
      std::vector<double> sum(x.size());
      for (const auto& v : displacements(RowBall(ball, x, static_cast<std::uint64_t>(row)))) {
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += v[j];
      }
      total += std::sqrt(dot(sum, sum));
    }
    // The sum's length spreads by about half its mean: five standard errors.
    EXPECT_NEAR(total / repeats, expected, 5 * 0.55 * expected / std::sqrt(static_cast<double>(repeats)));
  }
}

TEST(Ball, GaussianSecondMomentIsThatOfTheSphere) {
  const Ball ball(ball_of("gaussian:20000"), {}, 3);
  const std::vector<double> x(4);
  double square = 0;
  const auto points = displacements(RowBall(ball, x, 0));
  for (const auto& v : points) square += dot(v, v) / static_cast<double>(points.size());
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / 4 / 20000));
}

TEST(Ball, SolidRuleIntegratesEvenPowers) {
  for (const std::size_t n : {1, 2, 3, 10, 1000, 1000000}) {
    std::vector<double> t, w;
    solid_ball_rule(n, 3, t, w);
    for (int power = 0; power <= 10; power += 2) {
      double sum = 0;
      for (std::size_t i = 0; i < t.size(); ++i) sum += w[i] * std::pow(t[i], power);
      const auto size = static_cast<double>(n);
      EXPECT_NEAR(sum, size / (size + power), 1e-13) << "n = " << n << ", power " << power;
    }
  }
}

TEST(Ball, MissingAndFixedFeaturesStay) {
  Schema schema = plain_schema({"a", "b", "c", "d"});
  schema[1].fixed = true;
  const std::vector<double> x{1, 2, kNan, 4};
  for (const char* name :
       {"simplex+anti", "cross", "rotated:2", "rademacher", "random-pairs:5", "gaussian:5"}) {
    const Ball ball(ball_of(name, 0.5), schema, 1);
    const RowBall row(ball, x, 0);
    EXPECT_EQ(row.moved(), 2U);
    for (const auto& v : displacements(row)) {
      EXPECT_EQ(v[1], 0);
      EXPECT_TRUE(std::isnan(v[2]));
    }
  }
}

TEST(Ball, IntegersStepByWholeNumbersAtLeastOne) {
  Schema schema = plain_schema({"a", "b"});
  schema[0].integer = true;
  const std::vector<double> x{3, 0.5};
  for (const double radius : {0.05, 0.9, 2.3}) {
    const Ball ball(ball_of("cross", radius), schema, 1);
    const auto points = displacements(RowBall(ball, x, 0));
    const double step = std::max(1.0, std::round(radius));
    EXPECT_EQ(points[0][0], step);
    EXPECT_EQ(points[1][0], -step);
    EXPECT_EQ(points[2][0], 0);
    EXPECT_NEAR(points[2][1], radius, 1e-15);
  }
}

TEST(Ball, BoundsCutStepsShortOnBothSidesAlike) {
  Schema schema = plain_schema({"a", "b"});
  schema[0].lower = 0;
  schema[0].upper = 10;
  const std::vector<double> x{0.25, 5};
  for (const char* name : {"cross", "simplex+anti", "random-pairs:50", "rotated:4"}) {
    const Ball ball(ball_of(name, 1), schema, 1);
    const RowBall row(ball, x, 0);
    EXPECT_EQ(row.shortened(), 1U);
    const auto points = displacements(row);
    for (std::size_t i = 0; i < points.size(); i += 2) {
      EXPECT_LE(std::abs(points[i][0]), 0.25);
      EXPECT_NEAR(points[i][0], -points[i + 1][0], 1e-15);
    }
  }
}

TEST(Ball, ARowOutsideItsBoundsIsAnError) {
  Schema schema = plain_schema({"age"});
  schema[0].lower = 0;
  const Ball ball(ball_of("cross"), schema, 1);
  const std::vector<double> x{-1};
  try {
    const RowBall row(ball, x, 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "row 7, feature age: -1 is outside its bounds [0, inf]");
  }
}

TEST(Ball, NamesReadBack) {
  for (const char* name : {"simplex", "anti", "simplex+anti", "cross", "rotated:4", "rademacher",
                           "rademacher:9", "random:3", "random-pairs:3", "gaussian:64"}) {
    EXPECT_EQ(ball_name(parse_ball(name)), name);
  }
  for (const char* bad :
       {"", "ball", "cross:3", "rotated", "rotated:", "rotated:0", "rotated:-1", "random:1e3", "listed"}) {
    EXPECT_THROW(parse_ball(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace harmonia
