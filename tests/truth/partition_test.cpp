#include "harmonia/monitor/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "../src/monitor/thresholds.hpp"

namespace harmonia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kNames{"a", "b", "c"};

struct Sample {
  Matrix<double> rows;
  std::vector<double> gamma;
};

// Uniform rows in the unit cube; gamma is a number of the row times one in [0.9, 1.1].
Sample sample(std::size_t rows, const std::function<double(const double*)>& level, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Sample s{Matrix<double>(rows, 3), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < 3; ++j) s.rows.row(i)[j] = uniform(random);
    s.gamma.push_back(level(s.rows.row(i)) * (0.9 + 0.2 * uniform(random)));
  }
  return s;
}

std::size_t region_of(const Partition& partition, const std::vector<double>& x) {
  return partition.region_of(x);
}

std::vector<std::size_t> sizes(const Partition& partition, const Matrix<double>& rows) {
  std::vector<std::size_t> sizes(partition.regions);
  for (std::size_t i = 0; i < rows.rows(); ++i)
    ++sizes.at(partition.region_of({rows.row(i), rows.columns()}));
  return sizes;
}

TEST(Partition, FindsPlantedBox) {
  const auto in_box = [](const double* x) { return x[0] > 0.7 && x[2] <= 0.4; };
  const Sample s = sample(5000, [&](const double* x) { return in_box(x) ? 10.0 : 1.0; });
  const Partition partition = make_partition(s.rows.view(), s.gamma, {.regions = 3, .least_rows = 50});
  ASSERT_EQ(partition.regions, 3U);
  const std::size_t inside = region_of(partition, {0.9, 0.5, 0.1});
  EXPECT_NE(inside, region_of(partition, {0.9, 0.5, 0.6}));
  EXPECT_NE(inside, region_of(partition, {0.3, 0.5, 0.1}));
  // Thresholds are among 63 candidates a feature, so rows within 1/64 of the box's sides may be off.
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < s.rows.rows(); ++i) {
    wrong += (partition.region_of({s.rows.row(i), 3}) == inside) != in_box(s.rows.row(i)) ? 1 : 0;
  }
  EXPECT_LE(wrong, 5000 / 64);
}

TEST(Partition, FindsAllLevelsOfSteps) {
  // Eight steps along b, not in order: the best split first leads to each of them.
  const Sample s = sample(8000, [](const double* x) { return 1 + (static_cast<int>(x[1] * 8) * 5) % 8; });
  const Partition partition = make_partition(s.rows.view(), s.gamma, {.regions = 8, .least_rows = 50});
  ASSERT_EQ(partition.regions, 8U);
  std::set<std::size_t> found;
  for (int k = 0; k < 8; ++k) found.insert(region_of(partition, {0.5, (k + 0.5) / 8, 0.5}));
  EXPECT_EQ(found.size(), 8U);
  EXPECT_EQ(region_text(partition, region_of(partition, {0.5, 0.03, 0.5}), kNames).substr(0, 6), "b ≤ ");
}

TEST(Partition, ChanceIsNoRegion) {
  // Stated: about 1 % of samples whose gamma is alike everywhere are split. Of 200, more than 8 come by
  // chance with probability below 1e-3.
  int split = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Sample s = sample(
        400, [](const double*) { return 1.0; }, seed);
    split += make_partition(s.rows.view(), s.gamma, {}).regions > 1 ? 1 : 0;
  }
  EXPECT_LE(split, 8);
}

TEST(Partition, OutliersDoNotRule) {
  Sample s = sample(2000, [](const double* x) { return x[0] > 0.5 ? 2.0 : 1.0; });
  for (const std::size_t i : {3U, 500U, 1999U}) s.gamma[i] = 1e30;
  const Partition partition = make_partition(s.rows.view(), s.gamma, {.regions = 2, .least_rows = 50});
  ASSERT_EQ(partition.regions, 2U);
  EXPECT_EQ(partition.nodes[0].feature, 0);
  EXPECT_NEAR(partition.nodes[0].threshold, 0.5, 1.0 / 64);
}

