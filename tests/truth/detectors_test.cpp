#include "harmonia/monitor/detectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/core/statistics.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kRegions = 4;

/// Draws of one stream of rows; the reference has row numbers of its own.
struct Draws {
  std::uint64_t seed;
  std::uint64_t stream = 0;
  double operator()(std::uint64_t row, std::uint64_t what) const {
    return draw_uniform({seed, Stream::uniform_data, row, stream}, what);
  }
};
constexpr std::uint64_t kReference = 1U << 31;

struct Measured {
  std::size_t region;
  double gamma;
};

/// Regions are of different size and have different gamma, exponential, a tenth of it 0.
Measured usual(const Draws& draws, std::uint64_t row) {
  const double u = draws(row, 0), gamma = -std::log1p(-draws(row, 1));
  const std::size_t region = u < 0.1 ? 0 : u < 0.3 ? 1 : u < 0.6 ? 2 : 3;
  return {region, draws(row, 2) < 0.1 ? 0 : gamma * static_cast<double>(1 + region)};
}

/// The same with gamma rounded to halves: a few different numbers.
Measured tied(const Draws& draws, std::uint64_t row) {
  const Measured measured = usual(draws, row);
  return {measured.region, std::round(2 * measured.gamma) / 2};
}

using Rows = std::function<Measured(const Draws&, std::uint64_t)>;

Baseline baseline_of(const Rows& rows, const Draws& draws, std::uint64_t count) {
  Baseline baseline;
  baseline.counts.gamma.resize(kRegions);
  for (std::uint64_t row = kReference; row < kReference + count; ++row) {
    const Measured measured = rows(draws, row);
    ++baseline.counts.gamma[measured.region][value_bin(measured.gamma)];
  }
  return baseline;
}

/// How many of the streams without a change raise an alarm.
std::uint64_t false_alarms(std::uint64_t streams, std::uint64_t rows, double rate) {
  std::uint64_t alarms = 0;
  for (std::uint64_t stream = 0; stream < streams; ++stream) {
    const Draws draws{7, stream};
    Detectors detectors(baseline_of(tied, draws, 300), {.false_alarms = rate, .seed = stream + 1});
    for (std::uint64_t row = 0; row < rows; ++row) {
      const Measured measured = tied(draws, row);
      detectors.add(measured.region, measured.gamma);
    }
    if (!detectors.alarms().empty()) ++alarms;
  }
  return alarms;
}

// At most 2 alarms are expected; more than 6 of 200 have a probability below 0.005.
TEST(CoverageOfDetectors, TwoHundredLongStreams) { EXPECT_LE(false_alarms(200, 5000, 0.01), 6U); }

// False-alarm rate of this test: 1e-6.
TEST(CoverageOfDetectors, TwoThousandShortStreams) {
  const std::uint64_t alarms = false_alarms(2000, 400, 0.1);
  EXPECT_LE(clopper_pearson_low(alarms, 2000, 1 - 1e-6), 0.1) << alarms;
}

/// What a stream with a change comes to.
struct Found {
  double delay = 0;  ///< rows from the change to the alarm
  Finding first;     ///< the surest
};

constexpr std::uint64_t kNever = 1000000;

Found find(const Rows& rows, std::uint64_t change, std::uint64_t seed, std::uint64_t reference = 1000) {
  const Draws draws{seed};
  Detectors detectors(baseline_of(usual, draws, reference), {.seed = seed});
  for (std::uint64_t row = 0; row < change + 50000; ++row) {
    const Measured measured = row < change ? usual(draws, row) : rows(draws, row);
    detectors.add(measured.region, measured.gamma);
    const std::vector<Finding> alarms = detectors.alarms();
    if (!alarms.empty()) return {static_cast<double>(row + 1) - static_cast<double>(change), alarms[0]};
  }
  return {.delay = kNever, .first = {}};
}

/// The median delay over 11 streams, none of which raises an alarm before the change.
double median_delay(const Rows& rows, std::uint64_t change) {
  std::vector<double> delays;
  for (std::uint64_t seed = 1; seed <= 11; ++seed) {
    delays.push_back(find(rows, change, seed).delay);
    EXPECT_GT(delays.back(), 0) << seed;
  }
  return median(delays, 0.5)->value;
}

