#include "harmonia/measure/gamma.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/hypergeometric_0F1.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "harmonia/core/error.hpp"
#include "harmonia/model/function_model.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using test::RowFunction;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

GammaOptions options_of(const std::string& ball, double radius = 1) {
  GammaOptions options;
  options.ball = parse_ball(ball);
  options.ball.radius = radius;
  return options;
}

GammaRow measure(const Model& model, std::vector<double> x, const GammaOptions& options) {
  harmonia::Run run;
  return gamma(model, MatrixView<const double>{x.data(), 1, x.size()}, options, run).rows.at(0);
}

TEST(Gamma, SolidAverageOfSquares) {
  for (const std::size_t n : {2, 5, 100}) {
    GammaOptions options = options_of("cross");
    options.ball.average = Average::solid;
    const auto row = measure(*make_function_model("f2", n), std::vector<double>(n, 0.5), options);
    const auto size = static_cast<double>(n);
    EXPECT_NEAR(*row.gamma, size / (size + 2), 1e-12);
    EXPECT_NEAR(*row.laplacian, 2 * size, 1e-9);
    EXPECT_EQ(row.points, 6 * n);
  }
}

// Independent unit vectors estimate the true sphere and ball: f4's values in closed form lie in the
// intervals.
TEST(Gamma, TrueSphereAndBallOfTheExponential) {
  for (const std::size_t n : {2, 10, 50}) {
    for (const Average average : {Average::surface, Average::solid}) {
      GammaOptions options = options_of("random-pairs:20000");
      options.ball.average = average;
      options.confidence = 0.9999;
      const auto row = measure(*make_function_model("f4", n), std::vector<double>(n, 0.0), options);
      const double size = static_cast<double>(n), shift = average == Average::solid ? 1 : 0;
      const double truth = boost::math::hypergeometric_0F1(size / 2 + shift, size / 4) - 1;
      EXPECT_LE(*row.low, truth);
      EXPECT_GE(*row.high, truth);
      EXPECT_NEAR(*row.gamma, truth, 0.02);
    }
  }
}

// Gammas are about 1e200, and doubles hold no squares of them.
TEST(Gamma, OfGammasTooLargeToSquareNoErrorIsKnown) {
  Matrix<double> x(20, 1000);
  for (std::size_t i = 0; i < x.rows(); ++i)
    std::fill_n(x.row(i), x.columns(), 0.4 + 0.01 * static_cast<double>(i));
  GammaOptions options = options_of("cross", 0.01);
  options.sample = 64;
  harmonia::Run run;
  const auto result = gamma(*make_function_model("f4", 1000), x.view(), options, run);
  for (const GammaRow& row : result.rows) {
    EXPECT_TRUE(std::isfinite(*row.gamma));
    for (const auto& number : {row.low, row.high, row.standard_error})
      EXPECT_TRUE(!number || std::isfinite(*number)) << *number;
  }
  const GammaStatistics& all = result.summary.gamma;
  EXPECT_GT(*all.mean, 1e160);
  EXPECT_EQ(all.rms, std::nullopt);
  EXPECT_EQ(all.high, std::nullopt);
  EXPECT_EQ(all.standard_error, std::nullopt);
}

TEST(Gamma, ALinearFunctionHasNone) {
  const RowFunction model(20, [](const double* x) {
    double sum = 3;
    for (int i = 0; i < 20; ++i) sum += (i - 7) * x[i];
    return sum;
  });
  for (const char* ball : {"simplex", "simplex+anti", "cross", "rotated:2", "random-pairs:9", "gaussian:9"}) {
    EXPECT_NEAR(*measure(model, std::vector<double>(20, 0.3), options_of(ball, 0.1)).gamma, 0, 1e-13) << ball;
  }
}

