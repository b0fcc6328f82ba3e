#include "harmonia/measure/stability.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/scan.hpp"
#include "harmonia/model/function_model.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using test::RowFunction;

Matrix<double> rows_of(const std::vector<std::vector<double>>& values) {
  Matrix<double> x(values.size(), values.front().size());
  for (std::size_t i = 0; i < values.size(); ++i) std::copy(values[i].begin(), values[i].end(), x.row(i));
  return x;
}

StabilityResult measure(const Model& model, const std::vector<std::vector<double>>& values,
                        const StabilityOptions& options, std::uint64_t seed = 1, std::size_t threads = 1,
                        std::uint64_t budget = Ledger::kUnlimited) {
  const Matrix<double> x = rows_of(values);
  const auto data = make_memory_source(x.view());
  harmonia::Run run{.seed = seed, .threads = threads, .ledger = Ledger(budget), .progress = {}, .stop = {}};
  StabilityResult result = stability(model, *data, options, run);
  EXPECT_EQ(result.evaluations, run.ledger.spent());
  EXPECT_LE(run.ledger.spent(), budget);
  return result;
}

StabilityOptions at(std::vector<double> sigmas, std::uint64_t samples = 1000) {
  StabilityOptions options;
  options.sigmas = std::move(sigmas);
  options.samples = samples;
  return options;
}

StabilityOptions asking(double gamma, double sigma, double margin = 0.01) {
  StabilityOptions options = at({sigma});
  options.gamma = gamma;
  options.margin = margin;
  return options;
}

// At the distance d from a half-space's boundary the class has probability Φ(d / sigma). At 100,000 samples
// four standard errors: one of these eight numbers is further off with probability 0.0005.
TEST(Stability, OfAHalfSpaceIsTheNormalDistribution) {
  const auto model = make_function_model("half-space", 3, {{"d", 1}});
  const StabilityResult result = measure(*model, {{0, 0, 0}, {0.5, 7, 7}}, at({0.25, 0.5, 1, 4}, 100000));
  ASSERT_EQ(result.rows.size(), 2U);
  for (const StabilityRow& row : result.rows) {
    const double distance = row.row == 0 ? 1 : 0.5;
    EXPECT_EQ(row.decided_class, 1);
    for (const StabilityPoint& point : row.points) {
      const double p = normal_cdf(distance / point.sigma);
      EXPECT_NEAR(point.probability, p, 4 * std::sqrt(p * (1 - p) / 100000)) << point.sigma;
      EXPECT_LE(point.exact.low, point.wilson.low + 1e-3);
      ASSERT_TRUE(point.certified_radius);
      // The certificate of a half-space is its distance, as far as the samples tell.
      EXPECT_LE(*point.certified_radius, distance + 0.02);
    }
    EXPECT_FALSE(row.takeover);
    EXPECT_EQ(row.background, 1);
  }
  EXPECT_NEAR(*result.rows[0].points[2].certified_radius, 1, 0.02);
  EXPECT_EQ(result.asked_twice.asked, 8U);
  EXPECT_EQ(result.asked_twice.differed, 0U);
  EXPECT_EQ(result.means[2].holding, 2U);
  EXPECT_NEAR(result.means[2].probability,
              (result.rows[0].points[2].probability + result.rows[1].points[2].probability) / 2, 1e-12);
}

// [Cohen 2019]: of 700 of 1,000 samples at alpha = .05 and .001.
TEST(Stability, CertifiedRadiusIsThePublishedFormula) {
  EXPECT_NEAR(normal_quantile(clopper_pearson_low(700, 1000, 0.95)), 0.454447, 1e-6);
  EXPECT_NEAR(normal_quantile(clopper_pearson_low(700, 1000, 0.999)), 0.394711, 1e-6);
}

TEST(Stability, BallNoiseCertifiesNothing) {
  StabilityOptions options = at({0.9, 1.5});
  options.noise.kind = NoiseKind::ball;
  const StabilityResult result = measure(*make_function_model("ball-class", 2), {{0, 0}}, options);
  EXPECT_EQ(result.rows[0].points[0].probability, 1);  // the whole ball is inside
  EXPECT_NEAR(result.rows[0].points[1].probability, 1 / 2.25, 0.07);
  EXPECT_FALSE(result.rows[0].points[0].certified_radius);
}

