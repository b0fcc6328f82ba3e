#include "harmonia/monitor/baseline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "support/expect_error.hpp"

namespace harmonia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<std::string> kNames{"a", "b"};

struct Measured {
  Matrix<double> rows;
  std::vector<GammaRow> gamma;
};

GammaRow entry(std::size_t row, double gamma) {
  GammaRow entry;
  entry.row = row;
  entry.gamma = gamma;
  entry.value = 1;
  entry.decided_class = static_cast<long long>(row % 3);
  return entry;
}

// Uniform rows; gamma is exponential, of mean 1 where a <= 0.5 and 3 elsewhere.
Measured measured(std::size_t rows, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::exponential_distribution<double> exponential(1);
  Measured m{Matrix<double>(rows, 2), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < 2; ++j) m.rows.row(i)[j] = uniform(random);
    m.gamma.push_back(entry(i, exponential(random) * (m.rows.row(i)[0] > 0.5 ? 3 : 1)));
    m.gamma.back().id = "row " + std::to_string(i);
  }
  return m;
}

Baseline baseline_of(const Measured& m, const BaselineOptions& options = {}, std::uint64_t seed = 1) {
  return make_baseline(m.rows.view(), m.gamma, kNames, {}, seed, options);
}

void expect_same(const RowCounts& a, const RowCounts& b) {
  EXPECT_EQ(a.gamma, b.gamma);
  EXPECT_EQ(a.gamma_sum, b.gamma_sum);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.classes, b.classes);
}

TEST(Baseline, LearnsFromSomeRowsAndCountsTheOthers) {
  const Measured m = measured(4000);
  const Baseline baseline = baseline_of(m, {.partition = {.regions = 2}});
  EXPECT_EQ(baseline.learning_rows, 1200U);
  EXPECT_EQ(baseline.reference_rows, 2800U);
  EXPECT_EQ(baseline.rows_without_value, 0U);
  EXPECT_EQ(baseline.gamma.rows, 2800U);
  ASSERT_EQ(baseline.partition.regions, 2U);
  EXPECT_NEAR(baseline.partition.nodes[0].threshold, 0.5, 0.05);
  EXPECT_NEAR(baseline.gamma.mean.value(), 2, 0.2);
  EXPECT_NEAR(baseline.regions[0].mean.value(), 1, 0.15);
  EXPECT_NEAR(baseline.regions[1].mean.value(), 3, 0.3);
  EXPECT_LT(baseline.regions[0].low.value(), baseline.regions[0].mean.value());
  EXPECT_GT(baseline.regions[0].high.value(), baseline.regions[0].mean.value());
  EXPECT_EQ(baseline.regions[0].rows + baseline.regions[1].rows, 2800U);
  EXPECT_EQ(total(baseline.counts.gamma[0]), baseline.regions[0].rows);
  EXPECT_EQ(total(baseline.counts.classes), 2800U);
  for (const auto& bins : baseline.counts.features) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : bins) sum += count;
    EXPECT_EQ(sum, 2800U);
  }
  EXPECT_NEAR(mean_gamma(baseline, baseline.counts), baseline.gamma.mean.value(), 1e-6);
  EXPECT_NEAR(mean_gamma(baseline, baseline.counts, 1), baseline.regions[1].mean.value(), 1e-6);
  EXPECT_EQ(mean_gamma(baseline, no_counts(baseline)), 0);
  EXPECT_EQ(mean_gamma(baseline, no_counts(baseline), 1), 0);
}

TEST(Baseline, RowsAreDealtOutByNumberAndSeedAlone) {
  const Measured m = measured(1000);
  Measured other = measured(1000, 2);  // other values under the same numbers
  const auto kept = [](const Baseline& baseline) {
    std::set<std::string> ids;
    for (const BaselineRow& row : baseline.rows) ids.insert(row.id);
    return ids;
  };
  const BaselineOptions all{.kept_rows = 1000};
  EXPECT_EQ(kept(baseline_of(m, all)).size(), 700U);
  EXPECT_EQ(kept(baseline_of(m, all)), kept(baseline_of(other, all)));
  EXPECT_NE(kept(baseline_of(m, all, 1)), kept(baseline_of(m, all, 2)));
}

