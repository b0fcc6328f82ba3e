#include "harmonia/measure/gamma_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harmonia/data/memory_source.hpp"
#include "harmonia/model/logit_model.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

constexpr Scalar kScalar = Scalar::float64;

TEST(LogitPlace, ByHand) {
  const std::vector<double> logits{1, 3, 2};
  const LogitPlace place = logit_place(logits);
  EXPECT_EQ(place.decided_class, 1U);
  EXPECT_DOUBLE_EQ(place.logit, 3);
  EXPECT_DOUBLE_EQ(place.mean, 2);
  const double e = std::exp(1.0), p = e * e * e / (e + e * e * e + e * e);
  EXPECT_NEAR(place.probability(), p, 1e-15);
  EXPECT_NEAR(place.log_odds, std::log(p / (1 - p)), 1e-14);
  EXPECT_NEAR(place.score(0.5), p * std::exp(-0.5), 1e-15);
  const double fallen = std::exp(2.5);
  EXPECT_NEAR(logistic(place.two_exponential_log_odds(0.5)), fallen / (fallen + 2 * e * e), 1e-15);
  EXPECT_NEAR(logistic(place.softmax_log_odds(0.5)), fallen / (fallen + e + e * e), 1e-15);
}

TEST(LogitPlace, LargeLogitsDoNotOverflow) {
  const std::vector<double> logits{1000, -1000, -1000};
  const LogitPlace place = logit_place(logits);
  EXPECT_EQ(place.probability(), 1);
  EXPECT_NEAR(place.log_odds, 2000 - std::log(2.0), 1e-12);
  EXPECT_NEAR(place.mean, -1000.0 / 3, 1e-12);
  EXPECT_NEAR(place.score(25), std::exp(-25.0), 1e-25);
  EXPECT_NEAR(place.two_exponential_log_odds(25), 1000 + 1000.0 / 3 - 25 - std::log(2.0), 1e-10);
  EXPECT_NEAR(place.softmax_log_odds(25), 1975 - std::log(2.0), 1e-12);
  const std::vector<double> low{-1000, -1000};
  EXPECT_DOUBLE_EQ(logit_place(low).probability(), 0.5);
}

// Two logits whose difference is the first feature's, curved so that gamma is r²/2 times the second.
test::RowFunction curved() {
  return {2, 2, [](const double* x, double* y) {
            y[0] = x[0] + x[1] * x[1];
            y[1] = 0;
          }};
}

MapRows measured(const test::RowFunction& model, const Matrix<double>& x,
                 const std::vector<std::string>& labels = {}) {
  GammaOptions options;
  options.ball.radius = 0.1;
  options.ball.kind = BallKind::cross;
  Run run;
  const auto data = make_memory_source(x.view(), {}, {}, labels);
  return map_rows(model, *data, options, 25, run);
}

TEST(MapRows, LogitsAndGamma) {
  Matrix<double> x(2, 2);
  x.row(0)[0] = 3;
  x.row(1)[0] = -3;
  const MapRows rows = measured(curved(), x, {"0", "0"});
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0].place->decided_class, 0U);
  EXPECT_DOUBLE_EQ(rows.rows[0].place->log_odds, 3);
  EXPECT_NEAR(*rows.rows[0].gamma.gamma, 0.01 / 2, 1e-12);  // of x1² over ± pairs of both features
  EXPECT_EQ(rows.rows[1].place->decided_class, 1U);
  EXPECT_EQ(*rows.rows[1].gamma.gamma, 0);
  EXPECT_EQ(rows.rows[0].correct, true);
  EXPECT_EQ(rows.rows[1].correct, false);
  EXPECT_TRUE(rows.warnings.empty());
}

TEST(MapRows, ForeignLabelsAndProbabilitiesAreSaid) {
  Matrix<double> x(1, 2);
  const test::RowFunction sure(2, 2, [](const double*, double* y) {
    y[0] = 0.75;
    y[1] = 0.25;
  });
  const MapRows rows = measured(sure, x, {"cat"});
  EXPECT_FALSE(rows.rows[0].correct);
  ASSERT_EQ(rows.warnings.size(), 2U);
  EXPECT_NE(rows.warnings[0].find("1 of 1 labels are no class of the model ('cat' of row 0"),
            std::string::npos);
  EXPECT_NE(rows.warnings[1].find("--outputs probabilities"), std::string::npos);
}

