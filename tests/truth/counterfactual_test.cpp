#include "harmonia/monitor/counterfactual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/functions.hpp"

namespace harmonia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kPlenty = 100000;
const std::vector<std::string> kNames{"a", "b", "c"};

GammaOptions cross(double radius) {
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  options.ball.radius = radius;
  options.output = parse_output("column:0");
  return options;
}

// Rows of three features drawn by `draw`, measured and made a baseline.
template <class Draw>
Baseline baseline_of(const Model& model, const GammaOptions& options, const Draw& draw) {
  std::mt19937_64 random(3);
  Matrix<double> rows(1500, 3);
  for (std::size_t i = 0; i < rows.rows(); ++i) draw(random, rows.row(i));
  harmonia::Run run;
  return make_baseline(rows.view(), gamma(model, rows.view(), options, run).rows, kNames, options, 1, {});
}

void uniform_row(std::mt19937_64& random, double* x) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (std::size_t j = 0; j < 3; ++j) x[j] = uniform(random);
}

// gamma of a sum of cubes in the cross-polytope of radius r is r² |Σ x|, exactly: 3 x r² over three features.
const test::RowFunction kFirstCube(3, [](const double* x) { return x[0] * x[0] * x[0] + x[1] - 2 * x[2]; });
const test::RowFunction kTwoCubes(3, [](const double* x) { return std::pow(x[0], 3) + std::pow(x[1], 3); });

TEST(Counterfactual, ChangesTheFeatureThatIsToBlame) {
  const Baseline baseline = baseline_of(kFirstCube, cross(0.5), uniform_row);
  const double normal = normal_gamma(baseline);
  EXPECT_NEAR(normal, 0.25 * 0.95, 0.25 * 0.03);
  harmonia::Run run;
  const std::vector<double> x{5, 0.9, -0.9};
  const auto back = find_counterfactual(kFirstCube, baseline, x, run, kPlenty);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->features, (std::vector<std::size_t>{0}));
  EXPECT_LE(back->gamma, normal);
  EXPECT_NEAR(back->gamma, 0.25 * std::abs(back->values[0]), 1e-9);
  // The least change leads to where gamma is just normal, 4.05 away; a quarter to three quarters is 1 wide.
  EXPECT_NEAR(back->values[0], normal / 0.25, 0.02);
  EXPECT_NEAR(back->distance, 5 - back->values[0], 0.15 * (5 - back->values[0]));
  EXPECT_LE(run.ledger.spent(), kPlenty);
}

TEST(Counterfactual, ChangesAllThatIsNeeded) {
  const Baseline baseline = baseline_of(kTwoCubes, cross(0.5), uniform_row);
  harmonia::Run run;
  const auto both = find_counterfactual(kTwoCubes, baseline, std::vector<double>{5, 5, 3}, run, kPlenty);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->features, (std::vector<std::size_t>{0, 1}));
  const auto one = find_counterfactual(kTwoCubes, baseline, std::vector<double>{0.1, -5, 3}, run, kPlenty);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->features, (std::vector<std::size_t>{1}));
}

TEST(Counterfactual, WholeNumbersStayWhole) {
  GammaOptions options = cross(1);
  options.schema = plain_schema(kNames);
  options.schema[0].integer = true;
  const Baseline baseline = baseline_of(kFirstCube, options, [](std::mt19937_64& random, double* x) {
    uniform_row(random, x);
    x[0] = static_cast<double>(random() % 7) - 3;
  });
  harmonia::Run run;
  const auto back = find_counterfactual(kFirstCube, baseline, std::vector<double>{9, 0, 0}, run, kPlenty);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->features, (std::vector<std::size_t>{0}));
  EXPECT_EQ(back->values[0], 3);
}

TEST(Counterfactual, FixedFeaturesNeverChange) {
  GammaOptions options = cross(0.5);
  options.schema = plain_schema(kNames);
  options.schema[0].fixed = true;
  const auto draw = [](std::mt19937_64& random, double* x) {
    uniform_row(random, x);
    x[0] = static_cast<double>(1 + random() % 2);
  };
  harmonia::Run run;
  std::string reason;
  // gamma grows with the fixed a, and with |b|: b has to make good for both.
  const test::RowFunction product(3, [](const double* x) { return x[0] * x[1] * x[1] * x[1]; });
  const Baseline some = baseline_of(product, options, draw);
  const auto back = find_counterfactual(product, some, std::vector<double>{6, 0.9, 0}, run, kPlenty);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->features, (std::vector<std::size_t>{1}));
  // gamma grows with the fixed a alone.
  const test::RowFunction square(3, [](const double* x) { return x[0] * x[1] * x[1]; });
  Baseline none = baseline_of(square, options, draw);
  EXPECT_FALSE(find_counterfactual(square, none, std::vector<double>{6, 0.9, 0}, run, kPlenty, &reason));
  EXPECT_EQ(reason, "gamma does not become normal on the way to any of 32 rows; 1 feature must not change");
  for (Feature& feature : none.options.schema) feature.fixed = true;
  EXPECT_FALSE(find_counterfactual(square, none, std::vector<double>{6, 0.9, 0}, run, kPlenty, &reason));
  EXPECT_EQ(reason, "no feature may change: all of them are fixed");
}