// math.md, section 2: the unpaired sample of one-hot points reads a linear function as 0.178 r‖∇f‖/√n.
TEST(Gamma, TheUnpairedSampleMeasuresTheGradient) {
  const std::size_t n = 10000;
  const RowFunction model(n, [](const double* x) {
    double sum = 0;
    for (std::size_t i = 0; i < 10000; ++i) sum += x[i];
    return sum;
  });
  const std::size_t rows = 400;
  Matrix<double> x(rows, n);
  GammaOptions options = options_of("cross", 0.1);
  options.paper = true;
  harmonia::Run run;
  const auto result = gamma(model, x.view(), options, run);
  EXPECT_EQ(result.rows[0].points, 20U);
  const double expected = std::sqrt(2 / (20 * std::numbers::pi)) * 0.1;  // ‖∇f‖/√n = 1
  EXPECT_NEAR(*result.summary.gamma.mean, expected, 5 * 0.6 * expected / std::sqrt(rows));
  EXPECT_EQ(result.summary.warnings.size(), 1U);
}

TEST(Gamma, ThePaperTakesTheWholeSimplexPairInLowDimension) {
  GammaOptions options = options_of("cross");
  options.paper = true;
  const auto row = measure(*make_function_model("f4", 2), {0.1, 0.2}, options);
  EXPECT_NEAR(*row.gamma / *row.value, .56645574, 1e-7);
}

TEST(Gamma, DeltaHasTheSignOfTheCurvature) {
  const RowFunction hill(3, [](const double* x) { return -(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); });
  const auto row = measure(hill, {0.1, 0.2, 0.3}, options_of("simplex+anti", 0.5));
  EXPECT_NEAR(*row.delta, -0.25, 1e-14);
  EXPECT_NEAR(*row.gamma, 0.25, 1e-14);
  EXPECT_NEAR(*row.laplacian, -6, 1e-12);
  EXPECT_EQ(row.outcome, Outcome::exact);
  EXPECT_EQ(*row.low, *row.high);
}

TEST(Gamma, LabelsPredictedColumnsNormAndAngle) {
  // Class 1 where x0 > 0; outputs are (1 − x0², x0, 0) so that all of it has a closed form on the cross, r =
  // 0.5.
  const RowFunction model(2, 3, [](const double* x, double* y) {
    y[0] = 1 - x[0] * x[0];
    y[1] = x[0];
    y[2] = 0;
  });
  const std::vector<double> x{0.1, 0};
  GammaOptions options = options_of("cross", 0.5);
  const double curve = 0.125;  // mean of x0² over the cross is x0² + r²/2
  options.output = parse_output("predicted");
  EXPECT_NEAR(*measure(model, x, options).gamma, curve, 1e-15);
  options.output = parse_output("column:1");
  EXPECT_NEAR(*measure(model, x, options).gamma, 0, 1e-15);
  options.output = parse_output("norm");
  const auto norm = measure(model, x, options);
  EXPECT_NEAR(*norm.gamma, curve, 1e-15);
  EXPECT_FALSE(norm.delta);
  EXPECT_FALSE(norm.value);
  EXPECT_EQ(norm.decided_class, 0);
  options.output = parse_output("angle");
  const double before = std::atan2(0.1, 0.99), after = std::atan2(0.1, 0.99 - curve);
  EXPECT_NEAR(*measure(model, x, options).gamma, after - before, 1e-15);
  options.output = parse_output("label");
  const auto label = measure(model, {0.5, 0}, options);  // classes: 0 at x, 1 at x + r, 0 elsewhere
  EXPECT_EQ(*label.gamma, 0.25);
  EXPECT_EQ(label.decided_class, 0);
  EXPECT_EQ(*label.value, 0);
  options.output = parse_output("all");
  harmonia::Run run;
  const auto all = gamma(model, MatrixView<const double>{x.data(), 1, 2}, options, run);
  ASSERT_EQ(all.rows.size(), 3U);
  EXPECT_NEAR(*all.rows[0].gamma, curve, 1e-15);
  EXPECT_NEAR(*all.rows[1].gamma, 0, 1e-15);
  EXPECT_EQ(all.rows[2].column, 2U);
  EXPECT_EQ(all.summary.columns.size(), 3U);
  EXPECT_NEAR(*all.summary.gamma.mean, curve / 3, 1e-15);
  EXPECT_EQ(all.summary.evaluations, 5U);
}