TEST(LogitModel, LogarithmsOfProbabilities) {
  test::RowFunction single(1, [](const double* x) { return x[0]; });
  single.info().binary = true;
  const auto logits = make_logit_model(single, true);
  EXPECT_EQ(logits->info().outputs, 2U);
  const std::vector<double> x{0.25, 1.0, 0.0};
  Matrix<double> y(3, 2);
  logits->evaluate(MatrixView<const double>{x.data(), 3, 1}, y.view());
  EXPECT_DOUBLE_EQ(y.row(0)[0], std::log(0.75));
  EXPECT_DOUBLE_EQ(y.row(0)[1], std::log(0.25));
  EXPECT_DOUBLE_EQ(y.row(1)[0], std::log(kLeastProbability));
  EXPECT_DOUBLE_EQ(y.row(2)[1], std::log(kLeastProbability));
  const std::vector<double> far{1.5};
  test::expect_error(ErrorCode::model,
                     "model test answered -0.5; expected probabilities (logits are taken without --outputs "
                     "probabilities)",
                     [&] {
                       logits->evaluate(MatrixView<const double>{far.data(), 1, 1}, y.view().slice(0, 1));
                     });
  test::expect_error(ErrorCode::usage,
                     "model test has one output; expected a classifier with an output a class, or a "
                     "probability of class 1 (--binary --outputs probabilities)",
                     [&] { make_logit_model(single, false); });
}

// A row of two classes that was searched.
MapRow row_of(std::size_t number, double log_odds, double gamma, bool stable) {
  MapRow row;
  row.row = number;
  const std::vector<double> logits{log_odds, 0};
  row.place = logit_place(logits);
  row.place->log_odds = log_odds;
  row.gamma.gamma = row.gamma.low = row.gamma.high = row.gamma.split = gamma;
  row.search = MapSearch{number, stable, -25 * gamma};
  return row;
}

TEST(MapTable, MeansByHand) {
  MapRows rows;
  rows.rows = {row_of(0, 2, 0.02, true), row_of(1, 1, 0.04, false), row_of(2, 3, 0.01, true)};
  rows.rows[0].label = "10";
  rows.rows[1].label = "10";
  rows.rows[2].label = "9";
  rows.rows[0].correct = true;
  rows.rows[1].correct = false;
  const MapTable table = map_table(rows);
  EXPECT_TRUE(table.by_label);
  ASSERT_EQ(table.groups.size(), 2U);
  EXPECT_EQ(table.groups[0].name, "9");  // numbers as numbers
  const MapGroup& group = table.groups[1];
  EXPECT_EQ(group.rows, 2U);
  EXPECT_TRUE(group.few());
  EXPECT_DOUBLE_EQ(*group.logit.mean, 1.5);
  EXPECT_DOUBLE_EQ(*group.mean_logit.mean, 0.75);
  const double p = logistic(2), q = logistic(1);
  EXPECT_NEAR(*group.probability.mean, (p + q) / 2, 1e-15);
  EXPECT_NEAR(*group.gamma.mean, 0.03, 1e-15);
  EXPECT_NEAR(*group.score.mean, (p * std::exp(-0.5) + q * std::exp(-1.0)) / 2, 1e-15);
  EXPECT_NEAR(*group.score_of_means, (p + q) / 2 * std::exp(-0.75), 1e-15);
  EXPECT_NEAR(*group.softmax.mean, (logistic(1.5) + logistic(0)) / 2, 1e-15);
  EXPECT_NEAR(*group.two_exponential.mean, (logistic(2 - 1 - 0.5) + logistic(1 - 0.5 - 1)) / 2, 1e-15);
  EXPECT_NEAR(*group.drift.mean, -0.75, 1e-15);
  EXPECT_EQ(group.stable.hits, 1U);
  EXPECT_EQ(group.correct.rows, 2U);
  EXPECT_DOUBLE_EQ(group.stable.interval.low, wilson_interval(1, 2, 0.95).low);
  EXPECT_TRUE(group.score.interval);
  EXPECT_FALSE(table.groups[0].score.interval);  // one row says nothing of others
  EXPECT_EQ(table.all.rows, 3U);
  for (const MapCorrelation& entry : table.correlations) {
    if (entry.name == "gamma" || entry.name == "probability") {
      EXPECT_DOUBLE_EQ(entry.auroc->value, 1) << entry.name;
      EXPECT_EQ(entry.stable, 2U);
    }
    EXPECT_FALSE(entry.by_class);  // two classes
  }
}

