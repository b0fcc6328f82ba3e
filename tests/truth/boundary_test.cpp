#include <gtest/gtest.h>

#include <cmath>

#include "harmonia/measure/gamma.hpp"
#include "support/functions.hpp"

// Sharp boundaries: mean gamma = r · mean|v·n̂| · jump · length / area, for every ball [Kersting 2024, section
// 6].
namespace harmonia {
namespace {

using test::RowFunction;

BallOptions ball_of(const std::string& name, double radius) {
  BallOptions ball = parse_ball(name);
  ball.radius = radius;
  return ball;
}

// Sixteen directions, evenly around the half circle, and their opposites: no direction is preferred.
BallOptions round_ball(double radius) {
  BallOptions ball;
  ball.kind = BallKind::listed;
  ball.radius = radius;
  ball.directions.resize(16, 2);
  for (std::size_t k = 0; k < 16; ++k) {
    ball.directions.row(k)[0] = std::cos(M_PI * (static_cast<double>(k) + 0.3) / 16);
    ball.directions.row(k)[1] = std::sin(M_PI * (static_cast<double>(k) + 0.3) / 16);
  }
  return ball;
}

double mean_gamma(const Model& model, const Matrix<double>& rows, BallOptions ball) {
  GammaOptions options;
  options.ball = std::move(ball);
  harmonia::Run run;
  return *gamma(model, rows.view(), options, run).summary.gamma.mean;
}

// The mean of |v·n̂| over the ball's unit directions, by the ball itself: the cone |x·n̂| seen from its edge.
double mean_reach(const std::string& ball, double angle) {
  const double nx = std::cos(angle), ny = std::sin(angle);
  const RowFunction cone(2, [=](const double* x) { return std::abs(nx * x[0] + ny * x[1]); });
  return mean_gamma(cone, Matrix<double>(1, 2), ball_of(ball, 1));
}

// A step of height `jump` across the line through the origin with normal (cos a, sin a).
RowFunction step(double angle, double jump) {
  const double nx = std::cos(angle), ny = std::sin(angle);
  return RowFunction(2, [=](const double* x) { return nx * x[0] + ny * x[1] > 0 ? jump : 0.0; });
}

// Points across a region of height 1 that lies along the line, in the middle of equal cells: so fine that no
// grid is seen. Along the line nothing changes, so one place is enough.
Matrix<double> across(double angle, std::size_t count) {
  Matrix<double> rows(count, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(count) - 0.5;
    rows.row(i)[0] = u * std::cos(angle) - 0.3 * std::sin(angle);
    rows.row(i)[1] = u * std::sin(angle) + 0.3 * std::cos(angle);
  }
  return rows;
}

constexpr double kDegree = M_PI / 180;

// The closed forms of mean|v·n̂| that the tests below multiply with.
TEST(Boundary, ReachOfTheBalls) {
  EXPECT_NEAR(mean_reach("simplex+anti", 0), 0.643951, 1e-6);
  EXPECT_NEAR(mean_reach("simplex+anti", 90 * kDegree), 0.643951, 1e-6);
  EXPECT_NEAR(mean_reach("simplex+anti", 45 * kDegree), 2.0 / 3, 1e-12);
  EXPECT_NEAR(mean_reach("simplex+anti", -45 * kDegree), std::sqrt(1.0 / 3), 1e-12);
  EXPECT_NEAR(mean_reach("cross", 0), 0.5, 1e-15);
  EXPECT_NEAR(mean_reach("cross", 45 * kDegree), std::sqrt(0.5), 1e-12);
  // |cos| has deviation 0.308 on the circle: three standard errors of 100,000 directions.
  EXPECT_NEAR(mean_reach("random-pairs:100000", 0), 2 / M_PI, 0.003);
}

TEST(Boundary, StraightLineReadsRadiusReachAndJump) {
  const double jump = 2;
  for (const double radius : {0.02, 0.1}) {
    for (const double degrees : {0.0, 17.0, 30.0, 45.0, 63.0, 90.0, 120.0, 135.0}) {
      const double angle = degrees * kDegree;
      for (const char* ball : {"simplex+anti", "cross"}) {
        const double measured = mean_gamma(step(angle, jump), across(angle, 20000), ball_of(ball, radius));
        EXPECT_NEAR(measured / (radius * mean_reach(ball, angle) * jump), 1, 0.01)
            << ball << ", " << degrees << " degrees, radius " << radius;
      }
    }
  }
}

// 64 directions drawn for every row come to the circle's own mean, 2/π. The 5,000 rows that are near have
// gamma with a relative deviation under 0.4: 1 % is more than 1.7 standard errors, and the seed is fixed.
TEST(Boundary, StraightLineReadsTheSameForRandomDirections) {
  const double radius = 0.1, jump = 3;
  for (const double degrees : {0.0, 30.0, 45.0, 100.0}) {
    const double angle = degrees * kDegree;
    const double measured =
        mean_gamma(step(angle, jump), across(angle, 20000), ball_of("random-pairs:64", radius));
    EXPECT_NEAR(measured / (radius * 2 / M_PI * jump), 1, 0.01) << degrees << " degrees";
  }
}

// [Kersting 2024, figure 9]: a boundary that winds reads higher in proportion to its length.
TEST(Boundary, CurvedBoundaryReadsInProportionToItsLength) {
  const double radius = 0.02;
  constexpr std::size_t kWide = 240, kHigh = 480;
  Matrix<double> rows(kWide * kHigh, 2);  // of [−1, 1] × [−0.8, 0.8]
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    rows.row(i)[0] = -1 + 2 * (static_cast<double>(i / kHigh) + 0.5) / kWide;
    rows.row(i)[1] = 0.8 * (-1 + 2 * (static_cast<double>(i % kHigh) + 0.5) / kHigh);
  }
  // Tilted, so that it meets the rows' columns at every height.
  const RowFunction straight(2, [](const double* x) { return x[1] > 0.31 * x[0] ? 1.0 : 0.0; });
  const double per_length = mean_gamma(straight, rows, round_ball(radius)) / (2 * std::hypot(1, 0.31));
  EXPECT_NEAR(per_length / (radius * 2 / M_PI / 3.2), 1, 0.01);
  for (const double waves : {1.0, 2.0, 3.0}) {
    const double height = 0.2, frequency = waves * M_PI;
    const RowFunction sinusoid(
        2, [=](const double* x) { return x[1] > height * std::sin(frequency * x[0]) ? 1.0 : 0.0; });
    double length = 0;
    constexpr int kPieces = 100000;
    for (int i = 0; i < kPieces; ++i) {
      const double x = -1 + 2 * (i + 0.5) / kPieces;
      length += 2.0 / kPieces * std::hypot(1, height * frequency * std::cos(frequency * x));
    }
    EXPECT_NEAR(mean_gamma(sinusoid, rows, round_ball(radius)) / (per_length * length), 1, 0.02)
        << waves << " waves: " << length / 2 << " times as long";
  }
  const RowFunction circle(2, [](const double* x) { return std::hypot(x[0], x[1]) > 0.6 ? 1.0 : 0.0; });
  EXPECT_NEAR(mean_gamma(circle, rows, round_ball(radius)) / (per_length * 2 * M_PI * 0.6), 1, 0.02);
}

}  // namespace
}  // namespace harmonia
