#include "harmonia/core/statistics.hpp"

#include <gtest/gtest.h>

#include "harmonia/core/random.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace harmonia {
namespace {

TEST(Statistics, IntervalsOfAProportion) {
  const Interval wilson = wilson_interval(700, 1000, 0.95);
  EXPECT_NEAR(wilson.low, 0.670876, 5e-7);
  EXPECT_NEAR(wilson.high, 0.727593, 5e-7);
  const Interval exact = clopper_pearson_interval(700, 1000, 0.95);
  EXPECT_NEAR(exact.low, 0.670538, 5e-7);
  EXPECT_NEAR(exact.high, 0.728279, 5e-7);
}

// The radius that the smoothed classifier is certified for [Cohen 2019], over sigma.
TEST(Statistics, LowerBoundOfAProportion) {
  EXPECT_NEAR(normal_quantile(clopper_pearson_low(700, 1000, 0.95)), 0.454447, 5e-7);
  EXPECT_NEAR(normal_quantile(clopper_pearson_low(700, 1000, 0.999)), 0.394711, 5e-7);
}

TEST(Statistics, NoneAndAllAreAtTheEnds) {
  for (const std::uint64_t trials : {1, 5, 1000}) {
    EXPECT_EQ(wilson_interval(0, trials, 0.95).low, 0);
    EXPECT_EQ(wilson_interval(trials, trials, 0.95).high, 1);
    EXPECT_EQ(clopper_pearson_interval(0, trials, 0.95).low, 0);
    EXPECT_EQ(clopper_pearson_interval(trials, trials, 0.95).high, 1);
    EXPECT_NEAR(clopper_pearson_low(trials, trials, 0.95), std::pow(0.05, 1.0 / static_cast<double>(trials)),
                1e-12);
  }
  EXPECT_EQ(wilson_interval(0, 0, 0.95).high, 1);
}

// A side is taken exactly where the two-sided Clopper–Pearson interval leaves the level out.
TEST(Statistics, SidesAreThoseOfTheInterval) {
  for (const double level : {0.3, 0.5, 0.7, 0.9}) {
    for (std::uint64_t trials : {1, 20, 133}) {
      for (std::uint64_t k = 0; k <= trials; ++k) {
        const Interval interval = clopper_pearson_interval(k, trials, 0.98);
        const Side side = side_of(k, trials, level, 0.02);
        EXPECT_EQ(side == Side::above, interval.low > level) << k << " of " << trials;
        EXPECT_EQ(side == Side::below, interval.high < level) << k << " of " << trials;
      }
    }
  }
}

TEST(Statistics, AurocCountsPairsInOrder) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(auroc(std::vector<double>{3, 4, inf}, std::vector<double>{1, 2}, 0.95).value, 1);
  EXPECT_EQ(auroc(std::vector<double>{1, 1}, std::vector<double>{1, 1}, 0.95).value, 0.5);
  EXPECT_NEAR(auroc(std::vector<double>{1, 3}, std::vector<double>{2, 3}, 0.95).value, 1.5 / 4, 1e-15);
}

// Two normal groups a distance d apart: the area is Φ(d/√2).
TEST(Coverage, AurocOfTwoNormalGroups) {
  std::mt19937_64 random(7);
  for (const double distance : {0.0, 1.0, 2.5}) {
    int covered = 0;
    constexpr int kRepeats = 1000;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      std::normal_distribution<double> normal;
      std::vector<double> above(60), below(80);
      for (double& v : above) v = normal(random) + distance;
      for (double& v : below) v = normal(random);
      const Interval found = auroc(above, below, 0.95).interval;
      const double truth = normal_cdf(distance / std::sqrt(2.0));
      covered += found.low <= truth && truth <= found.high ? 1 : 0;
    }
    EXPECT_GE(covered, 930) << distance;
  }
}

// By hand: a has both positives above both negatives, b one of four pairs the other way and one tie.
TEST(Statistics, DifferenceOfTwoAurocs) {
  const std::vector<double> up_a{3, 4}, down_a{1, 2}, up_b{1, 3}, down_b{1, 2};
  const AurocDifference found = auroc_difference({up_a, up_b, down_a, down_b}, 0.95);
  EXPECT_DOUBLE_EQ(found.value, 1 - 2.5 / 4);
  // Of the positives' placements the differences are 3/4 and 0, of the negatives' 1/4 and 1/2.
  const double error = std::sqrt(0.28125 / 2 + 0.03125 / 2);
  EXPECT_NEAR(found.interval.low, found.value - normal_quantile(0.975) * error, 1e-12);
  EXPECT_NEAR(found.interval.high, 1, 1e-12);
  EXPECT_EQ(auroc_difference({up_a, up_a, down_a, down_a}, 0.95).value, 0);
  EXPECT_EQ(auroc_difference({{}, {}, {}, {}}, 0.95).interval.low, -1);
}

// Two scores of the same things, both normal with variance 1, of means 1 and 0.5 apart and correlated: the
// AUROCs are Phi(mean/sqrt 2). 2,000 repeats; a true 95 % falls below 93.5 % with probability 0.001.
TEST(Statistics, DifferenceOfTwoAurocsIsCovered) {
  std::mt19937 generator(11);
  std::normal_distribution<double> normal;
  const double truth = normal_cdf(1 / std::sqrt(2.0)) - normal_cdf(0.5 / std::sqrt(2.0));
  for (const std::size_t size : {30, 100}) {
    int covered = 0;
    constexpr int kTimes = 2000;
    for (int time = 0; time < kTimes; ++time) {
      std::vector<double> scores[4];  // a and b of positives, a and b of negatives
      for (std::size_t i = 0; i < size; ++i) {
        for (const bool positive : {true, false}) {
          const double shared = normal(generator);
          const auto score = [&](double mean) {
            return (positive ? mean : 0) + std::sqrt(0.6) * shared + std::sqrt(0.4) * normal(generator);
          };
          scores[positive ? 0 : 2].push_back(score(1));
          scores[positive ? 1 : 3].push_back(score(0.5));
        }
      }
      const AurocDifference found = auroc_difference({scores[0], scores[1], scores[2], scores[3]}, 0.95);
      covered += found.interval.low <= truth && truth <= found.interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 0.935 * kTimes) << size;
  }
}

