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

TEST(Crossings, EverySideOfStripesIsFound) {
  // Classes 0 1 2 3 4 by the first feature, and back.
  const RowFunction model(2, [](const double* x) { return std::floor(5 - std::abs(x[0] - 5)); });
  const BoundaryResult result = measure(model, {0.5, 0}, {9.25, 1});
  std::vector<std::array<long long, 2>> chain;
  for (const BoundaryRow& row : result.rows) {
    chain.push_back({*row.from, *row.to});
    EXPECT_NEAR(row.point[0], std::round(row.point[0]), 1e-12);
    EXPECT_NEAR(*row.angle, kDegrees * std::atan2(8.75, 1), 0.001);
    EXPECT_EQ(row.method, NormalMethod::label);
  }
  EXPECT_EQ(chain, (std::vector<std::array<long long, 2>>{
                       {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 3}, {3, 2}, {2, 1}, {1, 0}}));
}

// A third class between two of the points that are looked at shows when the middle meets it.
TEST(Crossings, AThirdClassBetweenTwoPointsMakesTwoCrossings) {
  const RowFunction model(1, [](const double* x) { return x[0] < 0.4 ? 0 : (x[0] < 0.6 ? 7 : 2); });
  BoundaryOptions options;
  options.steps = 1;
  const BoundaryResult result = measure(model, {0}, {1}, options);
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[0].to, 7);
  EXPECT_EQ(result.rows[1].from, 7);
  EXPECT_EQ(*result.rows[0].t_high, 0.4);
  EXPECT_EQ(*result.rows[1].t_high, 0.6);
  EXPECT_EQ(*result.rows[1].angle, 90);
}

TEST(Crossings, MoreThanAreToldApartIsAWarning) {
  const RowFunction model(1, [](const double* x) { return std::floor(x[0] * 3000); });
  BoundaryOptions options = by(NormalMethod::none);
  options.steps = 1;
  const BoundaryResult result = measure(model, {0}, {1}, options);
  EXPECT_EQ(result.rows.size(), 1000U);
  ASSERT_EQ(result.summary.warnings.size(), 1U);
  EXPECT_NE(result.summary.warnings[0].find("left out"), std::string::npos);
  options.steps = 6000;
  const BoundaryResult fine = measure(model, {0}, {1}, options);
  EXPECT_EQ(fine.rows.size(), 3000U);
  EXPECT_TRUE(fine.summary.warnings.empty());
}

TEST(Crossings, NoChangeAndNoSegmentAreOutcomes) {
  const auto ball = make_function_model("ball-class", 2, {{"r", 1}});
  // Both outside, passing by; touching at (0, 1), which is outside; through the ball; the same row.
  const BoundaryResult result = measure(*ball, {-2, 1.5, -2, 1, -2, 0.5, 3, 3}, {2, 1.5, 2, 1, 2, 0.5, 3, 3});
  ASSERT_EQ(result.rows.size(), 5U);
  EXPECT_EQ(result.rows[0].outcome, BoundaryOutcome::none);
  EXPECT_EQ(result.rows[0].from, 0);
  EXPECT_FALSE(result.rows[0].t);
  EXPECT_EQ(result.rows[1].outcome, BoundaryOutcome::none);
  EXPECT_EQ(result.rows[2].outcome, BoundaryOutcome::crossing);
  EXPECT_EQ(result.rows[3].row, 2U);
  EXPECT_NEAR(*result.rows[2].t, (2 - std::sqrt(0.75)) / 4, 1e-15);
  EXPECT_NEAR(*result.rows[3].t, (2 + std::sqrt(0.75)) / 4, 1e-15);
  EXPECT_EQ(result.rows[4].outcome, BoundaryOutcome::equal);
  EXPECT_EQ(result.rows[4].evaluations, 0U);
  EXPECT_EQ(result.summary.pairs_by_crossings, (std::vector<std::size_t>{3, 0, 1}));
  EXPECT_EQ(result.summary.pairs, 4U);
  const RowFunction constant(2, [](const double*) { return 4; });
  EXPECT_EQ(measure(constant, {0, 0}, {1, 1}).rows[0].outcome, BoundaryOutcome::none);
}

TEST(Crossings, LabelsAloneGiveTheSameCrossings) {
  const auto f = [](const double* x) { return std::sin(3 * x[0]) - x[1] / 2; };
  const Vector a{0, 0.1, 0, -0.3}, b{7, 0.3, 6, 0.9};
  const BoundaryResult margin = measure(Sides(2, f, Scalar::float64), a, b),
                       label = measure(Sides(2, f, Scalar::float64, true), a, b);
  ASSERT_EQ(margin.rows.size(), label.rows.size());
  ASSERT_GT(margin.rows.size(), 8U);
  for (std::size_t i = 0; i < margin.rows.size(); ++i) {
    EXPECT_EQ(margin.rows[i].t, label.rows[i].t);
    EXPECT_EQ(margin.rows[i].method, NormalMethod::margin);
    EXPECT_EQ(label.rows[i].method, NormalMethod::label);
    EXPECT_LE(*margin.rows[i].angle_low, *label.rows[i].angle_high);
    EXPECT_GE(*margin.rows[i].angle_high, *label.rows[i].angle_low);
  }
}