TEST(Gamma, TheShareOfFlipsDoesNotDependOnTheNamesOfTheClasses) {
  // Classes along x0: first below 0, second below 1, third from there on. On the cross with r = 2 around 0.5
  // a quarter of the points are of the first class, a quarter of the third.
  const auto model = [](double first, double second, double third) {
    return RowFunction(2, [=](const double* x) { return x[0] < 0 ? first : x[0] < 1 ? second : third; });
  };
  GammaOptions options = options_of("cross", 2);
  options.output = parse_output("label");
  EXPECT_EQ(*measure(model(0, 1, 2), {0.5, 0}, options).gamma, 0);
  EXPECT_EQ(*measure(model(1, 0, 2), {0.5, 0}, options).gamma, 0.75);
  options.output = parse_output("flip");
  for (const auto& renamed : {model(0, 1, 2), model(1, 0, 2), model(2, 0, 1)}) {
    const auto row = measure(renamed, {0.5, 0}, options);
    EXPECT_EQ(*row.gamma, 0.5);
    EXPECT_EQ(*row.value, 0);
    EXPECT_TRUE(row.decided_class);
  }
  const RowFunction regression(1, [](const double* x) { return x[0]; });
  test::expect_error(
      ErrorCode::model,
      "output flip: model test answered 0.25; a single column must hold whole numbers, or be a "
      "probability (--binary)",
      [&] { measure(regression, {0.25}, options); });
}

TEST(Gamma, TheAngleWithAZeroVectorIsUndefined) {
  const RowFunction model(1, 2, [](const double*, double* y) { y[0] = y[1] = 0; });
  GammaOptions options = options_of("cross");
  options.output = parse_output("angle");
  const auto row = measure(model, {1}, options);
  EXPECT_EQ(row.outcome, Outcome::undefined);
  EXPECT_FALSE(row.gamma);
}

TEST(Gamma, ASmallAngleKeepsItsDigits) {
  // The average turns by 1e-10: nothing is lost to the cosine.
  const RowFunction model(1, 2, [](const double* x, double* y) {
    y[0] = 1;
    y[1] = 1e-10 * x[0] * x[0];
  });
  GammaOptions options = options_of("cross");
  options.output = parse_output("angle");
  EXPECT_NEAR(*measure(model, {0}, options).gamma, 1e-10, 1e-24);
}

TEST(Gamma, ExplainNamesTheFeaturesThatWeighMost) {
  const RowFunction model(5, [](const double* x) { return 3 * x[3] * x[3] - x[1] * x[1] + x[0]; });
  GammaOptions options = options_of("cross", 0.1);
  options.explain = 2;
  const auto row = measure(model, {1, 1, 1, 1, 1}, options);
  ASSERT_EQ(row.explain.size(), 2U);
  EXPECT_EQ(row.explain[0].feature, 3U);
  EXPECT_NEAR(row.explain[0].value, 3 * 0.01 / 5, 1e-15);
  EXPECT_EQ(row.explain[1].feature, 1U);
  EXPECT_NEAR(row.explain[1].value, -0.01 / 5, 1e-15);
  EXPECT_NEAR(row.explain[0].value + row.explain[1].value, *row.delta, 1e-15);
  options.ball = options_of("rotated:2", 0.1).ball;
  EXPECT_THROW(measure(model, {1, 1, 1, 1, 1}, options), Error);
}

TEST(Gamma, AMissingFeatureIsNotMovedIfTheModelTakesIt) {
  RowFunction model(3, [](const double* x) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += std::isnan(x[i]) ? 0 : x[i] * x[i];
    return sum;
  });
  const std::vector<double> x{1, kNan, 1};
  const GammaOptions options = options_of("cross", 0.1);
  EXPECT_THROW(measure(model, x, options), Error);
  model.info().takes_missing = true;
  const auto row = measure(model, x, options);
  EXPECT_NEAR(*row.gamma, 0.01, 1e-15);
  EXPECT_EQ(row.moved, 2U);
  EXPECT_EQ(row.points, 4U);
  const auto none = measure(model, {kNan, kNan, kNan}, options);
  EXPECT_EQ(none.outcome, Outcome::unmoved);
  EXPECT_FALSE(none.gamma);
}