TEST(Partition, MissingValuesAreARegion) {
  Sample s = sample(1000, [](const double*) { return 1.0; });
  for (std::size_t i = 0; i < 1000; i += 4) {
    s.rows.row(i)[1] = kNan;
    s.gamma[i] = 5;
  }
  const Partition partition = make_partition(s.rows.view(), s.gamma, {.regions = 2, .least_rows = 50});
  ASSERT_EQ(partition.regions, 2U);
  EXPECT_EQ(sizes(partition, s.rows), (std::vector<std::size_t>{250, 750}));
  EXPECT_EQ(region_of(partition, {0.5, kNan, 0.5}), 0U);
  EXPECT_EQ(region_of(partition, {0.5, -1e300, 0.5}), 1U);
  EXPECT_EQ(region_text(partition, 0, kNames), "b missing");
  EXPECT_EQ(region_text(partition, 1, kNames), "b not missing");
}

TEST(Partition, MissingGoesLow) {
  Partition partition{.nodes = {{0, 0.5, 1, 2}, {-1, 0, 0, 0}, {-1, 0, 1, 0}}, .regions = 2};
  EXPECT_EQ(region_of(partition, {kNan}), 0U);
  EXPECT_EQ(region_of(partition, {0.5}), 0U);
  EXPECT_EQ(region_of(partition, {std::nextafter(0.5, 1)}), 1U);
}

TEST(Partition, NothingToSplit) {
  const Sample constant_gamma = sample(500, [](const double*) { return 0.0; });
  EXPECT_EQ(make_partition(constant_gamma.rows.view(), constant_gamma.gamma, {}).regions, 1U);
  Sample constant_features = sample(500, [](const double* x) { return x[0]; });
  for (std::size_t i = 0; i < 500; ++i) std::fill_n(constant_features.rows.row(i), 3, i % 2 == 0 ? 1 : kNan);
  const Partition by_missing = make_partition(constant_features.rows.view(), constant_features.gamma, {});
  EXPECT_EQ(by_missing.regions, 1U);
  const Sample few = sample(99, [](const double* x) { return x[0]; });
  EXPECT_EQ(make_partition(few.rows.view(), few.gamma, {.least_rows = 50}).regions, 1U);
  EXPECT_EQ(make_partition(few.rows.view(), few.gamma, {.regions = 1, .least_rows = 1}).regions, 1U);
  const Sample none = sample(0, [](const double*) { return 1.0; });
  const Partition everywhere = make_partition(none.rows.view(), none.gamma, {.least_rows = 1});
  EXPECT_EQ(everywhere.regions, 1U);
  EXPECT_EQ(region_text(everywhere, 0, kNames), "everywhere");
}

TEST(Partition, EqualValuesStayTogether) {
  // A feature of three values and gamma of two: the one split there is lies between values.
  Sample s = sample(900, [](const double*) { return 1.0; });
  for (std::size_t i = 0; i < 900; ++i) {
    std::fill_n(s.rows.row(i), 3, static_cast<double>(i % 3));
    s.gamma[i] = i % 3 == 2 ? 1 : 0;
  }
  const Partition partition = make_partition(s.rows.view(), s.gamma, {.least_rows = 10});
  ASSERT_EQ(partition.regions, 2U);
  EXPECT_EQ(partition.nodes[0].feature, 0);  // the first of features that are as good
  EXPECT_EQ(sizes(partition, s.rows), (std::vector<std::size_t>{600, 300}));
  EXPECT_EQ(region_text(partition, 1, kNames), "a > 1");
}

