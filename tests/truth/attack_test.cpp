#include "harmonia/search/attack.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

#include "harmonia/core/error.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/model/function_model.hpp"
#include "harmonia/search/attack_study.hpp"
#include "support/attacked.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using test::attacked;
using test::expect_error;
using test::RowFunction;

Matrix<double> row_of(std::vector<double> values) {
  Matrix<double> x(1, values.size());
  std::copy(values.begin(), values.end(), x.row(0));
  return x;
}

// Two classes: the first one's output is offset − Σ w_j x_j, the other's 0.
RowFunction linear(std::vector<double> weights, double offset) {
  const std::size_t n = weights.size();
  return {n, 2, [weights = std::move(weights), offset](const double* x, double* y) {
            y[0] = offset;
            for (std::size_t j = 0; j < weights.size(); ++j) y[0] -= weights[j] * x[j];
            y[1] = 0;
          }};
}

AttackOptions by(AttackMethod method, double radius, std::size_t steps) {
  AttackOptions options;
  options.method = method;
  options.radius = radius;
  options.steps = steps;
  return options;
}

void expect_equal(const std::vector<AttackRow>& a, const std::vector<AttackRow>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].row, b[i].row);
    EXPECT_EQ(a[i].success, b[i].success);
    EXPECT_EQ(a[i].steps, b[i].steps);
    EXPECT_EQ(a[i].evaluations, b[i].evaluations);
    EXPECT_EQ(a[i].adversarial, b[i].adversarial);
    EXPECT_EQ(a[i].path.size(), b[i].path.size());
  }
}

// All weights are 1 and every step of 1 takes 1 off, so that 4.5 takes just five features.
TEST(Attack, GammaTakesAsManyFeaturesAsALinearMarginNeeds) {
  const RowFunction model = linear(std::vector<double>(100, 1.0), 4.5);
  const auto rows = attacked(model, Matrix<double>(3, 100), by(AttackMethod::gamma, 1, 25));
  for (const AttackRow& row : rows) {
    EXPECT_EQ(row.outcome, AttackOutcome::changed);
    EXPECT_EQ(row.first_class, 0);
    EXPECT_EQ(row.new_class, 1);
    EXPECT_EQ(row.steps, 5U);
    EXPECT_EQ(row.changed, 5U);
    EXPECT_DOUBLE_EQ(row.first_logit, 4.5);
    EXPECT_DOUBLE_EQ(row.last_logit, -0.5);
    EXPECT_DOUBLE_EQ(row.distortion_l2, std::sqrt(5.0 / 100));
    EXPECT_DOUBLE_EQ(row.distortion_linf, 1);
  }
}

TEST(Attack, NoFeatureIsTakenTwiceAndBoundsHoldExactly) {
  const RowFunction model = linear(std::vector<double>(40, 1.0), 1e6);
  AttackOptions options = by(AttackMethod::gamma, 0.7, 25);
  options.lower = -0.25;
  options.upper = 0.5;
  for (const AttackMethod method : {AttackMethod::gamma, AttackMethod::random, AttackMethod::nes}) {
    options.method = method;
    for (const AttackRow& row : attacked(model, Matrix<double>(4, 40), options)) {
      EXPECT_FALSE(row.success);
      for (const double v : row.adversarial) EXPECT_TRUE(v >= -0.25 && v <= 0.5) << v;
      std::set<std::size_t> features;
      for (const AttackStep& step : row.path) {
        if (step.feature) {
          EXPECT_TRUE(features.insert(*step.feature).second);
        }
      }
      if (method != AttackMethod::nes) {
        EXPECT_EQ(row.changed, 25U);
      }
      if (method == AttackMethod::gamma) {
        // A linear function has no gamma; of all features alike, each goes where the output falls.
        EXPECT_EQ(row.path.size(), 25U);
        EXPECT_DOUBLE_EQ(row.distortion_linf, 0.5);
      }
    }
  }
}

TEST(Attack, ASearchEndsWhereNoFeatureIsLeft) {
  const RowFunction model = linear({1, 1, 1}, 100);
  const auto rows = attacked(model, Matrix<double>(1, 3), by(AttackMethod::gamma, 1, 25));
  EXPECT_EQ(rows[0].outcome, AttackOutcome::stuck);
  EXPECT_EQ(rows[0].changed, 3U);
  EXPECT_EQ(rows[0].last_logit, 97);
}

