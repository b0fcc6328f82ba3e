#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "harmonia/monitor/counterfactual.hpp"

namespace harmonia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFeatures = 5;
using Change = std::function<void(std::mt19937_64&, double*)>;

// Rows of uniform, normal, constant, often missing and binary values.
Matrix<double> draw_rows(std::size_t count, unsigned seed, const Change& change = {}) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(10, 2);
  Matrix<double> rows(count, kFeatures);
  for (std::size_t i = 0; i < count; ++i) {
    double* x = rows.row(i);
    x[0] = uniform(random);
    x[1] = normal(random);
    x[2] = 7;
    x[3] = uniform(random) < 0.3 ? kNan : uniform(random);
    x[4] = uniform(random) < 0.5 ? 1 : 0;
    if (change) change(random, x);
  }
  return rows;
}

std::vector<GammaRow> some_gamma(std::size_t count) {
  std::vector<GammaRow> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i].row = i;
    rows[i].gamma = 1 + std::fmod(static_cast<double>(i) * 0.618, 1.0);
  }
  return rows;
}

Baseline baseline_of(std::size_t count, unsigned seed) {
  const Matrix<double> rows = draw_rows(count, seed);
  return make_baseline(rows.view(), some_gamma(count), {"u", "n", "c", "m", "b"}, {}, seed, {});
}

std::vector<AlertFeature> changes(const Baseline& baseline, const Matrix<double>& rows) {
  RowCounts counts = no_counts(baseline);
  const std::vector<GammaRow> gamma = some_gamma(rows.rows());
  for (std::size_t i = 0; i < rows.rows(); ++i)
    count_row(baseline, {rows.row(i), kFeatures}, gamma[i], counts);
  return changed_features(baseline, counts);
}

TEST(ChangedFeatures, NoneWithoutAChange) {
  // Stated: with probability >= 0.99 none is named. Of 200 pairs of samples, more than 8 come with
  // probability below 1e-3.
  int named = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Baseline baseline = baseline_of(300, seed);
    named += changes(baseline, draw_rows(seed % 2 == 0 ? 50 : 500, 5000 + seed)).empty() ? 0 : 1;
  }
  EXPECT_LE(named, 8);
  const Baseline baseline = baseline_of(300, 1);
  EXPECT_TRUE(changes(baseline, draw_rows(0, 1)).empty());
}

TEST(ChangedFeatures, ChanceIsTakenOff) {
  // Of 1000 rows half were below 1; of 500, four fifths are: total variation 0.3, less half of what two bins
  // bring by chance, p = (500 + 400)/1500 in one of them.
  Baseline baseline;
  baseline.features = {"a"};
  baseline.edges = {{1}};
  baseline.counts.features = {{500, 500, 0}};
  RowCounts now;
  now.features = {{400, 100, 0}};
  const auto found = changed_features(baseline, now);
  ASSERT_EQ(found.size(), 1U);
  const double chance = std::sqrt(2 / std::numbers::pi * 0.6 * 0.4 * (1 / 1000.0 + 1 / 500.0));
  EXPECT_NEAR(found[0].distance, 0.3 - chance, 1e-12);
  EXPECT_EQ(found[0].text, "more often below 1: 80 % of rows, 50 % in the baseline");
}

TEST(ChangedFeatures, DistanceInClosedForm) {
  // From U(0, 1) to U(0.5, 1.5): half of the rows would have to change.
  const Baseline baseline = baseline_of(8000, 2);
  const auto found = changes(baseline, draw_rows(5000, 3, [](auto&, double* x) { x[0] += 0.5; }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].feature, 0U);
  EXPECT_EQ(found[0].name, "u");
  EXPECT_NEAR(found[0].distance, 0.5, 0.03);
  EXPECT_EQ(found[0].text.substr(0, 17), "more often above ") << found[0].text;
}

TEST(ChangedFeatures, InWords) {
  const Baseline baseline = baseline_of(8000, 2);
  const auto text = [&](const Change& change) {
    const auto found = changes(baseline, draw_rows(2000, 3, change));
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? std::string() : found[0].text;
  };
  EXPECT_EQ(text([](auto&, double* x) { x[2] = 3; }),
            "more often below 7: 100 % of rows, 0 % in the baseline");
  EXPECT_EQ(text([](auto&, double* x) { x[2] = 8; }),
            "more often above 7: 100 % of rows, 0 % in the baseline");
  EXPECT_EQ(text([](auto& random, double* x) { x[2] = random() % 2 == 0 ? kNan : 7; }).substr(0, 11),
            "missing in ");
  EXPECT_EQ(text([](auto&, double* x) { x[1] = kNan; }), "missing in 100 % of rows, 0 % in the baseline");
  EXPECT_EQ(text([](auto&, double* x) { x[3] = std::isnan(x[3]) ? 0.5 : x[3]; }).substr(0, 10), "missing in");
  EXPECT_EQ(text([](auto&, double* x) { x[1] = 10; }).substr(0, 19), "more often between ");
  EXPECT_EQ(text([](auto&, double* x) { x[1] -= 3; }).substr(0, 17), "more often up to ");
  const std::string binary = text([](auto&, double* x) { x[4] = 1; });
  EXPECT_EQ(binary.substr(0, 18), "more often between") << binary;
}

TEST(ChangedFeatures, TheMostChangedFirst) {
  const Baseline baseline = baseline_of(4000, 2);
  const auto found = changes(baseline, draw_rows(1000, 3, [](auto&, double* x) {
                               x[0] += 0.4;
                               x[1] += 10;
                             }));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "n");
  EXPECT_EQ(found[1].name, "u");
  EXPECT_GT(found[0].distance, found[1].distance);
}

}  // namespace
}  // namespace harmonia