TEST(Counterfactual, FillsInWhatIsMissing) {
  test::RowFunction model(3, [](const double* x) { return (std::isnan(x[0]) ? 10 : 1) * std::pow(x[1], 3); });
  model.info().takes_missing = true;
  const Baseline baseline = baseline_of(model, cross(0.5), uniform_row);
  harmonia::Run run;
  const auto back = find_counterfactual(model, baseline, std::vector<double>{kNan, 0.5, 0.3}, run, kPlenty);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->features, (std::vector<std::size_t>{0}));
  EXPECT_LE(std::abs(back->values[0]), 1);
  EXPECT_EQ(back->distance, 1);
}

TEST(Counterfactual, KeepsToItsEvaluations) {
  const Baseline baseline = baseline_of(kTwoCubes, cross(0.5), uniform_row);
  bool found = false;
  for (const std::uint64_t most : {0U, 6U, 7U, 20U, 100U, 300U, 2000U}) {
    harmonia::Run run;
    std::string reason;
    const auto back =
        find_counterfactual(kTwoCubes, baseline, std::vector<double>{5, 5, 3}, run, most, &reason);
    EXPECT_LE(run.ledger.spent(), most);
    found = back.has_value();
    if (found) {
      EXPECT_LE(back->gamma, normal_gamma(baseline));
    } else {
      EXPECT_EQ(reason, "none was found within " + std::to_string(most) + " evaluations");
    }
  }
  EXPECT_TRUE(found);
}

TEST(Counterfactual, NothingToDo) {
  Baseline baseline = baseline_of(kFirstCube, cross(0.5), uniform_row);
  harmonia::Run run;
  std::string reason;
  EXPECT_FALSE(
      find_counterfactual(kFirstCube, baseline, std::vector<double>{0.1, 0, 0}, run, kPlenty, &reason));
  EXPECT_EQ(reason, "gamma is normal as it is");
  baseline.rows.clear();
  EXPECT_FALSE(
      find_counterfactual(kFirstCube, baseline, std::vector<double>{5, 0, 0}, run, kPlenty, &reason));
  EXPECT_EQ(reason, "the baseline keeps no row of normal gamma to go towards");
}

TEST(Counterfactual, SameSeedSameChange) {
  GammaOptions options = cross(0.5);
  options.ball = parse_ball("random-pairs:16");  // gamma is an estimate
  options.ball.radius = 0.5;
  const Baseline baseline = baseline_of(kFirstCube, options, uniform_row);
  const std::vector<double> x{5, 0.9, -0.9};
  harmonia::Run one, two;
  two.threads = 2;
  const auto a = find_counterfactual(kFirstCube, baseline, x, one, kPlenty);
  const auto b = find_counterfactual(kFirstCube, baseline, x, two, kPlenty);
  ASSERT_EQ(a.has_value(), b.has_value());
  ASSERT_TRUE(a);
  EXPECT_EQ(a->values, b->values);
  EXPECT_EQ(a->gamma, b->gamma);
}

// A baseline whose kept rows are these; features a and b spread over 0 … 1 and 0 … 1000.
Baseline kept(const std::vector<std::vector<double>>& rows) {
  Baseline baseline;
  baseline.features = {"a", "b"};
  baseline.edges = {{-1e-9, 0.25, 0.5, 0.75, 1}, {-1e-9, 250, 500, 750, 1000}};
  baseline.partition.nodes = {{}};
  baseline.counts = no_counts(baseline);
  for (auto& bins : baseline.counts.features) bins = {0, 25, 25, 25, 25, 0, 0};
  for (const auto& row : rows) baseline.rows.push_back({row, 0.1, 0, ""});
  return baseline;
}

TEST(NearestRow, InTheFeaturesSpreads) {
  const Baseline baseline = kept({{0.5, 400}, {0.9, 500}, {kNan, 480}, {kNan, kNan}});
  EXPECT_EQ(nearest_row(baseline, std::vector<double>{0.5, 405})->values, baseline.rows[0].values);
  EXPECT_EQ(nearest_row(baseline, std::vector<double>{0.9, 499})->values, baseline.rows[1].values);
  EXPECT_EQ(nearest_row(baseline, std::vector<double>{0.5, 480})->values[1], 480);
  EXPECT_EQ(nearest_row(baseline, std::vector<double>{kNan, 410})->values, baseline.rows[0].values);
  EXPECT_FALSE(nearest_row(baseline, std::vector<double>{kNan, kNan}));
  EXPECT_FALSE(nearest_row(kept({}), std::vector<double>{0.5, 500}));
}

TEST(NearestRow, FixedFeaturesAreEqualOrNot) {
  Baseline baseline = kept({{0.5, 400}, {0.9, 405}});
  baseline.options.schema = plain_schema(baseline.features);
  baseline.options.schema[1].fixed = true;
  EXPECT_EQ(nearest_row(baseline, std::vector<double>{0.6, 405})->values, baseline.rows[1].values);
  EXPECT_EQ(nearest_row(baseline, std::vector<double>{0.6, 401})->values, baseline.rows[0].values);
}

}  // namespace
}  // namespace harmonia