// Outcomes drawn from a logistic truth on (logit P, log gamma).
struct Simulated {
  double bias = 0.5, of_p = 1.2, of_gamma = -0.8;
  double truth(double log_odds, double log_gamma) const {
    return logistic(bias + of_p * (log_odds - 3) + of_gamma * (log_gamma + 4));
  }
  MapRows draw(std::size_t count, std::mt19937& generator) const {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    MapRows rows;
    for (std::size_t i = 0; i < count; ++i) {
      const double l = 3 + normal(generator), g = -4 + 1.5 * normal(generator);
      rows.rows.push_back(row_of(i, l, std::exp(g), uniform(generator) < truth(l, g)));
    }
    return rows;
  }
};

TEST(GammaMap, AWellSpecifiedMapIsCalibrated) {
  std::mt19937 generator(5);
  const Simulated simulated;
  const MapRows rows = simulated.draw(20000, generator);
  const MapFit fit = fit_map(rows, {}, kScalar);
  ASSERT_TRUE(fit.map);
  ASSERT_TRUE(fit.validation);
  EXPECT_NEAR(fit.map->fit.coefficients[1] / fit.map->fit.scales[0], 1.2, 0.06);
  EXPECT_NEAR(fit.map->fit.coefficients[2] / fit.map->fit.scales[1], -0.8, 0.04);
  const MapValidation& v = *fit.validation;
  EXPECT_EQ(v.folds, 10U);
  EXPECT_NEAR(v.slope.value, 1, 0.05);
  EXPECT_NEAR(v.intercept.value, 0, 0.05);
  EXPECT_FALSE(fit.map->recalibrated);
  EXPECT_GT(v.over_probability.interval.low, 0);
  EXPECT_GT(v.map.value, v.gamma.value);
  EXPECT_LT(*v.brier.mean, v.brier_of_share);
  std::size_t covered = 0;
  for (const MapBin& bin : v.bins)
    covered += bin.stable.interval.low <= bin.mean && bin.mean <= bin.stable.interval.high ? 1 : 0;
  EXPECT_GE(covered, 8U);  // of 10, at 95 % each: fewer with probability 0.012
  EXPECT_EQ(v.bins.size(), 10U);
}

// 500 repeats at five points each: the coverage of each point at least 92.6 %, which a true 95 % misses with
// probability 0.008 a point.
TEST(GammaMap, PredictedProbabilitiesAreCovered) {
  std::mt19937 generator(17);
  const Simulated simulated;
  MapFitOptions options;
  options.folds = 2;
  constexpr int kTimes = 500;
  const std::vector<std::pair<double, double>> points{{3, -4}, {2, -4}, {4, -5}, {3, -2}, {1.5, -2.5}};
  std::vector<int> covered(points.size());
  for (int time = 0; time < kTimes; ++time) {
    const MapFit fit = fit_map(simulated.draw(300, generator), options, kScalar);
    GammaMap map = *fit.map;
    map.intercept = 0;  // the fit's own answers
    map.slope = 1;
    map.calibration = {};
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto [l, g] = points[k];
      const double gamma = std::exp(g);
      const MapAnswer answer = map.predict({l, gamma, {gamma, gamma}, {}});
      const double truth = simulated.truth(l, g);
      covered[k] += answer.interval.low <= truth && truth <= answer.interval.high ? 1 : 0;
    }
  }
  for (std::size_t k = 0; k < points.size(); ++k) EXPECT_GE(covered[k], 0.926 * kTimes) << k;
}

