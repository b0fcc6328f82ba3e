#include "harmonia/measure/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harmonia/core/error.hpp"
#include "harmonia/data/generated_source.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/scan.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using test::RowFunction;
using Radii = std::vector<double>;

TEST(Radii, AreReadInManyWays) {
  EXPECT_EQ(parse_radii("0.5"), Radii{0.5});
  EXPECT_EQ(parse_radii("1..2x3"), (Radii{1, 1.5, 2}));
  EXPECT_EQ(parse_radii("3, 1,2,1"), (Radii{1, 2, 3}));
  EXPECT_EQ(parse_radii("1..2x2,4"), (Radii{1, 2, 4}));
  const Radii log = parse_radii("log:0.001..1x4");
  ASSERT_EQ(log.size(), 4U);
  EXPECT_EQ(log.front(), 0.001);
  EXPECT_NEAR(log[1], 0.01, 1e-16);
  EXPECT_EQ(log.back(), 1);
}

TEST(Radii, WhatIsNoRadiusIsSaid) {
  test::expect_error(
      ErrorCode::usage,
      "radii '0..1x5': 0 is no radius; expected LOW..HIGHxCOUNT, log:LOW..HIGHxCOUNT or numbers "
      "above 0",
      [] { parse_radii("1,0..1x5"); });
  for (const char* text : {"", "0", "-1", "nan", "inf", "1..", "1..2", "1..2x1", "2..1x3", "1..2x3x", "log:1",
                           "1,,2", "a..bx3", "1..2x99999", "1..infx3"}) {
    EXPECT_THROW(parse_radii(text), Error) << text;
  }
}

SweepResult sweep_of(const Model& model, const std::string& grid, const std::string& radii,
                     std::size_t sample = 0) {
  const auto data = open_grid(grid, {});
  harmonia::Run run;
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  options.sample = sample;
  return sweep(model, *data, parse_radii(radii), options, run);
}

TEST(Sweep, SmoothCurvatureGrowsAsTheSquare) {
  const RowFunction model(2, [](const double* x) { return x[0] * x[0] + x[1] * x[1]; });
  const SweepResult result = sweep_of(model, "grid:0..1x10,0..1x10", "0.1,0.2,0.4");
  ASSERT_EQ(result.points.size(), 3U);
  EXPECT_NEAR(*result.points[2].summary.gamma.mean, 0.16, 1e-14);
  ASSERT_TRUE(result.growth);
  EXPECT_NEAR(result.growth->value, 2, 1e-12);
  EXPECT_NEAR(*result.growth->low, 2, 1e-9);
  EXPECT_NEAR(*result.growth->high, 2, 1e-9);
  EXPECT_EQ(result.evaluations, 3U * 100 * 5);
}

TEST(Sweep, ASharpBoundaryGrowsAsTheRadius) {
  const RowFunction model(2, [](const double* x) { return x[0] > 0.5003 ? 1.0 : 0.0; });
  const SweepResult result = sweep_of(model, "grid:0..1x2001,0..1x3", "log:0.02..0.2x6");
  ASSERT_TRUE(result.growth);
  EXPECT_NEAR(result.growth->value, 1, 0.01);
  EXPECT_LT(*result.growth->low, 1);
  EXPECT_GT(*result.growth->high, 1);
}

TEST(Sweep, NoGrowthWhereThereIsNone) {
  const RowFunction flat(2, [](const double*) { return 1.0; });
  EXPECT_FALSE(sweep_of(flat, "grid:0..1x3,0..1x3", "0.1,0.2").growth);
  const RowFunction model(2, [](const double* x) { return x[0] * x[0] + x[1] * x[1]; });
  EXPECT_FALSE(sweep_of(model, "grid:0..1x3,0..1x3", "0.1").growth);
}

// A step that rows, drawn afresh in 1,000 repeats, are near or not: the exponent of the population is between
// the ends. A true 95 % falls below 93 % with probability 0.003.
TEST(Coverage, OfTheGrowth) {
  constexpr int kRepeats = 1000;
  const RowFunction model(2, [](const double* x) { return x[0] > 0 ? 1.0 : 0.0; });
  const Radii radii{0.1, 0.2, 0.4, 0.8};
  // Of a normal row, the chance to be within r of the boundary is erf(r/√2); the slope of its logarithm.
  double centre = 0, squares = 0, truth = 0;
  for (const double r : radii) centre += std::log(r) / 4;
  for (const double r : radii) squares += std::pow(std::log(r) - centre, 2);
  for (const double r : radii)
    truth += (std::log(r) - centre) / squares * std::log(std::erf(r / std::sqrt(2)));
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  int covered = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::mt19937 generator(static_cast<unsigned>(repeat) + 1);
    std::normal_distribution<double> normal;
    Matrix<double> x(300, 2);
    for (std::size_t i = 0; i < x.rows(); ++i) x.row(i)[0] = normal(generator);
    const auto data = make_memory_source(x.view());
    harmonia::Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
    const SweepResult result = sweep(model, *data, radii, options, run);
    ASSERT_TRUE(result.growth);
    covered += *result.growth->low <= truth && truth <= *result.growth->high ? 1 : 0;
  }
  EXPECT_GE(covered, 930);
  RecordProperty("coverage", std::to_string(covered));
}

}  // namespace
}  // namespace harmonia