// Along the boundary the class never changes, however near it is: nothing is known of other points.
TEST(Stability, OtherNoiseThanTheTheoremsCertifiesNothing) {
  const auto model = make_function_model("half-space", 2, {{"d", 1}});
  const auto certified = [&](const NoiseOptions& noise) {
    StabilityOptions options = at({1}, 100);
    options.noise = noise;
    EXPECT_EQ(certifiable(noise),
              measure(*model, {{-5, 0}}, options).rows[0].points[0].certified_radius.has_value());
    return certifiable(noise);
  };
  EXPECT_TRUE(certified({}));
  NoiseOptions along;
  along.directions = rows_of({{0, 1}});
  EXPECT_FALSE(certified(along));
  NoiseOptions plain;
  plain.schema = plain_schema({"x", "y"});
  plain.schema[0].scale = 3;
  EXPECT_TRUE(certified(plain));
  NoiseOptions fixed = plain, whole = plain, bounded = plain;
  fixed.schema[0].fixed = true;
  EXPECT_FALSE(certified(fixed));
  whole.schema[1].integer = true;
  EXPECT_FALSE(certified(whole));
  bounded.schema[1].upper = 9;
  EXPECT_FALSE(certified(bounded));
}

TEST(Noise, ADirectionOfLengthZeroIsRefused) {
  NoiseOptions options;
  options.directions = rows_of({{0, 1}, {0, 0}});
  test::expect_error(ErrorCode::input, "direction 1 has length 0", [&] { Noise(options, 2, 1); });
}

// At least 93 % of 1,000 repeats: a true 95 % falls below that with probability 0.003.
TEST(Stability, IntervalsCoverAsStated) {
  for (const double distance : {0.5, 1.5, 2.5}) {
    const auto model = make_function_model("half-space", 1, {{"d", distance}});
    const double truth = normal_cdf(distance);
    int wilson = 0, exact = 0;
    for (unsigned seed = 1; seed <= 1000; ++seed) {
      const StabilityPoint point = measure(*model, {{0}}, at({1}, 400), seed).rows[0].points[0];
      wilson += point.wilson.low <= truth && truth <= point.wilson.high ? 1 : 0;
      exact += point.exact.low <= truth && truth <= point.exact.high ? 1 : 0;
    }
    EXPECT_GE(wilson, 930) << distance;
    EXPECT_GE(exact, 930) << distance;
  }
}

TEST(Stability, HalfWidthGivesTheSamplesThatItNeeds) {
  StabilityOptions options = at({1});
  options.half_width = 0.03;
  EXPECT_EQ(stability_samples(options), 1064U);
  const Interval widest = wilson_interval(532, 1064, 0.95), wider = wilson_interval(531, 1062, 0.95);
  EXPECT_LE(widest.high - widest.low, 0.06);
  EXPECT_GT(wider.high - wider.low, 0.06);
  const StabilityResult result = measure(*make_function_model("half-space", 1), {{0}}, options);
  EXPECT_EQ(result.rows[0].points[0].samples, 1064U);
}

TEST(Stability, TheMeansIntervalIsOverRows) {
  const auto model = make_function_model("half-space", 1, {{"d", 1}});
  EXPECT_FALSE(measure(*model, {{0}}, at({1}, 100)).means[0].interval);
  // Ten rows that all keep their class: one in twenty samples of ten misses rows that are 26 % of all.
  const std::vector<std::vector<double>> far(10, {-1e6});
  const StabilityMean alike = measure(*model, far, at({1}, 100000)).means[0];
  EXPECT_EQ(alike.probability, 1);
  ASSERT_TRUE(alike.interval);
  EXPECT_NEAR(alike.interval->low, std::pow(0.05, 0.1), 1e-6);
  EXPECT_EQ(alike.interval->high, 1);
  // A long tail to below reaches further down than up.
  std::vector<std::vector<double>> tail = far;
  tail[0] = {1};
  const StabilityMean skewed = measure(*model, tail, at({1}, 100000)).means[0];
  ASSERT_TRUE(skewed.interval);
  EXPECT_GT(skewed.probability - skewed.interval->low, 1.2 * (skewed.interval->high - skewed.probability));
}