TEST(Gamma, OutcomesOfSampling) {
  const std::size_t n = 1000;
  const auto squares = make_function_model("f4", n);
  const std::vector<double> x(n, 0.0);
  GammaOptions options = options_of("cross", 0.5);
  options.sample = 50;
  EXPECT_EQ(measure(*squares, x, options).outcome, Outcome::sampled);
  EXPECT_EQ(measure(*squares, x, options).points, 100U);
  options.sample = 5;
  const auto few = measure(*squares, x, options);
  EXPECT_EQ(few.outcome, Outcome::sparse);
  EXPECT_FALSE(few.high);
  EXPECT_EQ(*few.low, 0);
  options.sample = 2000;
  EXPECT_EQ(measure(*squares, x, options).outcome, Outcome::exact);
  options.sample = 0;
  options.precision = 0.1;
  EXPECT_THROW(measure(*squares, x, options), Error);
  options.floor = 1e-9;
  EXPECT_EQ(measure(*squares, x, options).outcome, Outcome::sampled);
  EXPECT_EQ(measure(*squares, x, options).points, 32U);  // all pairs alike: the first look is enough
  const auto linear = RowFunction(n, [](const double* v) { return v[0] - v[1]; });
  EXPECT_EQ(measure(linear, x, options).outcome,
            Outcome::exact);  // nothing ever changed: only the whole ball tells
  const auto rough = RowFunction(n, [](const double* v) {
    double sum = 0;
    for (std::size_t i = 0; i < 1000; ++i) sum += (i % 2 == 0 ? 1 : -0.999) * v[i] * v[i];
    return sum;
  });
  options.floor = 0.05;
  EXPECT_EQ(measure(rough, x, options).outcome, Outcome::floor);
}

TEST(Gamma, TheBudgetIsNeverExceededAndIsTheSameForEveryBatch) {
  const std::size_t n = 30;
  const auto model = make_function_model("f4", n);
  Matrix<double> x(10, n);
  for (std::size_t i = 0; i < 10; ++i) x.row(i)[0] = static_cast<double>(i);
  std::vector<GammaRow> reference;
  for (const std::size_t batch : {1, 7, 4096}) {
    for (const std::size_t threads : {1, 2}) {
      GammaOptions options = options_of("cross", 0.5);
      options.batch = batch;
      options.sample = 20;
      harmonia::Run run{.threads = threads, .ledger = Ledger(41 * 3 + 25), .progress = {}, .stop = {}};
      const auto result = gamma(*model, x.view(), options, run);
      EXPECT_LE(run.ledger.spent(), 41U * 3 + 25);
      EXPECT_EQ(result.rows[2].outcome, Outcome::sampled);
      EXPECT_EQ(result.rows[3].outcome, Outcome::budget);
      EXPECT_EQ(result.rows[3].points, 24U);
      EXPECT_TRUE(result.rows[3].high);
      EXPECT_EQ(result.rows[4].outcome, Outcome::budget);
      EXPECT_FALSE(result.rows[4].gamma);
      EXPECT_EQ(result.summary.evaluations, run.ledger.spent());
      options.sample = 0;
      harmonia::Run whole{.threads = threads, .ledger = Ledger(61 * 3 + 25), .progress = {}, .stop = {}};
      const auto exact = gamma(*model, x.view(), options, whole);
      EXPECT_EQ(exact.rows[2].outcome, Outcome::exact);
      EXPECT_FALSE(exact.rows[3].gamma);
      EXPECT_EQ(whole.ledger.spent(), 61U * 3);
    }
  }
}

TEST(Gamma, SummaryKnowsMeanRmsAndRelative) {
  const RowFunction model(
      1, [](const double* x) { return x[0] * x[0] * x[0]; });  // gamma on the cross is 3|x|r²
  const std::vector<double> x{-1, 0, 1, 2};
  harmonia::Run run;
  const auto result = gamma(model, MatrixView<const double>{x.data(), 4, 1}, options_of("cross", 0.1), run);
  EXPECT_NEAR(*result.summary.gamma.mean, 0.03, 1e-15);
  EXPECT_NEAR(*result.summary.gamma.rms, 0.03 * std::sqrt(1.5), 1e-15);
  // Values −1, 0, 1, 8: standard deviation √(50/3).
  EXPECT_NEAR(*result.summary.gamma.relative, 0.03 / std::sqrt(50.0 / 3), 1e-15);
  EXPECT_NEAR(*result.summary.gamma.standard_error, std::sqrt(6.0 / 9) * 0.03 / 2, 1e-15);
}