Rows times(double factor) {
  return [factor](const Draws& draws, std::uint64_t row) {
    const Measured measured = usual(draws, row);
    return Measured{measured.region, factor * measured.gamma};
  };
}

TEST(Detectors, FindALargerMean) {
  EXPECT_LT(median_delay(times(2), 1000), 120);
  EXPECT_LT(median_delay(times(1.5), 1000), 350);
  const Found found = find(times(2), 1000, 1);
  EXPECT_FALSE(found.first.region.has_value());
  EXPECT_EQ(found.first.change, Change::larger);
  EXPECT_LE(found.first.p_value, 0.01);
  EXPECT_NEAR(static_cast<double>(found.first.since), 1000, 60);
}

TEST(Detectors, FindASmallerMean) {
  EXPECT_LT(median_delay(times(0.5), 1000), 200);
  EXPECT_EQ(find(times(0.5), 1000, 1).first.change, Change::smaller);
}

TEST(Detectors, FindAChangeFromTheFirstRow) { EXPECT_LT(median_delay(times(2), 0), 80); }

TEST(Detectors, FindALateChange) {
  const Found found = find(times(1.5), 100000, 1);
  EXPECT_GT(found.delay, 0);
  EXPECT_LT(found.delay, 500);
  EXPECT_NEAR(static_cast<double>(found.first.since), 100000, 200);
}

TEST(Detectors, FindAnotherDistributionOfTheSameMean) {
  // Of exponential numbers with a tenth of zeros, the mean is 0.9; these lie around it.
  const Rows narrow = [](const Draws& draws, std::uint64_t row) {
    return Measured{usual(draws, row).region,
                    (0.6 + 0.6 * draws(row, 1)) * static_cast<double>(1 + usual(draws, row).region)};
  };
  EXPECT_LT(median_delay(narrow, 1000), 150);
  EXPECT_EQ(find(narrow, 1000, 1).first.change, Change::shape);
}

TEST(Detectors, FindTheRegionThatChanged) {
  const Rows one_region = [](const Draws& draws, std::uint64_t row) {
    const Measured measured = usual(draws, row);
    return Measured{measured.region, measured.gamma * (measured.region == 1 ? 4 : 1)};
  };
  EXPECT_LT(median_delay(one_region, 1000), 300);
  const Found found = find(one_region, 1000, 1);
  EXPECT_EQ(found.first.region, 1U);
  EXPECT_NEAR(static_cast<double>(found.first.since), 1000, 100);
}

TEST(Detectors, FindASlowTrend) {
  const Rows trend = [](const Draws& draws, std::uint64_t row) {
    const Measured measured = usual(draws, row);
    return Measured{measured.region, measured.gamma * (1 + 1e-4 * static_cast<double>(row - 1000))};
  };
  EXPECT_LT(median_delay(trend, 1000), 4000);  // when it is 40 % above the baseline
}

TEST(Detectors, BeginAgain) {
  const Draws draws{3};
  const Baseline baseline = baseline_of(usual, draws, 1000);
  Detectors detectors(baseline, {.seed = 3}), fresh(baseline, {.seed = 3});
  const auto add = [&](Detectors& to, std::uint64_t row, double factor) {
    const Measured measured = times(factor)(draws, row);
    to.add(measured.region, measured.gamma);
  };
  for (std::uint64_t row = 0; row < 500; ++row) add(detectors, row, 2);
  EXPECT_FALSE(detectors.alarms().empty());
  detectors.restart();
  EXPECT_TRUE(detectors.alarms().empty());
  EXPECT_EQ(detectors.p_values(), std::vector<double>(1 + kRegions, 1.0));
  EXPECT_EQ(detectors.rows(), 500U);
  for (std::uint64_t row = 500; row < 3000; ++row) add(detectors, row, 1);
  EXPECT_TRUE(detectors.alarms().empty());  // compared with the baseline alone, it is as usual
  for (std::uint64_t row = 3000; row < 3500; ++row) add(detectors, row, 2);
  ASSERT_FALSE(detectors.alarms().empty());
  EXPECT_NEAR(static_cast<double>(detectors.alarms()[0].since), 3000, 60);
}