TEST(GammaMap, GammaOfNoMoreThanRoundingCountsAsHalfTheLeast) {
  MapRows rows;
  for (std::size_t i = 0; i < 40; ++i) {
    const double gamma = i % 4 == 0 ? 0 : i % 4 == 1 ? 1e-17 : 0.01 * static_cast<double>(1 + i);
    rows.rows.push_back(row_of(i, 1 + 0.1 * static_cast<double>(i % 7), gamma, i % 3 != 0));
  }
  const MapFit fit = fit_map(rows, {}, kScalar);
  EXPECT_DOUBLE_EQ(fit.map->floor, 0.03 / 2);
  EXPECT_EQ(fit.floored, 20U);
  const double none = fit.map->predict({1, 0, {0, 0}, {}}).probability;
  EXPECT_DOUBLE_EQ(none, fit.map->predict({1, 0.015, {0.015, 0.015}, {}}).probability);
}

TEST(GammaMap, GammasIntervalWidensTheAnswer) {
  std::mt19937 generator(5);
  const MapFit fit = fit_map(Simulated().draw(500, generator), {}, kScalar);
  const double gamma = std::exp(-4.0);
  const MapAnswer exact = fit.map->predict({3, gamma, {gamma, gamma}, {}});
  const MapAnswer sampled = fit.map->predict({3, gamma, {gamma / 2, 2 * gamma}, {}});
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const MapAnswer sparse = fit.map->predict({3, gamma, {gamma, kUnknown}, {}});
  EXPECT_EQ(exact.probability, sampled.probability);
  EXPECT_LT(sampled.interval.low, exact.interval.low);
  EXPECT_GT(sampled.interval.high, exact.interval.high);
  EXPECT_EQ(sparse.interval.low, 0);
  EXPECT_EQ(sparse.interval.high, exact.interval.high);
  EXPECT_FALSE(exact.outside);
  EXPECT_NEAR(log_odds_of(0.9), std::log(9.0), 1e-15);
  test::expect_error(ErrorCode::usage,
                     "P is 1; expected between 0 and 1 (of a P that rounds to 1, give its log-odds)",
                     [] { log_odds_of(1); });
  EXPECT_TRUE(fit.map->predict({300, gamma, {gamma, gamma}, {}}).outside);
  test::expect_error(ErrorCode::usage, "the map has 0 further variables; 1 was given", [&] {
    fit.map->predict({3, gamma, {gamma, gamma}, {1}});
  });
}

TEST(GammaMap, OneOutcomeMakesNoMap) {
  MapRows rows;
  for (std::size_t i = 0; i < 5; ++i) rows.rows.push_back(row_of(i, 1, 0.1, true));
  MapFit fit = fit_map(rows, {}, kScalar);
  EXPECT_FALSE(fit.map);
  EXPECT_EQ(fit.reason, "all 5 rows are stable: there is nothing to tell apart, and no map");
  rows.rows[0].search->stable = false;
  fit = fit_map(rows, {}, kScalar);
  EXPECT_TRUE(fit.map);
  EXPECT_FALSE(fit.validation);
  EXPECT_EQ(fit.reason, "1 row alone is unstable: the map is not cross-validated");
  for (MapRow& row : rows.rows) row.search.reset();
  EXPECT_EQ(fit_map(rows, {}, kScalar).reason, "no row has both a gamma and a search: there is no map");
}