TEST(Crossings, TinyAndHugeSegments) {
  for (const double size : {1e-200, 1e-30, 1e200}) {
    const RowFunction model(2, [size](const double* x) { return x[0] + x[1] > 0.25 * size ? 1 : 0; });
    const BoundaryResult result = measure(model, {0, 0}, {size, 0}, by(NormalMethod::none));
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_NEAR(*result.rows[0].t, 0.25, 1e-15);
    BoundaryOptions options;
    options.step = size / 1000;
    EXPECT_NEAR(*measure(model, {0, 0}, {size, 0}, options).rows[0].angle, 45, 0.001);
    if (size != 1e-30) {
      EXPECT_THROW(measure(model, {0, 0}, {size, 0}), Error);  // the squares of the spread are no doubles
    }
  }
}

TEST(Crossings, SegmentsThatNoDoubleHoldsInUnitsOfTheScale) {
  for (const NormalMethod method : {NormalMethod::margin, NormalMethod::label, NormalMethod::none}) {
    const Sides model(
        2, [](const double* x) { return x[0] > 0 ? 1.0 : -1.0; }, Scalar::float64);
    BoundaryOptions options = by(method);
    options.step = 1;
    options.steps = 1;
    options.schema = plain_schema({"x", "y"});
    options.schema[0].scale = options.schema[1].scale = 4;
    const BoundaryResult result = measure(model, {0, 0}, {5e-324, 0}, options);
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_EQ(result.rows[0].outcome, BoundaryOutcome::equal);
    options.schema[0].scale = 1e-100;
    EXPECT_THROW(measure(model, {0, 0}, {1e300, 0}, options), Error);
  }
}

TEST(Crossings, MissingAndFixedFeaturesStay) {
  RowFunction model(3, [](const double* x) {
    EXPECT_TRUE(std::isnan(x[1]));
    return x[0] + x[2] > 0 ? 1 : 0;
  });
  model.info().takes_missing = true;
  const double missing = std::nan("");
  BoundaryOptions options;
  const BoundaryResult result = measure(model, {-1, missing, 0}, {1, missing, 0}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_NEAR(*result.rows[0].angle, 45, 0.001);
  EXPECT_EQ(result.rows[0].normal[1], 0);
  options.schema = plain_schema({"x", "y", "z"});
  options.schema[2].fixed = true;
  const BoundaryResult fixed = measure(model, {-1, missing, 0}, {1, missing, 0}, options);
  EXPECT_EQ(*fixed.rows[0].angle, 90);
  EXPECT_EQ(fixed.rows[0].normal, (Vector{1, 0, 0}));
}

TEST(Crossings, ResultsDoNotDependOnThreadsAndBatches) {
  const Network model(Scalar::float64);
  const Vector a = random_vector(3 * 784, 31), b = random_vector(3 * 784, 32);
  std::vector<BoundaryResult> results;
  for (const std::size_t batch : {0U, 1U, 7U}) {
    harmonia::Run run;
    run.threads = batch == 7 ? 3 : 1;
    BoundaryOptions options;
    options.steps = 20;
    options.batch = batch;
    results.push_back(boundary(model, {a.data(), 3, 784}, {b.data(), 3, 784}, options, run));
  }
  for (const BoundaryResult& other : results) {
    ASSERT_EQ(other.rows.size(), results[0].rows.size());
    for (std::size_t i = 0; i < other.rows.size(); ++i) {
      EXPECT_EQ(other.rows[i].t, results[0].rows[i].t);
      EXPECT_EQ(other.rows[i].normal, results[0].rows[i].normal);
      EXPECT_EQ(other.rows[i].angle_low, results[0].rows[i].angle_low);
    }
  }
}

TEST(Crossings, TheBudgetIsKept) {
  const Sides model(
      4, [](const double* x) { return x[0] + x[1] - 0.3; }, Scalar::float64);
  Vector a, b;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j) {
      a.push_back(0.01 * i);
      b.push_back(1 + 0.1 * j);
    }
  }
  for (const std::uint64_t limit : {1U, 100U, 101U, 150U, 400U, 560U, 700U, 840U, 100000U}) {
    for (const NormalMethod method : {NormalMethod::margin, NormalMethod::label}) {
      harmonia::Run run{.seed = 1, .threads = 1, .ledger = Ledger(limit), .progress = {}, .stop = {}};
      const BoundaryResult result = boundary(model, {a.data(), 5, 4}, {b.data(), 5, 4}, by(method), run);
      EXPECT_LE(run.ledger.spent(), limit);
      EXPECT_EQ(result.rows.size(), 5U);
      std::uint64_t sum = 0;
      for (const BoundaryRow& row : result.rows) {
        sum += row.evaluations;
        if (row.outcome == BoundaryOutcome::crossing) {
          EXPECT_LT(between(row.normal, unit({1, 1, 0, 0})), 0.01);
        } else {
          EXPECT_EQ(row.outcome, BoundaryOutcome::budget);
          EXPECT_FALSE(row.angle);
        }
      }
      EXPECT_EQ(sum, run.ledger.spent());
      if (limit == 100000) {
        EXPECT_EQ(result.rows[4].outcome, BoundaryOutcome::crossing);
      }
      if (limit == 100) {
        EXPECT_FALSE(result.rows[0].t);
      }
    }
  }
}

}  // namespace
}  // namespace harmonia