TEST(Stability, OfEqualsTheRowsOwnClassIsTheMostFrequent) {
  StabilityPoint point;
  point.frequencies = {{1, 4}, {2, 5}, {3, 5}, {4, 5}};
  EXPECT_EQ(point.most_frequent(3), 3);
  EXPECT_EQ(point.most_frequent(4), 4);
  EXPECT_EQ(point.most_frequent(1), 2);
}

// A ball's class loses to what is around it.
TEST(Stability, TheClassAroundABallTakesOver) {
  const auto model = make_function_model("ball-class", 2, {{"r", 1}});
  StabilityOptions options = at(parse_sigmas("0.1..2x20"), 20000);
  const StabilityResult result = measure(*model, {{0, 0}, {3, 0}}, options);
  const StabilityRow& inside = result.rows[0];
  EXPECT_EQ(inside.decided_class, 1);
  EXPECT_EQ(inside.background, 0);
  // Half of a Gaussian in the plane is within sigma · sqrt(2 ln 2) = 1 for sigma = 0.8493.
  ASSERT_TRUE(inside.takeover);
  EXPECT_NEAR(*inside.takeover, 0.9, 1e-12);
  EXPECT_NEAR(inside.points[9].probability, 1 - std::exp(-0.5), 0.015);
  EXPECT_EQ(result.rows[1].decided_class, 0);
  EXPECT_FALSE(result.rows[1].takeover);
  EXPECT_EQ(result.means.front().holding, 2U);
  EXPECT_EQ(result.means.back().holding, 1U);
}

TEST(Stability, AConstantClassHasNoOther) {
  const RowFunction model(2, [](const double*) { return 7.0; });
  const StabilityResult result = measure(model, {{1, 2}}, at({0.1, 1000}));
  for (const StabilityPoint& point : result.rows[0].points) {
    EXPECT_EQ(point.probability, 1);
    ASSERT_EQ(point.frequencies.size(), 1U);
    EXPECT_EQ(point.frequencies[0], (std::pair<long long, std::uint64_t>{7, 1000}));
  }
  EXPECT_FALSE(result.rows[0].takeover);
}

// Half-space at distance 1: Φ(1) = 0.8413 at sigma 1. Wrong with probability 0.05 at most, each; seeded.
TEST(Stability, QuestionIsAnsweredOnBothSides) {
  const auto model = make_function_model("half-space", 2, {{"d", 1}});
  for (const double gamma : {0.5, 0.7, 0.8, 0.83}) {
    const StabilityPoint point = measure(*model, {{0, 0}}, asking(gamma, 1)).rows[0].points[0];
    EXPECT_EQ(point.outcome, StabilityOutcome::stable) << gamma;
    EXPECT_GT(point.exact.low, gamma);
  }
  for (const double gamma : {0.86, 0.9, 0.99}) {
    const StabilityPoint point = measure(*model, {{0, 0}}, asking(gamma, 1)).rows[0].points[0];
    EXPECT_EQ(point.outcome, StabilityOutcome::unstable) << gamma;
    EXPECT_LT(point.exact.high, gamma);
  }
}

TEST(Stability, WhatIsTooCloseToCallIsBorderlineAndNeverUndecided) {
  const auto model = make_function_model("half-space", 2, {{"d", 1}});
  const double truth = normal_cdf(1);
  int wrong = 0, borderline = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const StabilityPoint point =
        measure(*model, {{0, 0}}, asking(truth - 0.005, 1, 0.02), seed).rows[0].points[0];
    wrong += point.outcome == StabilityOutcome::unstable ? 1 : 0;
    if (point.outcome != StabilityOutcome::borderline) continue;
    ++borderline;
    EXPECT_LE(point.exact.high - point.exact.low, 0.04);
    EXPECT_LE(point.exact.low, truth - 0.005);
    EXPECT_GE(point.exact.high, truth - 0.005);
  }
  EXPECT_LE(wrong, 2);  // 2.5 % are allowed, and far fewer come about
  EXPECT_GE(borderline, 50);
}