TEST(Gamma, TheMeanOfSparseRowsHasNoUpperEnd) {
  const RowFunction model(1000, [](const double* x) { return x[0] > 0.05 ? 100.0 : 0.0; });
  const Matrix<double> x(10, 1000);
  GammaOptions options = options_of("cross", 0.1);
  options.sample = 20;
  harmonia::Run run;
  const auto result = gamma(model, x.view(), options, run);
  EXPECT_EQ(result.summary.outcomes[static_cast<std::size_t>(Outcome::sparse)], 10U);
  EXPECT_FALSE(result.summary.gamma.high);
}

TEST(Gamma, AVectorIsSparseIfAnyOfItIs) {
  const RowFunction model(1000, 2, [](const double* x, double* y) {
    y[0] = y[1] = 0;
    for (int i = 0; i < 1000; ++i) y[0] += x[i] * x[i];
    if (x[0] > 0.05) y[1] = 1000;
  });
  GammaOptions options = options_of("cross", 0.1);
  options.sample = 40;
  for (const char* output : {"norm", "angle", "all"}) {
    options.output = parse_output(output);
    const std::vector<double> x(1000, 0.01);
    harmonia::Run run;
    const auto result = gamma(model, MatrixView<const double>{x.data(), 1, 1000}, options, run);
    EXPECT_EQ(result.rows.back().outcome, Outcome::sparse) << output;
    EXPECT_EQ(result.summary.outcomes[static_cast<std::size_t>(Outcome::sparse)], 1U) << output;
  }
}

TEST(Gamma, StepsThatAreNotTheRadiusImplyNoLaplacian) {
  const auto model = make_function_model("f2", 2);
  GammaOptions options = options_of("cross", 0.1);
  EXPECT_NEAR(*measure(*model, {1, 1}, options).laplacian, 4, 1e-9);
  options.schema = plain_schema({"a", "b"});
  options.schema[0].lower = 0.95;
  EXPECT_FALSE(measure(*model, {1, 1}, options).laplacian);
  options.schema[0].lower = 0.5;
  EXPECT_TRUE(measure(*model, {1, 1}, options).laplacian);
  options.schema[0].integer = true;
  EXPECT_FALSE(measure(*model, {1, 1}, options).laplacian);
  // 1/r² is no double: half a step over it is none either.
  const RowFunction step(1, [](const double* x) { return x[0] > 0 ? 1.0 : 0.0; });
  EXPECT_EQ(*measure(step, {0}, options_of("cross", 1e-200)).delta, 0.5);
  EXPECT_FALSE(measure(step, {0}, options_of("cross", 1e-200)).laplacian);
}

TEST(Gamma, ABinaryClassifierDecidesAtOneHalf) {
  RowFunction model(1, [](const double* x) { return x[0]; });
  GammaOptions options = options_of("cross", 0.2);
  options.output = parse_output("label");
  EXPECT_THROW(measure(model, {0.4}, options), Error);
  model.info().binary = true;
  const auto row = measure(model, {0.4}, options);
  EXPECT_EQ(row.decided_class, 0);
  EXPECT_EQ(*row.gamma, 0.5);
  EXPECT_EQ(measure(model, {0.5}, options).decided_class, 1);
}

TEST(Gamma, WarnsUnderTheResolutionOfTheInputs) {
  const auto model = make_function_model("f2", 2);
  harmonia::Run run;
  const std::vector<double> x{1e10, 1};
  EXPECT_EQ(gamma(*model, MatrixView<const double>{x.data(), 1, 2}, options_of("cross", 1e-7), run)
                .summary.warnings.size(),
            1U);
  EXPECT_TRUE(gamma(*model, MatrixView<const double>{x.data(), 1, 2}, options_of("cross", 1), run)
                  .summary.warnings.empty());
}

TEST(Gamma, ANonFiniteAnswerIsTheModelsFault) {
  const RowFunction model(1, [](const double* x) { return std::sqrt(x[0]); });
  try {
    measure(model, {0.5}, options_of("cross", 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::model);
    EXPECT_STREQ(
        error.what(),
        "model test answered -nan in output 0 for a point of the ball around row 0; expected finite numbers");
  }
}

}  // namespace
}  // namespace harmonia