TEST(GammaMap, FurtherVariables) {
  std::mt19937 generator(23);
  std::normal_distribution<double> normal;
  MapRows rows = Simulated().draw(400, generator);
  Matrix<double> values(400, 1);
  for (std::size_t i = 0; i < 400; ++i) {
    values.row(i)[0] = (rows.rows[i].search->stable ? 2 : 0) + normal(generator);
  }
  values.row(7)[0] = std::nan("");
  enter_variables(rows, {{"age"}, values, {}});
  const MapFit fit = fit_map(rows, {}, kScalar);
  EXPECT_EQ(fit.left_out, 1U);
  EXPECT_EQ(fit.map->inputs, (std::vector<std::string>{"logit_p", "log_gamma", "age"}));
  EXPECT_GT(fit.map->fit.coefficients[3], 1);
  EXPECT_GT(fit.validation->over_probability.interval.low, 0);
  MapRows later = rows;
  later.rows[3].row = 400;
  test::expect_error(ErrorCode::input, "the further variables have 400 rows; the data has row 400", [&] {
    enter_variables(later, {{"age"}, values, {}});
  });
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < 400; ++i) ids.push_back(std::to_string(399 - i));
  for (MapRow& row : rows.rows) row.id = std::to_string(row.row);
  enter_variables(rows, {{"age"}, values, ids});
  EXPECT_EQ(rows.rows[3].extra[0], values.row(396)[0]);
  ids[0] = "1";
  test::expect_error(ErrorCode::input, "the further variables have id '1' twice", [&] {
    enter_variables(rows, {{"age"}, values, ids});
  });
  ids[0] = "elsewhere";
  test::expect_error(ErrorCode::input, "the further variables have no id '399', which row 399 has", [&] {
    enter_variables(rows, {{"age"}, values, ids});
  });
}

// Outcomes of Simulated, and variables that say nothing.
struct Noisy {
  std::size_t rows, noise;

  MapRows draw(std::mt19937& generator) const {
    std::normal_distribution<double> normal;
    MapRows drawn = Simulated().draw(rows, generator);
    if (noise == 0) return drawn;
    Matrix<double> values(rows, noise);
    for (std::size_t i = 0; i < rows * noise; ++i) values.view().data[i] = normal(generator);
    enter_variables(drawn, {std::vector<std::string>(noise, "noise"), values, {}});
    return drawn;
  }
};

// Overfitted answers are too sure of themselves: many variables that say nothing, few rows.
TEST(GammaMap, OversureAnswersAreRecalibrated) {
  std::mt19937 generator(29);
  MapFitOptions options;
  options.ridge = 1e-3;
  const MapFit fit = fit_map(Noisy{80, 12}.draw(generator), options, kScalar);
  EXPECT_LT(fit.validation->slope.interval.high, 1);
  EXPECT_TRUE(fit.map->recalibrated);
  EXPECT_EQ(fit.map->slope, fit.validation->slope.value);
  const CalibrationErrors& errors = fit.map->calibration;
  const double z = normal_quantile(0.975);
  EXPECT_NEAR(fit.validation->slope.interval.high, fit.map->slope + z * std::sqrt(errors.slope), 1e-12);
  EXPECT_NEAR(fit.validation->intercept.interval.low, fit.map->intercept - z * std::sqrt(errors.intercept),
              1e-12);
  // Where the variance is least it is 1/Σp(1 − p), which is at least 4 over the rows.
  const double least = -errors.together / errors.slope;
  EXPECT_GT(errors.variance(least), 4.0 / 80);
  EXPECT_LT(errors.variance(least), 8.0 / 80);
  EXPECT_GT(errors.variance(least + 1), errors.variance(least));
  EXPECT_GT(errors.variance(least - 1), errors.variance(least));
}

// The share of new rows whose true probability lies in the interval of a map that was recalibrated.
double recalibrated_coverage(const Noisy& noisy, double ridge, std::size_t times) {
  std::mt19937 generator(31);
  MapFitOptions options;
  options.ridge = ridge;
  std::size_t asked = 0, covered = 0;
  for (std::size_t time = 0; time < times; ++time) {
    const MapFit fit = fit_map(noisy.draw(generator), options, kScalar);
    if (!fit.map->recalibrated) continue;
    for (const MapRow& row : Noisy{20, noisy.noise}.draw(generator).rows) {
      const MapQuestion question = *question_of(row);
      const MapAnswer answer = fit.map->predict(question);
      const double truth = Simulated().truth(question.log_odds, std::log(question.gamma));
      covered += answer.interval.low <= truth && truth <= answer.interval.high ? 1 : 0;
      ++asked;
    }
  }
  EXPECT_GT(asked, 10 * times);
  return static_cast<double>(covered) / static_cast<double>(asked);
}