TEST(Statistics, CorrelationByHand) {
  const std::vector<double> a{1, 2, 3, 4, 5}, b{2, 1, 4, 3, 5}, flat(5, 7.0);
  const auto found = correlation(a, b, 0.95);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->value, 0.8, 1e-12);
  EXPECT_NEAR(found->interval.low, std::tanh(std::atanh(0.8) - 1.959963985 / std::sqrt(2.0)), 1e-8);
  EXPECT_NEAR(found->interval.high, std::tanh(std::atanh(0.8) + 1.959963985 / std::sqrt(2.0)), 1e-8);
  EXPECT_EQ(found->count, 5U);
  EXPECT_FALSE(correlation(a, flat, 0.95));
  EXPECT_FALSE(correlation({a.data(), 3}, {b.data(), 3}, 0.95));
  EXPECT_DOUBLE_EQ(correlation(a, a, 0.95)->value, 1);
}

// Where no trial tells the two apart, the score is nD/sqrt(nD(1 − D)), which is z at z²/(n + z²).
TEST(Statistics, ShareDifferenceWithoutDiscordantTrials) {
  const ShareDifference none = share_difference(0, 0, 50, 0.95);
  const double z = normal_quantile(0.975), end = z * z / (50 + z * z);
  EXPECT_EQ(none.difference, 0);
  EXPECT_NEAR(none.interval.low, -end, 1e-12);
  EXPECT_NEAR(none.interval.high, end, 1e-12);
  EXPECT_EQ(none.p_value, 1);
}

TEST(Statistics, ShareDifferenceIsTurnedAroundWithItsTrials) {
  const ShareDifference a = share_difference(9, 2, 40, 0.9), b = share_difference(2, 9, 40, 0.9);
  EXPECT_DOUBLE_EQ(a.difference, 7.0 / 40);
  EXPECT_NEAR(a.interval.low, -b.interval.high, 1e-12);
  EXPECT_NEAR(a.interval.high, -b.interval.low, 1e-12);
  EXPECT_LT(a.interval.low, a.difference);
  EXPECT_GT(a.interval.high, a.difference);
  // 2 · P(at most 2 of 11) = 2 · (1 + 11 + 55) / 2048.
  EXPECT_NEAR(a.p_value, 2 * 67.0 / 2048, 1e-12);
  const ShareDifference all = share_difference(12, 0, 12, 0.95);
  EXPECT_EQ(all.difference, 1);
  EXPECT_NEAR(all.interval.high, 1, 1e-12);
}

// 4,000 runs: a coverage of 0.95 is seen within ± 0.014, four standard errors.
TEST(Statistics, ShareDifferenceCovers) {
  for (const std::size_t trials : {20, 100}) {
    std::size_t covered = 0;
    for (std::uint64_t run = 0; run < 4000; ++run) {
      std::uint64_t first = 0, second = 0;
      for (std::size_t i = 0; i < trials; ++i) {
        const double u = draw_uniform({.seed = 3, .stream = Stream::uniform_data, .row = run}, i);
        first += u < 0.25 ? 1 : 0;
        second += u > 0.9 ? 1 : 0;
      }
      const Interval interval = share_difference(first, second, trials, 0.95).interval;
      covered += interval.low <= 0.15 && 0.15 <= interval.high ? 1 : 0;
    }
    EXPECT_GT(static_cast<double>(covered) / 4000, 0.936) << trials;
    EXPECT_LT(static_cast<double>(covered) / 4000, 0.98) << trials;
  }
}

TEST(Statistics, MedianAndItsRanks) {
  EXPECT_FALSE(median({}, 0.95));
  EXPECT_DOUBLE_EQ(median({3, 1, 2, 10}, 0.95)->value, 2.5);
  EXPECT_FALSE(median({3, 1, 2, 10}, 0.95)->interval);
  // Of 10 values the second smallest and the second largest: P(at most 1 of 10 below) = 11/1024.
  const auto ten = median({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 0.95);
  ASSERT_TRUE(ten->interval);
  EXPECT_EQ(ten->interval->low, 1);
  EXPECT_EQ(ten->interval->high, 8);
}

TEST(Moments, NumberThatCameOftenIsAddedAtOnce) {
  // 0 forty times, 1 thirty times, 3 ten times: mean 3/4, squares about it 40·9/16 + 30/16 + 10·81/16 = 75.
  Moments at_once, one_by_one;
  for (const auto& [value, times] : {std::pair(0.0, 40), std::pair(1.0, 30), std::pair(3.0, 10)}) {
    at_once.add(value, static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i) one_by_one.add(value);
  }
  at_once.add(100, 0);
  EXPECT_EQ(at_once.count(), 80U);
  EXPECT_DOUBLE_EQ(at_once.mean(), 0.75);
  EXPECT_NEAR(at_once.variance(), 75.0 / 79, 1e-14);
  EXPECT_NEAR(at_once.variance(), one_by_one.variance(), 1e-13);
  EXPECT_NEAR(at_once.skewness(), one_by_one.skewness(), 1e-12);
}

}  // namespace
}  // namespace harmonia