TEST(Stability, LooksSettleTheQuestion) {
  for (const double gamma : {0.05, 0.5, 0.7, 0.99}) {
    for (const double margin : {0.2, 0.05, 0.005}) {
      const StabilityLooks plan = stability_looks(gamma, margin, 0.95);
      EXPECT_GE(std::ldexp(static_cast<double>(plan.first), static_cast<int>(plan.looks) - 1),
                static_cast<double>(plan.most));
      const double error = 0.05 / static_cast<double>(plan.looks);
      if (plan.first > 1) {
        // One sample fewer could decide nothing.
        EXPECT_EQ(side_of(plan.first - 1, plan.first - 1, gamma, error), Side::unsure);
        EXPECT_EQ(side_of(0, plan.first - 1, gamma, error), Side::unsure);
      }
      for (std::uint64_t k = 0; k <= plan.most; k += 1 + plan.most / 997) {
        if (side_of(k, plan.most, gamma, error) != Side::unsure) continue;
        const Interval interval = clopper_pearson_interval(k, plan.most, 1 - error);
        EXPECT_LE(interval.high - interval.low, 2 * margin + 1e-12) << gamma << " " << margin << " " << k;
      }
    }
  }
}

void expect_same(const StabilityResult& a, const StabilityResult& b) {
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].decided_class, b.rows[i].decided_class);
    ASSERT_EQ(a.rows[i].points.size(), b.rows[i].points.size());
    for (std::size_t s = 0; s < a.rows[i].points.size(); ++s) {
      EXPECT_EQ(a.rows[i].points[s].frequencies, b.rows[i].points[s].frequencies);
      EXPECT_EQ(a.rows[i].points[s].outcome, b.rows[i].points[s].outcome);
    }
  }
  EXPECT_EQ(a.evaluations, b.evaluations);
}

TEST(Stability, ThreadsAndBatchChangeNothing) {
  const RowFunction model(2, 3, [](const double* x, double* y) {
    y[0] = x[0];
    y[1] = x[1] * x[1] - 0.3;
    y[2] = 0.2 - x[0] * x[1];
  });
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({0.1 * i - 2, 0.07 * i - 1});
  for (const StabilityOptions& asked : {at({0.1, 0.3, 1, 3}, 700), asking(0.8, 0.3)}) {
    const StabilityResult one = measure(model, rows, asked);
    for (const std::size_t threads : {1, 3}) {
      for (const std::size_t batch : {1, 7, 10000}) {
        StabilityOptions options = asked;
        options.batch = batch;
        expect_same(one, measure(model, rows, options, 1, threads));
      }
    }
  }
}

TEST(Stability, ABudgetLeavesRowsWithoutValues) {
  const auto model = make_function_model("half-space", 1);
  const StabilityResult result = measure(*model, {{0}, {0}, {0}, {0}}, at({1, 2}, 100), 1, 1, 450);
  EXPECT_EQ(result.rows[1].points.size(), 2U);
  EXPECT_TRUE(result.rows[2].points.empty());
  EXPECT_FALSE(result.rows[2].decided_class);
  EXPECT_EQ(result.means[0].rows, 2U);
  const StabilityResult asked = measure(*model, {{0}, {0}, {0}}, asking(0.5, 1), 1, 1, 30000);
  EXPECT_EQ(asked.rows[0].points[0].outcome, StabilityOutcome::stable);
  EXPECT_EQ(asked.rows[2].points[0].outcome, StabilityOutcome::stable);  // the first took little
}

TEST(Stability, AnAnswerThatChangesIsSaid) {
  std::atomic<int> calls = 0;
  const RowFunction model(1, [&](const double*) { return static_cast<double>(calls++ % 3); });
  const StabilityResult result = measure(model, {{0}, {1}}, at({1}, 10));
  EXPECT_EQ(result.asked_twice.asked, 8U);
  EXPECT_GT(result.asked_twice.differed, 0U);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("of 8 points asked twice with another class"), std::string::npos);
}