// Features that were moved are known by flags, so that a search of 3,000 takes no longer than its calls.
TEST(Attack, ALongSearchMovesEveryFeatureOnce) {
  const std::size_t features = 3000;
  const RowFunction model(features, 2, [](const double* x, double* y) {
    y[0] = 1e6 - x[0];
    y[1] = 0;
  });
  AttackOptions options = by(AttackMethod::gamma, 1, features);
  options.candidates = 1;
  const AttackRow row = attacked(model, Matrix<double>(1, features), options)[0];
  std::set<std::size_t> moved;
  for (const AttackStep& step : row.path) moved.insert(step.feature.value());
  EXPECT_EQ(row.path.size(), features);
  EXPECT_EQ(moved.size(), features);
  EXPECT_EQ(row.changed, features);
}

// Of 100 features with weights 1 to 100 all are tried, and the largest are taken: 100 + 99 + 98 > 250.
TEST(Attack, GreedyTakesTheFeaturesThatWeighMost) {
  std::vector<double> weights(100);
  std::iota(weights.begin(), weights.end(), 1.0);
  const RowFunction model = linear(weights, 250);
  AttackOptions options = by(AttackMethod::greedy, 1, 25);
  options.candidates = 40;  // with 6 · 10 that gamma would spend: all 100
  const AttackRow row = attacked(model, Matrix<double>(1, 100), options)[0];
  ASSERT_EQ(row.path.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(row.path[i].feature, 99 - i);
  EXPECT_EQ(row.evaluations, 1U + 200 + 198 + 196);
}

TEST(Attack, GoingOnTakesAllSteps) {
  const RowFunction model = linear(std::vector<double>(100, 1.0), 4.5);
  AttackOptions options = by(AttackMethod::gamma, 1, 25);
  options.go_on = true;
  const AttackRow row = attacked(model, Matrix<double>(1, 100), options)[0];
  EXPECT_TRUE(row.success);
  EXPECT_EQ(row.steps, 5U);
  EXPECT_EQ(row.path.size(), 25U);
  EXPECT_DOUBLE_EQ(row.last_logit, 4.5 - 25);
  EXPECT_EQ(attacked_row(row, options, 25), row.adversarial);
  EXPECT_EQ(attacked_row(row, options, 0), row.original);
}

// Of 200 features one decides. A search finds it only if it draws it, and then at once.
TEST(Attack, OneFeatureThatDecidesIsTakenAtOnce) {
  std::vector<double> weights(200, 0.0);
  weights[7] = 1;
  const RowFunction model = linear(weights, 0.5);
  AttackOptions options = by(AttackMethod::gamma, 1, 25);
  options.candidates = 200;
  const AttackRow row = attacked(model, Matrix<double>(1, 200), options)[0];
  ASSERT_EQ(row.path.size(), 1U);
  EXPECT_EQ(row.path[0].feature, 7U);
  EXPECT_EQ(row.path[0].change, 1);
  EXPECT_LE(row.evaluations, 401U);
}

// Each try holds the deciding feature with probability 25/1000, moved the right way with 1/2.
TEST(Attack, RandomFindsTheOneFeatureAsOftenAsChanceHasIt) {
  std::vector<double> weights(1000, 0.0);
  weights[7] = 1;
  const RowFunction model = linear(weights, 0.5);
  AttackOptions options = by(AttackMethod::random, 1, 25);
  options.candidates = 2;  // 25 · (4 + 12) = 400 calls: 376 tries
  const auto rows = attacked(model, Matrix<double>(400, 1000), options);
  std::size_t first_wave = 0;
  for (const AttackRow& row : rows) {
    if (!row.success) continue;
    // Found among the first 64 tries: the row, 64 tries, and the walk of 24.
    first_wave += row.evaluations == 1 + 64 + 24 ? 1 : 0;
    EXPECT_EQ(row.path.back().feature, 7U);
    EXPECT_EQ(row.steps, row.path.size());
    EXPECT_EQ(row.changed, row.steps);
  }
  // 1 − (1 − 0.0125)^64 = 0.553 of 400 rows; four standard errors: a false alarm in 16,000.
  EXPECT_NEAR(static_cast<double>(first_wave), 400 * 0.553, 4 * std::sqrt(400 * 0.553 * 0.447));
}

TEST(Attack, RandomHasTheCallsOfGamma) {
  const RowFunction model = linear(std::vector<double>(60, 1.0), 1e6);
  for (const bool paper : {false, true}) {
    AttackOptions gamma = by(AttackMethod::gamma, 1, 5), random = by(AttackMethod::random, 1, 5);
    gamma.candidates = random.candidates = 8;
    gamma.paper = random.paper = paper;
    if (paper) gamma.steps = random.steps = 1;
    const std::uint64_t most = attack_cost(gamma, 60);
    EXPECT_EQ(attacked(model, Matrix<double>(1, 60), gamma)[0].evaluations, most);
    // What is kept to walk a set that was found is not spent on a row where none was.
    EXPECT_EQ(attacked(model, Matrix<double>(1, 60), random)[0].evaluations, most - (random.steps - 1));
  }
}

TEST(Attack, ThePapersSearchCostsTheBallAndItsSquare) {
  const RowFunction small = linear(std::vector<double>(10, 1.0), 1e6);
  AttackOptions options = by(AttackMethod::gamma, 1, 3);
  options.paper = true;
  EXPECT_EQ(attacked(small, Matrix<double>(1, 10), options)[0].evaluations, 1U + 3 * (20 + 20 * 20));
  const RowFunction large = linear(std::vector<double>(1001, 1.0), 1e6);
  EXPECT_EQ(attacked(large, Matrix<double>(1, 1001), options)[0].evaluations, 1U + 3 * (20 + 20 * 20));
}

// f is |x0|³: around a point y its gamma over one-hot points of all 2n is about 3|y0|r²/n, so that the
// largest is where x0 moved outwards, every time.
TEST(Attack, ThePapersSearchGoesToTheLargestGamma) {
  const RowFunction model(3, 2, [](const double* x, double* y) {
    y[0] = std::pow(std::abs(x[0]), 3);
    y[1] = 100;
  });
  AttackOptions options = by(AttackMethod::gamma, 1, 4);
  options.paper = true;
  const AttackRow row = attacked(model, row_of({1, 0, 0}), options)[0];
  EXPECT_EQ(row.first_class, 1);
  // The first class is 1, whose output is constant: gamma is 0 everywhere, and the first point is taken.
  EXPECT_EQ(row.last_logit, 100);
  const RowFunction turned(3, 2, [](const double* x, double* y) {
    y[0] = 100 + std::pow(std::abs(x[0]), 3);
    y[1] = 0;
  });
  const AttackRow up = attacked(turned, row_of({1, 0, 0}), options)[0];
  EXPECT_EQ(up.adversarial, (std::vector<double>{5, 0, 0}));
  EXPECT_EQ(up.changed, 1U);
}

// A pair of channels is one pixel: four values, two pixels.
TEST(Attack, AllChannelsOfAPixelMoveTogether) {
  const RowFunction model = linear({0, 0, 0, 1, 1, 1}, 2.5);
  AttackOptions options = by(AttackMethod::gamma, 1, 5);
  options.image = {.height = 1, .width = 2, .channels = 3};
  const AttackRow row = attacked(model, Matrix<double>(1, 6), options)[0];
  EXPECT_EQ(row.adversarial, (std::vector<double>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(row.path[0].feature, 1U);
  EXPECT_EQ(row.changed, 1U);
  options.image.width = 3;
  expect_error(ErrorCode::usage, "an image of 1x3x3 has 9 values; rows have 6 features",
               [&] { attacked(model, Matrix<double>(1, 6), options); });
}

TEST(Attack, FixedFeaturesStayAndWholeOnesStayWhole) {
  const RowFunction model = linear({10, 1, 1, 1}, 2.2);
  AttackOptions options = by(AttackMethod::gamma, 0.8, 10);
  options.schema = plain_schema({"a", "b", "c", "d"});
  options.schema[0].fixed = true;
  options.schema[1].integer = true;
  options.schema[2].scale = 2;
  options.schema[3].upper = 0.5;
  const AttackRow row = attacked(model, Matrix<double>(1, 4), options)[0];
  // b moves by 1 (0.8 rounded), c by 1.6, d by 0.5 at most.
  EXPECT_EQ(row.adversarial[0], 0);
  EXPECT_TRUE(row.success);
  EXPECT_EQ(row.adversarial[1], std::round(row.adversarial[1]));
  EXPECT_LE(row.adversarial[3], 0.5);
}

// A radius of 0.2 rounds to nothing; a whole feature is moved by 1 all the same, as a ball moves it, and by
// no fraction where it is only measured.
TEST(Attack, ASmallRadiusMovesAWholeFeatureByOne) {
  for (const AttackMethod method :
       {AttackMethod::gamma, AttackMethod::greedy, AttackMethod::random, AttackMethod::nes}) {
    std::atomic<bool> fractions = false;
    const RowFunction model(3, 2, [&](const double* x, double* y) {
      for (std::size_t j = 0; j < 3; ++j) fractions = fractions || x[j] != std::round(x[j]);
      y[0] = 2.5 - x[0] - x[1] - x[2];
      y[1] = 0;
    });
    AttackOptions options = by(method, 0.2, 3);
    options.candidates = method == AttackMethod::nes ? 500 : 20;
    options.schema = plain_schema({"a", "b", "c"});
    for (Feature& feature : options.schema) feature.integer = true;
    const AttackRow row = attacked(model, Matrix<double>(1, 3), options)[0];
    EXPECT_TRUE(row.success) << attack_method_name(method);
    EXPECT_EQ(row.adversarial, (std::vector<double>{1, 1, 1}));
    // Noise of nes is not whole; it is measured alone.
    EXPECT_EQ(fractions, method == AttackMethod::nes);
  }
}

TEST(Attack, AWholeFeatureKeepsWithinBoundsThatAreNotWhole) {
  const RowFunction model = linear({1}, 100);
  for (const AttackMethod method : {AttackMethod::gamma, AttackMethod::nes}) {
    AttackOptions options = by(method, 3, 5);
    options.schema = plain_schema({"a"});
    options.schema[0].integer = true;
    options.schema[0].upper = 2.5;
    EXPECT_EQ(attacked(model, row_of({1}), options)[0].adversarial, std::vector<double>{2});
  }
  AttackOptions near = by(AttackMethod::nes, 3, 5);
  near.schema = plain_schema({"a"});
  near.schema[0].integer = true;
  near.epsilon = 1.6;  // rounded up it would be farther
  const AttackRow row = attacked(model, row_of({1}), near)[0];
  EXPECT_EQ(row.adversarial, std::vector<double>{2});
  EXPECT_LE(row.distortion_linf, 1.6);
}

// The margin is linear, so that estimates from many pairs have the signs of its gradient; every step of 0.1
// in all 20 features takes 2 · 0.1 · 20 / 2 off a margin of Σ w x.
TEST(Attack, NesFindsTheDirectionOfALinearMargin) {
  std::vector<double> weights(20);
  for (std::size_t j = 0; j < 20; ++j) weights[j] = j % 2 == 0 ? 1 : -1;
  const RowFunction model = linear(weights, 3);
  AttackOptions options = by(AttackMethod::nes, 0.1, 25);
  options.candidates = 2000;
  const AttackRow row = attacked(model, Matrix<double>(1, 20), options)[0];
  EXPECT_TRUE(row.success);
  EXPECT_EQ(row.steps, 2U);  // 3 − 2 · 0.1 · 20 < 0
  for (std::size_t j = 0; j < 20; ++j) EXPECT_DOUBLE_EQ(row.adversarial[j], 0.2 * weights[j]);
  options.epsilon = 0.14;  // 3 − 0.14 · 20 > 0
  const AttackRow near = attacked(model, Matrix<double>(1, 20), options)[0];
  EXPECT_FALSE(near.success);
  EXPECT_DOUBLE_EQ(near.distortion_linf, 0.14);
  EXPECT_EQ(near.outcome, AttackOutcome::stuck);
}

// Distances to a plane, 1, and out of a ball of radius 1 from 0.4 off its centre, 0.6, in ten dimensions.
TEST(Attack, BoundaryComesNearTheTrueDistance) {
  const auto plane = make_function_model("half-space", 10, {{"d", 1}});
  AttackOptions options = by(AttackMethod::boundary, 0.1, 40);
  const double root = std::sqrt(10.0);
  for (const AttackRow& row : attacked(*plane, Matrix<double>(8, 10), options)) {
    EXPECT_TRUE(row.success);
    EXPECT_EQ(row.new_class, 0);
    EXPECT_GE(row.distortion_l2 * root, 1);
    EXPECT_LE(row.distortion_l2 * root, 1.03);
    EXPECT_GE(row.adversarial[0], 1);
    for (std::size_t i = 1; i < row.path.size(); ++i)
      EXPECT_LE(row.path[i].distortion_l2, row.path[i - 1].distortion_l2);
  }
  const auto ball = make_function_model("ball-class", 10, {{"r", 1}});
  std::vector<double> x(10);
  x[3] = 0.4;
  const AttackRow row = attacked(*ball, row_of(x), options)[0];
  EXPECT_GE(row.distortion_l2 * root, 0.6);
  EXPECT_LE(row.distortion_l2 * root, 0.6 * 1.05);
  options.epsilon = 0.01;
  const AttackRow far = attacked(*ball, row_of(x), options)[0];
  EXPECT_FALSE(far.success);
  EXPECT_EQ(far.outcome, AttackOutcome::kept);
}

// Far outside of a ball in ten dimensions noise does not find in; another row of the data does.
TEST(Attack, BoundaryStartsFromAnotherRowWhereNoiseFindsNone) {
  const auto ball = make_function_model("ball-class", 10, {{"r", 1}});
  Matrix<double> x(2, 10);
  x.row(0)[0] = 5;
  const auto rows = attacked(*ball, x, by(AttackMethod::boundary, 0.1, 40));
  EXPECT_EQ(rows[0].first_class, 0);
  EXPECT_TRUE(rows[0].success);
  EXPECT_GE(rows[0].distortion_l2 * std::sqrt(10.0), 4);
  EXPECT_LE(rows[0].distortion_l2 * std::sqrt(10.0), 4.1);
}

TEST(Attack, AConstantClassIsNeverChanged) {
  const RowFunction model(5, 2, [](const double*, double* y) {
    y[0] = 1;
    y[1] = 0;
  });
  for (const AttackMethod method :
       {AttackMethod::gamma, AttackMethod::random, AttackMethod::nes, AttackMethod::boundary}) {
    const AttackRow row = attacked(model, Matrix<double>(1, 5), by(method, 1, 3))[0];
    EXPECT_FALSE(row.success);
    EXPECT_EQ(row.new_class, 0);
    const bool searches = method == AttackMethod::gamma || method == AttackMethod::random;
    EXPECT_EQ(row.outcome, searches ? AttackOutcome::kept : AttackOutcome::stuck);
  }
}

TEST(Attack, IsTheSameWhateverTheThreadsAndTheBatch) {
  const RowFunction model(30, 3, [](const double* x, double* y) {
    y[0] = 1;
    y[1] = std::sin(std::accumulate(x, x + 30, 0.0));
    y[2] = x[0] * x[1] + x[2];
  });
  Matrix<double> x(50, 30);
  for (std::size_t i = 0; i < 50; ++i) x.row(i)[i % 30] = 0.01 * static_cast<double>(i);
  for (const AttackMethod method :
       {AttackMethod::gamma, AttackMethod::random, AttackMethod::nes, AttackMethod::boundary}) {
    AttackOptions options = by(method, 0.1, 8);
    const auto one = attacked(model, x, options, 1, 5);
    expect_equal(one, attacked(model, x, options, 4, 5));
    options.batch = 7;
    expect_equal(one, attacked(model, x, options, 3, 5));
  }
}

TEST(Attack, OutOfBudgetRowsAreSaid) {
  const RowFunction model = linear(std::vector<double>(100, 1.0), 1e6);
  const AttackOptions options = by(AttackMethod::gamma, 1, 5);
  const std::uint64_t each = attack_cost(options, 100);
  for (const std::size_t threads : {1, 4}) {
    const auto rows = attacked(model, Matrix<double>(5, 100), options, threads, 1, 2 * each + each / 2);
    ASSERT_EQ(rows.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_EQ(rows[i].outcome, i < 2 ? AttackOutcome::kept : AttackOutcome::budget);
    EXPECT_EQ(rows[4].evaluations, 0U);
  }
}

TEST(Attack, RefusesWhatCannotBeUsed) {
  const RowFunction model = linear({1, 1}, 1);
  const auto refuse = [&](ErrorCode code, const std::string& message, const AttackOptions& options) {
    expect_error(code, message, [&] { attacked(model, Matrix<double>(1, 2), options); });
  };
  refuse(ErrorCode::usage, "steps is 0; expected at least 1", by(AttackMethod::gamma, 1, 0));
  refuse(ErrorCode::usage, "radius is 0; method gamma needs a number above 0", by(AttackMethod::gamma, 0, 1));
  refuse(ErrorCode::usage, "radius is nan; method gamma needs a number above 0",
         by(AttackMethod::gamma, NAN, 1));
  AttackOptions bounds = by(AttackMethod::gamma, 1, 1);
  bounds.lower = 0.5;
  bounds.upper = 2;
  refuse(ErrorCode::input, "row 0, column 0 is 0; expected a value within the bounds, 0.5 to 2", bounds);
  bounds.upper = 0.5;
  refuse(ErrorCode::usage, "bounds are 0.5 and 0.5; expected the lower one to be below", bounds);
  expect_error(ErrorCode::usage,
               "method 'magic' is not known; expected gamma, random, nes, boundary or greedy or, by "
               "gradients, fgsm, rfgsm, bim, mifgsm, pgd, pgd-penalty, cw or lbfgs",
               [] { parse_attack_method("magic"); });
  const RowFunction number(2, [](const double* x) { return x[0] + 0.5; });
  expect_error(ErrorCode::model,
               "output label: model test answered 0.5; a single column must hold whole numbers, or be a "
               "probability (--binary)",
               [&] { attacked(number, Matrix<double>(1, 2), by(AttackMethod::gamma, 1, 1)); });
  const RowFunction label(2, [](const double* x) { return x[0] < 1 ? 1.0 : 0.0; });
  expect_error(ErrorCode::usage,
               "method nes needs the outputs of the classes; model test answers with the class alone; "
               "expected method boundary, or --binary for a probability",
               [&] { attacked(label, Matrix<double>(1, 2), by(AttackMethod::nes, 1, 1)); });
}

// One row in two needs more random luck than there is; gamma takes both kinds.
TEST(AttackStudy, ComparesTwoMethodsOnTheSameRows) {
  std::vector<double> weights(300, 0.01);
  for (std::size_t j = 0; j < 30; ++j) weights[j] = 1;
  const RowFunction model = linear(weights, 8);
  Matrix<double> x(20, 300);
  for (std::size_t i = 10; i < 20; ++i) x.row(i)[0] = 7.9;
  const auto data = make_memory_source(x.view());
  harmonia::Run run;
  std::size_t told = 0;
  const AttackStudy study = attack_study(model, *data, by(AttackMethod::gamma, 1, 25), AttackMethod::random,
                                         0.95, run, [&](const AttackRow&) { ++told; });
  EXPECT_EQ(told, 20U);
  ASSERT_EQ(study.runs.size(), 2U);
  EXPECT_EQ(study.evaluations, run.ledger.spent());
  EXPECT_EQ(study.runs[0].summary.changed, 20U);
  EXPECT_EQ(study.runs[1].summary.changed, 10U);
  ASSERT_TRUE(study.comparison);
  EXPECT_EQ(study.comparison->both, 10U);
  EXPECT_EQ(study.comparison->first_alone, 10U);
  EXPECT_EQ(study.comparison->second_alone, 0U);
  EXPECT_DOUBLE_EQ(study.comparison->difference.difference, 0.5);
  EXPECT_GT(study.comparison->difference.interval.low, 0.2);
  EXPECT_NEAR(study.comparison->difference.p_value, 2 * std::pow(0.5, 10), 1e-12);
  const AttackSummary& gamma = study.runs[0].summary;
  EXPECT_EQ(gamma.curve.back().changed, 20U);
  EXPECT_EQ(gamma.curve.front().step, 1U);
  EXPECT_EQ(gamma.curve.back().step, 25U);
  for (std::size_t i = 1; i < gamma.curve.size(); ++i) {
    EXPECT_LT(gamma.curve[i - 1].step, gamma.curve[i].step);
    const bool end = i + 1 == gamma.curve.size();
    EXPECT_LT(gamma.curve[i - 1].changed, gamma.curve[i].changed + (end ? 1 : 0));
  }
  std::size_t kept = 0;
  for (const AttackRow& row : study.runs[0].rows) kept += row.original.empty() ? 0 : 1;
  EXPECT_EQ(kept, kShownAttacks);
}

}  // namespace
}  // namespace harmonia