TEST(Baseline, ReferenceIsExchangeableWithLaterRows) {
  // Given the partition, reference rows and rows that come later are alike. Mean gamma of reference rows in
  // region 1 minus that of later rows there, over 200 samples: 0 within 4 standard errors of its mean, which
  // fails by chance with probability below 1e-4.
  std::vector<double> differences;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Measured m = measured(400, seed), later = measured(400, 1000 + seed);
    const Baseline baseline = baseline_of(m, {.partition = {.regions = 2, .least_rows = 50}}, seed);
    if (baseline.partition.regions < 2) continue;
    RowCounts counts = no_counts(baseline);
    for (std::size_t i = 0; i < 400; ++i) count_row(baseline, {later.rows.row(i), 2}, later.gamma[i], counts);
    differences.push_back(mean_gamma(baseline, baseline.counts, 1) - mean_gamma(baseline, counts, 1));
  }
  ASSERT_GT(differences.size(), 150U);
  Moments moments;
  for (const double difference : differences) moments.add(difference);
  EXPECT_LT(std::abs(moments.mean()), 4 * moments.standard_error());
}

TEST(Baseline, CountsAddUpInAnyOrder) {
  const Measured m = measured(1000);
  const Baseline baseline = baseline_of(m);
  RowCounts forwards = no_counts(baseline), backwards = no_counts(baseline), merged = no_counts(baseline);
  for (std::size_t i = 0; i < 1000; ++i) {
    count_row(baseline, {m.rows.row(i), 2}, m.gamma[i], forwards);
    count_row(baseline, {m.rows.row(999 - i), 2}, m.gamma[999 - i], backwards);
  }
  std::vector<RowCounts> parts(7, no_counts(baseline));
  for (std::size_t i = 0; i < 1000; ++i)
    count_row(baseline, {m.rows.row(i), 2}, m.gamma[i], parts[i * i % 7]);
  for (const std::size_t part : {4U, 2U, 6U, 0U, 5U, 1U, 3U}) merge(merged, parts[part]);
  expect_same(forwards, backwards);
  expect_same(forwards, merged);
}