TEST(Stability, PicturesAreTheRowAndItsSamples) {
  StabilityOptions options = at({0.1, 0.2, 0.3, 0.4, 0.5}, 10);
  options.pictures = 3;
  const auto model = make_function_model("half-space", 2);
  const StabilityResult result = measure(*model, {{0, 5}}, options);
  const auto& pictures = result.rows[0].pictures;
  ASSERT_EQ(pictures.size(), 4U);
  EXPECT_EQ(pictures[0].values, (std::vector<double>{0, 5}));
  EXPECT_EQ(pictures[0].sigma, 0);
  EXPECT_EQ(pictures[1].sigma, 0.1);
  EXPECT_EQ(pictures[3].sigma, 0.5);
  // The same displacement at every sigma.
  EXPECT_NEAR(pictures[3].values[0], 5 * pictures[1].values[0], 1e-12);
  EXPECT_EQ(result.evaluations, stability_cost(options, 1));
}

TEST(Stability, WrongOptionsAreRefused) {
  const auto model = make_function_model("half-space", 1);
  const auto fails = [&](const StabilityOptions& options, const char* message) {
    test::expect_error(ErrorCode::usage, message, [&] { measure(*model, {{0}}, options); });
  };
  fails(at({}), "no sigma was given; expected at least one");
  fails(at({0}), "sigma is 0; expected a number above 0");
  fails(at({-1}), "sigma is -1; expected a number above 0");
  fails(at({1, 1}), "sigma 1 is not above 1; expected them to ascend");
  fails(at({1}, 0), "0 samples; expected from 1 to 4294967296");
  fails(asking(0, 1), "gamma is 0; expected between 0 and 1");
  fails(asking(1, 1), "gamma is 1; expected between 0 and 1");
  fails(asking(0.7, 1, 0), "margin is 0; expected between 0 and 1");
  fails(asking(0.7, 1, 1e-6), "margin 1e-06 needs more than 4294967296 samples a row; expected a wider one");
  StabilityOptions narrow = at({1}), sure = at({1}), surer = asking(0.7, 1);
  narrow.half_width = 1e-200;
  fails(narrow, "half-width 1e-200 needs more than 4294967296 samples a row; expected a wider one");
  sure.confidence = surer.confidence = 0.9999999999999999;
  fails(sure, "confidence is 0.9999999999999999; expected between 0 and 1 - 1e-12");
  fails(surer, "confidence is 0.9999999999999999; expected between 0 and 1 - 1e-12");
  sure.confidence = surer.confidence = 1 - kLeastDoubt;
  EXPECT_EQ(measure(*model, {{0}}, sure).rows[0].points.size(), 1U);
  EXPECT_EQ(measure(*model, {{0}}, surer).rows[0].points.size(), 1U);
  fails(
      at({1e308}),
      "a point to ask is infinite in column 0 as a 64-bit number of model fn:half-space?n=1&d=1; expected a "
      "smaller sigma or radius, or data of smaller values");
  StabilityOptions several = asking(0.7, 1);
  several.sigmas = {1, 2};
  fails(several, "gamma asks about one sigma; 2 were given");
  test::expect_error(ErrorCode::input, "data has 2 columns; model fn:half-space?n=1&d=1 expects 1", [&] {
    measure(*model, {{0, 1}}, at({1}));
  });
  test::expect_error(ErrorCode::input,
                     "row 0, column 0 is missing (NaN); model fn:half-space?n=1&d=1 takes no missing values",
                     [&] { measure(*model, {{std::nan("")}}, at({1})); });
}

TEST(Sigmas, AreCalledByTheirName) {
  test::expect_error(
      ErrorCode::usage,
      "sigmas '0..1x5': 0 is no sigma; expected LOW..HIGHxCOUNT, log:LOW..HIGHxCOUNT or numbers above 0",
      [] { parse_sigmas("1,0..1x5"); });
}

}  // namespace
}  // namespace harmonia