// Of overfitted maps (slope 0.3 to 0.7) and of one that its ridge flattens (3.7), 20 new rows each. Without
// the recalibration's error, and with the coefficients' times the slope, 58 to 84 % of the first would be
// covered. The shares are 97.4 to 99.9 %, with a deviation of at most 0.3 % over seeds.
TEST(GammaMap, AnswersThatAreRecalibratedAreCovered) {
  EXPECT_GE(recalibrated_coverage({80, 12}, 1e-3, 200), 0.95);
  EXPECT_GE(recalibrated_coverage({80, 6}, 1e-3, 200), 0.95);
  EXPECT_GE(recalibrated_coverage({200, 12}, 1e-3, 200), 0.95);
  EXPECT_GE(recalibrated_coverage({300, 0}, 100, 200), 0.95);
}

TEST(GammaMap, ATooSmallRidgeMakesNoMapAndAWarning) {
  MapRows rows;
  for (std::size_t i = 0; i < 40; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    rows.rows.push_back(row_of(i, 3 + side * (1 + 0.01 * static_cast<double>(i)), 0.1, side > 0));
  }
  const MapFit bounded = fit_map(rows, {}, kScalar);
  EXPECT_TRUE(bounded.map && bounded.map->fit.separated && bounded.warnings.empty());
  MapFitOptions options;
  options.ridge = 1e-300;
  const MapFit fit = fit_map(rows, options, kScalar);
  EXPECT_FALSE(fit.map);
  EXPECT_FALSE(fit.validation);
  EXPECT_EQ(fit.stable, 20U);
  EXPECT_EQ(
      fit.reason,
      "a ridge of 1e-300 is too small for a map of these rows, whose inputs tell the outcomes apart, or "
      "each other; expected a larger one: there is no map");
  EXPECT_EQ(fit.warnings, std::vector<std::string>{fit.reason});
}

// Of rows that only one keeps from being told apart, the fold without it allows no fit.
TEST(GammaMap, ATooSmallRidgeOfAFoldLeavesTheMapUnvalidated) {
  MapRows rows;
  for (std::size_t i = 0; i < 40; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    rows.rows.push_back(row_of(i, 3 + side * (1 + 0.01 * static_cast<double>(i)), 0.1, side > 0));
  }
  rows.rows[38].search->stable = false;
  MapFitOptions options;
  options.ridge = 1e-300;
  const MapFit fit = fit_map(rows, options, kScalar);
  ASSERT_TRUE(fit.map);
  EXPECT_FALSE(fit.map->fit.separated);
  EXPECT_FALSE(fit.validation);
  EXPECT_NE(fit.reason.find("the map is not cross-validated"), std::string::npos);
  EXPECT_EQ(fit.warnings, std::vector<std::string>{fit.reason});
}

TEST(GammaMap, RowsTooLargeForNumbersAreLeftOut) {
  std::mt19937 generator(5);
  MapRows rows = Simulated().draw(200, generator);
  const MapFit fit = fit_map(rows, {}, kScalar);
  constexpr double kFar = std::numeric_limits<double>::infinity();
  rows.rows.push_back(row_of(200, kFar, 0.1, true));
  rows.rows.push_back(row_of(201, 3, kFar, false));
  rows.rows.push_back(row_of(202, -1e300, 0.1, false));
  const MapFit again = fit_map(rows, {}, kScalar);
  EXPECT_EQ(again.left_out, 3U);
  EXPECT_EQ(again.warnings,
            std::vector<std::string>{
                "3 rows are left out of the map: log-odds, gamma or a further variable of more than 1e+100"});
  EXPECT_EQ(again.map->fit.coefficients, fit.map->fit.coefficients);
  rows.rows.erase(rows.rows.begin(), rows.rows.begin() + 200);
  const MapFit none = fit_map(rows, {}, kScalar);
  EXPECT_FALSE(none.map);
  EXPECT_EQ(none.reason, "no row has numbers that a map can be fitted on: there is no map");
}

}  // namespace
}  // namespace harmonia