TEST(Baseline, SumsStayAtTheLargestNumber) {
  const Measured m = measured(100);
  const Baseline baseline = baseline_of(m);
  RowCounts counts = no_counts(baseline);
  const std::vector<double> x{0.5, 0.5};
  for (int i = 0; i < 5; ++i) count_row(baseline, x, entry(0, 1e300), counts);
  const std::size_t region = baseline.partition.region_of(x);
  EXPECT_EQ(counts.gamma_sum[region], std::numeric_limits<std::int64_t>::max());
  merge(counts, RowCounts(counts));
  EXPECT_EQ(counts.gamma_sum[region], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(counts.gamma[region].at(kValueBins - 1), 10U);
}

TEST(Baseline, TheUnitIsFarBelowTheMean) {
  for (const double scale : {1e-6, 1.0, 1e9}) {
    Measured m = measured(200);
    for (GammaRow& row : m.gamma) row.gamma = *row.gamma * scale;
    const Baseline baseline = baseline_of(m);
    EXPECT_LT(baseline.unit, 1e-2 * baseline.gamma.mean.value());
    EXPECT_EQ(std::exp2(std::round(std::log2(baseline.unit))), baseline.unit);
  }
  // gamma that is rounding: a row whose gamma is as large as the output still fits, billions of times.
  Measured harmonic = measured(200);
  for (GammaRow& row : harmonic.gamma) row.gamma = *row.gamma * 1e-16;
  EXPECT_GE(baseline_of(harmonic).unit, 0x1p-31);
  for (GammaRow& row : harmonic.gamma) row.gamma = row.value = 0;
  const Baseline zero = baseline_of(harmonic);
  EXPECT_EQ(zero.unit, 0x1p-30);
  EXPECT_EQ(zero.partition.regions, 1U);
  EXPECT_EQ(mean_gamma(zero, zero.counts), 0);
}

TEST(Baseline, RowsWithoutAValueAreLeftOut) {
  Measured m = measured(120);
  m.gamma[3].gamma.reset();
  m.gamma[7].gamma = kNan;
  m.gamma[9].gamma = kInfinity;
  const Baseline baseline = baseline_of(m, {.kept_rows = 1000});
  EXPECT_EQ(baseline.rows_without_value, 3U);
  EXPECT_EQ(baseline.learning_rows + baseline.reference_rows, 117U);
  for (const BaselineRow& row : baseline.rows) EXPECT_TRUE(std::isfinite(row.gamma));
  for (const GammaStatistics& region : baseline.regions) EXPECT_TRUE(std::isfinite(region.mean.value_or(0)));
}

TEST(Baseline, BinsOfFeatures) {
  Measured m = measured(2000);
  for (std::size_t i = 0; i < 2000; ++i) m.rows.row(i)[1] = i % 5 == 0 ? kNan : 7;
  const Baseline baseline = baseline_of(m);
  EXPECT_EQ(baseline.edges[0].size(), 17U);  // 16 bins within what was seen, and one on either side
  EXPECT_TRUE(std::is_sorted(baseline.edges[0].begin(), baseline.edges[0].end()));
  for (std::size_t b = 1; b <= 16; ++b)
    EXPECT_NEAR(static_cast<double>(baseline.counts.features[0][b]), 87.5, 45);
  EXPECT_EQ(baseline.edges[1], (std::vector<double>{std::nextafter(7.0, 0.0), 7}));
  EXPECT_EQ(baseline.counts.features[1][0], 0U);
  EXPECT_EQ(baseline.counts.features[1][2], 0U);
  EXPECT_EQ(baseline.counts.features[1][1] + baseline.counts.features[1][3], 1400U);
  EXPECT_EQ(feature_bin(baseline, 1, 6.9), 0U);
  EXPECT_EQ(feature_bin(baseline, 1, 7), 1U);
  EXPECT_EQ(feature_bin(baseline, 1, 7.1), 2U);
  EXPECT_EQ(feature_bin(baseline, 1, kInfinity), 2U);
  EXPECT_EQ(feature_bin(baseline, 1, kNan), 3U);
}

TEST(Baseline, AFeatureThatIsAlwaysMissing) {
  Measured m = measured(200);
  for (std::size_t i = 0; i < 200; ++i) m.rows.row(i)[0] = kNan;
  const Baseline baseline = baseline_of(m);
  EXPECT_TRUE(baseline.edges[0].empty());
  EXPECT_EQ(baseline.counts.features[0], (std::vector<std::uint64_t>{0, 140}));
}

TEST(Baseline, ClassesBeyondNumberAreOne) {
  const Baseline baseline = baseline_of(measured(100));
  RowCounts counts = no_counts(baseline);
  const std::vector<double> x{0.5, 0.5};
  for (const long long number : {-5LL, 2LL, 999LL, 1000LL, 1LL << 40}) {
    GammaRow row = entry(0, 1);
    row.decided_class = number;
    count_row(baseline, x, row, counts);
  }
  GammaRow undecided = entry(0, 1);
  undecided.decided_class.reset();
  count_row(baseline, x, undecided, counts);
  EXPECT_EQ(counts.classes, (BinCounts{{2, 1}, {999, 1}, {kOtherClass, 3}}));
}

TEST(Baseline, KeptRowsHaveTheirPlace) {
  const Measured m = measured(500);
  const Baseline baseline = baseline_of(m, {.kept_rows = 40});
  ASSERT_EQ(baseline.rows.size(), 40U);
  for (const BaselineRow& row : baseline.rows) {
    const std::size_t number = std::stoul(row.id.substr(4));
    EXPECT_EQ(row.values, std::vector<double>(m.rows.row(number), m.rows.row(number) + 2));
    EXPECT_EQ(row.gamma, m.gamma[number].gamma);
    EXPECT_EQ(row.region, baseline.partition.region_of(row.values));
  }
}

TEST(Baseline, WhatCannotBeUsed) {
  const Measured few = measured(19), m = measured(20);
  test::expect_error(ErrorCode::input, "19 rows with a gamma, of 19; a baseline needs at least 20",
                     [&] { baseline_of(few); });
  EXPECT_EQ(baseline_of(m).reference_rows, 14U);
  EXPECT_EQ(baseline_of(m, {.learning_share = 0.001}).learning_rows, 1U);
  EXPECT_EQ(baseline_of(m, {.learning_share = 0.999}).reference_rows, 1U);
  test::expect_error(ErrorCode::usage,
                     "the share of rows to learn regions from is 1; expected above 0 and below 1",
                     [&] { baseline_of(m, {.learning_share = 1}); });
  test::expect_error(ErrorCode::usage, "a baseline of 0 regions was asked for; expected at least 1",
                     [&] { baseline_of(m, {.partition = {.regions = 0}}); });
  test::expect_error(ErrorCode::usage, "1 bin of a feature was asked for; expected at least 2 bins",
                     [&] { baseline_of(m, {.feature_bins = 1}); });
  test::expect_error(
      ErrorCode::usage,
      "output all has a gamma for every column; a baseline needs one for every row, such as predicted", [&] {
        GammaOptions all;
        all.output.kind = OutputChoice::Kind::all;
        make_baseline(m.rows.view(), m.gamma, kNames, all, 1, {});
      });
}

}  // namespace
}  // namespace harmonia