TEST(Detectors, AreTheSameAfterSaving) {
  const Draws draws{5};
  const Baseline baseline = baseline_of(tied, draws, 200);
  Detectors straight(baseline, {.seed = 5});
  auto in_pieces = std::make_unique<Detectors>(baseline, DetectorOptions{.seed = 5});
  for (std::uint64_t row = 0; row < 1500; ++row) {
    const Measured measured = row < 1000 ? tied(draws, row) : times(1.5)(draws, row);
    straight.add(measured.region, measured.gamma);
    in_pieces->add(measured.region, measured.gamma);
    if (draws(row, 9) < 0.01 || row == 0) {
      const std::string saved = in_pieces->save();
      in_pieces = std::make_unique<Detectors>(baseline, DetectorOptions{.seed = 5});
      in_pieces->restore(saved);
    }
    ASSERT_EQ(straight.p_values(), in_pieces->p_values()) << row;
  }
  EXPECT_EQ(straight.save(), in_pieces->save());
  EXPECT_EQ(straight.alarms().size(), in_pieces->alarms().size());
  EXPECT_LT(straight.p_values()[0], 0.01);
}

TEST(Detectors, SortAlarmsAndBoundPValues) {
  const Draws draws{5};
  Detectors detectors(baseline_of(usual, draws, 1000), {});
  for (std::uint64_t row = 0; row < 20000; ++row) {
    const Measured measured = times(row % 50 == 0 ? 1 : 1000)(draws, row);
    detectors.add(measured.region, measured.gamma);
  }
  const std::vector<Finding> alarms = detectors.alarms();
  ASSERT_EQ(alarms.size(), 1 + kRegions);
  for (std::size_t i = 0; i < alarms.size(); ++i) {
    EXPECT_GT(alarms[i].p_value, 0);
    if (i > 0) {
      EXPECT_GE(alarms[i].p_value, alarms[i - 1].p_value);
    }
  }
}

TEST(Detectors, OfASingleRegionAreOne) {
  const Draws draws{5};
  Baseline baseline = baseline_of(usual, draws, 1000);
  BinCounts all;
  for (const BinCounts& counts : baseline.counts.gamma)
    for (const auto& [bin, count] : counts) all[bin] += count;
  baseline.counts.gamma = {all};
  Detectors detectors(baseline, {});
  for (std::uint64_t row = 0; row < 500; ++row) detectors.add(0, 2 * usual(draws, row).gamma);
  EXPECT_EQ(detectors.p_values().size(), 2U);
  EXPECT_EQ(detectors.p_values()[0], detectors.p_values()[1]);
  EXPECT_EQ(detectors.alarms().size(), 1U);
}

TEST(Detectors, RefuseWhatIsNotTheirs) {
  const Baseline baseline = baseline_of(usual, {5}, 100);
  const auto input = [&](const std::string& saved, const std::string& message) {
    Detectors detectors(baseline, {});
    test::expect_error(ErrorCode::input, "the saved state of the detectors " + message,
                       [&] { detectors.restore(saved); });
  };
  input(R"({"rows": 1, "detectors": []})", "has 0 detectors; expected 5");
  std::string bad_bin = Detectors(baseline, {}).save();
  bad_bin.replace(bad_bin.find(R"("added":[])"), 10, R"("added":[[5000,1]])");
  input(bad_bin, "has bin 5000; expected less than 3841");
  Detectors detectors(baseline, {});
  EXPECT_THROW(detectors.restore("{"), Error);
  EXPECT_THROW(detectors.restore(R"({"rows": "many", "detectors": []})"), Error);

  test::expect_error(ErrorCode::usage, "the rate of false alarms is 1; expected a number between 0 and 1",
                     [&] { Detectors(baseline, {.false_alarms = 1}); });
  test::expect_error(
      ErrorCode::usage,
      "all rows together have a share of 0 of the false alarms; expected a number between 0 and 1",
      [&] { Detectors(baseline, {.overall_share = 0}); });
}

}  // namespace
}  // namespace harmonia