TEST(Partition, RegionsAreAsLargeAsAsked) {
  const Sample s = sample(3000, [](const double* x) { return x[0] + 3 * x[1] + x[2] * x[2]; });
  for (const std::size_t least : {20U, 100U, 700U}) {
    const Partition partition = make_partition(s.rows.view(), s.gamma, {.regions = 16, .least_rows = least});
    const std::vector<std::size_t> rows = sizes(partition, s.rows);
    EXPECT_GE(*std::min_element(rows.begin(), rows.end()), least);
    EXPECT_LE(partition.regions, 16U);
    EXPECT_GT(partition.regions, 1U);
    for (std::size_t i = 0; i < partition.nodes.size(); ++i) {
      const Partition::Node& node = partition.nodes[i];
      EXPECT_TRUE(node.feature < 0 || (node.low > i && node.high > i));
    }
  }
}

TEST(Partition, SameRowsSamePartition) {
  const Sample s = sample(3000, [](const double* x) { return 1 + x[0] * x[1]; });
  const Partition a = make_partition(s.rows.view(), s.gamma, {}),
                  b = make_partition(s.rows.view(), s.gamma, {});
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].feature, b.nodes[i].feature);
    EXPECT_EQ(a.nodes[i].threshold, b.nodes[i].threshold);
    EXPECT_EQ(a.nodes[i].low, b.nodes[i].low);
  }
}

TEST(Partition, RegionsInWords) {
  const Partition partition{.nodes = {{0, 12.8, 1, 2},
                                      {1, 2.4, 3, 4},
                                      {-1, 0, 3, 0},
                                      {1, 1.9, 5, 6},
                                      {-1, 0, 2, 0},
                                      {-1, 0, 0, 0},
                                      {-1, 0, 1, 0}},
                            .regions = 4};
  const std::vector<std::string> names{"alcohol", "flava\nnoids"};
  EXPECT_EQ(region_text(partition, 0, names), "alcohol ≤ 12.8 and flava noids ≤ 1.9");
  EXPECT_EQ(region_text(partition, 1, names), "alcohol ≤ 12.8 and 1.9 < flava noids ≤ 2.4");
  EXPECT_EQ(region_text(partition, 2, names), "alcohol ≤ 12.8 and flava noids > 2.4");
  EXPECT_EQ(region_text(partition, 3, names), "alcohol > 12.8");
}

TEST(Thresholds, ShortNumbers) {
  EXPECT_EQ(short_between(12.7849, 12.8301), 12.8);
  EXPECT_EQ(short_between(0, 1), 0.5);
  EXPECT_EQ(short_between(1, 2), 1);
  EXPECT_EQ(short_between(30, 31), 30);
  EXPECT_EQ(short_between(-3, -2), -3);
  const double next = std::nextafter(1.0, 2.0);
  EXPECT_EQ(short_between(1, next), 1);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [a, b] :
       {std::pair(-infinity, infinity), {-infinity, 3.0}, {3.0, infinity}, {-1e308, 1e308}}) {
    const double between = short_between(a, b);
    EXPECT_TRUE(std::isfinite(between) && a <= between && between < b) << a << " " << b << " " << between;
  }
}

TEST(Thresholds, PartsAreAboutEquallyFull) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> skewed(0, 2);
  std::vector<double> values(10000);
  for (double& value : values) value = skewed(random);
  const std::vector<double> cuts = equal_cuts(values, 16);
  ASSERT_EQ(cuts.size(), 15U);
  std::vector<int> counts(16);
  for (const double value : values)
    ++counts[static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin())];
  for (const int count : counts) EXPECT_NEAR(count, 625, 625 / 4 + 1);
  EXPECT_EQ(equal_cuts({3, kNan, 1, 3, 1, 2}, 16), (std::vector<double>{1, 2}));
  EXPECT_TRUE(equal_cuts({kNan, 5, 5}, 16).empty());
  EXPECT_TRUE(equal_cuts({}, 16).empty());
  std::vector<double> zeros(900, 0.0);
  for (int i = 1; i <= 100; ++i) zeros.push_back(i);
  const std::vector<double> mostly = equal_cuts(zeros, 16);
  EXPECT_TRUE(std::is_sorted(mostly.begin(), mostly.end()));
  EXPECT_LT(mostly.front(), 1);
  EXPECT_GE(mostly.front(), 0);
}

}  // namespace
}  // namespace harmonia
