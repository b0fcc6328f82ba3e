#include "harmonia/monitor/evidence.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "harmonia/core/random.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

double uniform(std::uint64_t seed, std::uint64_t row, std::uint64_t feature = 0) {
  return draw_uniform({.seed = seed, .stream = Stream::uniform_data, .row = row}, feature);
}

TEST(ValueBins, HoldWhatTheySay) {
  EXPECT_EQ(value_bin(0), 0U);
  EXPECT_EQ(value_bin(std::ldexp(0.999, -60)), 0U);
  EXPECT_EQ(value_bin(std::ldexp(1, -60)), 1U);
  EXPECT_EQ(value_bin(1), 1U + 60 * 32);
  EXPECT_EQ(value_bin(1.0 + 31.9 / 32), 1U + 60 * 32 + 31);
  EXPECT_EQ(value_bin(std::numeric_limits<double>::infinity()), kValueBins - 1);
  EXPECT_EQ(bin_low(kValueBins - 1), std::ldexp(1 + 31.0 / 32, 59));
  for (std::uint32_t bin = 0; bin < kValueBins; ++bin) {
    ASSERT_EQ(value_bin(bin_low(bin)), bin);
    if (bin > 0) {
      ASSERT_EQ(value_bin(std::nextafter(bin_low(bin), 0)), bin - 1);
    }
  }
}

TEST(ValueBins, Quantiles) {
  EXPECT_EQ(bin_quantile({}, 0.5), 0);
  const BinCounts counts{{value_bin(1), 3}, {value_bin(2), 1}};
  EXPECT_EQ(total(counts), 4U);
  EXPECT_EQ(bin_quantile(counts, 0), 1);
  EXPECT_EQ(bin_quantile(counts, 0.75), 1 + 1.0 / 32);
  EXPECT_EQ(bin_quantile(counts, 1), 2 + 2.0 / 32);
  EXPECT_NEAR(bin_quantile(counts, 0.375), 1 + 0.5 / 32, 1e-15);
}

TEST(ConformalRanks, CountLargerAndEqualNumbers) {
  ConformalRanks ranks({{1, 2}, {3, 1}});
  EXPECT_DOUBLE_EQ(ranks.add(3, 0.5), 0.5 * 2 / 4);      // itself and the other 3
  EXPECT_DOUBLE_EQ(ranks.add(2, 0.25), (2 + 0.25) / 5);  // two are larger
  EXPECT_DOUBLE_EQ(ranks.add(0, 0), 5.0 / 6);
  EXPECT_DOUBLE_EQ(ranks.add(kValueBins - 1, 0.5), 0.5 / 7);
  const BinCounts added{{0, 1}, {2, 1}, {3, 1}, {kValueBins - 1, 1}};
  EXPECT_EQ(ranks.added(), added);
  ConformalRanks again({{1, 2}, {3, 1}});
  again.restore(added);
  EXPECT_EQ(again.add(2, 0.75), ranks.add(2, 0.75));
}

// Pairs of ranks, one after another, fall into 6 × 6 cells alike: the ranks are uniform and independent. The
// reference has 7 numbers, and there are but 4 different ones. False-alarm rate: 1e-6.
TEST(ConformalRanks, AreUniformAndIndependentWithManyTies) {
  constexpr int kSide = 6;
  constexpr std::uint64_t kStreams = 4000, kReference = 7, kRows = 20;
  const auto number = [](double u) { return u < 0.5 ? 0U : u < 0.8 ? 1U : u < 0.95 ? 2U : 3U; };
  const auto cell = [](double rank) { return static_cast<int>(rank * kSide); };
  std::array<int, kSide * kSide> counts{};
  for (std::uint64_t stream = 0; stream < kStreams; ++stream) {
    BinCounts reference;
    for (std::uint64_t i = 0; i < kReference; ++i) ++reference[number(uniform(11, stream, i))];
    ConformalRanks ranks(reference);
    for (std::uint64_t i = kReference; i < kReference + kRows; i += 2) {
      const double first = ranks.add(number(uniform(11, stream, i)), uniform(12, stream, i));
      const double second = ranks.add(number(uniform(11, stream, i + 1)), uniform(12, stream, i + 1));
      ++counts[static_cast<std::size_t>(cell(first) * kSide + cell(second))];
    }
  }
  const double expected = kStreams * kRows / 2.0 / (kSide * kSide);
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  const boost::math::chi_squared distribution(kSide * kSide - 1);
  EXPECT_LT(chi_square, quantile(complement(distribution, 1e-6)));
}

/// The mean of a function over [0, 1] whose only jumps are at multiples of 1/12; it may rise like a power at
/// the ends, where points lie densely.
double mean_over_ranks(const std::function<double(double)>& value) {
  constexpr int kCells = 24, kPoints = 400;
  double sum = 0;
  for (int cell = 0; cell < kCells; ++cell) {
    for (int i = 0; i < kPoints; ++i) {
      const double t = (i + 0.5) / kPoints;
      double inside = t, slope = 1;
      if (cell == 0) inside = std::pow(t, 8), slope = 8 * std::pow(t, 7);
      if (cell == kCells - 1) inside = 1 - std::pow(t, 8), slope = 8 * std::pow(t, 7);
      sum += slope * value((cell + inside) / kCells);
    }
  }
  return sum / (kCells * kPoints);
}

// Whatever came before, the next rank leaves the money as it is on average: with Ville's inequality, all that
// the false-alarm rate rests on.
TEST(Evidence, IsAFairGame) {
  EXPECT_EQ(Evidence().log_value(), 0);
  for (const double power : {1.0, 0.6, 2.0}) {  // uniform ranks, small ones, large ones
    Evidence evidence;
    for (std::uint64_t row = 0; row < 400; ++row) {
      if (row < 3 || row % 57 == 0) {
        const double next = mean_over_ranks([&](double rank) {
          Evidence after = evidence;
          after.add(rank, row);
          return std::exp(after.log_value() - evidence.log_value());
        });
        ASSERT_NEAR(next, 1, 1e-5) << "power " << power << ", row " << row;
      }
      evidence.add(std::pow(uniform(21, row), 1 / power), row);
    }
  }
}

TEST(Evidence, SurvivesRanksAtTheEnds) {
  for (const double end : {0.0, 1.0, 0.5}) {
    Evidence evidence;
    for (std::uint64_t row = 0; row < 100000; ++row) evidence.add(end, row);
    EXPECT_TRUE(std::isfinite(evidence.log_value()));
    EXPECT_GT(evidence.log_value(), 1000);
    EXPECT_LE(evidence.since(), 1U);
  }
}

TEST(Evidence, SaysWhatChangedAndSinceWhen) {
  constexpr std::uint64_t kChange = 2000, kRows = 2300;
  struct Case {
    Change change;
    std::function<double(double)> rank;  // of a uniform number
  };
  const std::vector<Case> cases{
      {Change::larger, [](double u) { return u * u; }},
      {Change::smaller, [](double u) { return 1 - u * u; }},
      {Change::shape, [](double u) { return 0.25 + 0.5 * u; }},
      {Change::shape, [](double u) { return u < 0.5 ? 0.2 * u : 1 - 0.2 * u; }},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Evidence evidence;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      const double u = uniform(31 + i, row);
      evidence.add(row < kChange ? u : cases[i].rank(u), 10 * row);
    }
    EXPECT_EQ(evidence.change(), cases[i].change) << i;
    EXPECT_GT(evidence.log_value(), 10) << i;
    EXPECT_NEAR(static_cast<double>(evidence.since()), 10.0 * kChange, 400) << i;
  }
}

TEST(Evidence, ASlightChangeIsSlow) {
  Evidence evidence;
  for (std::uint64_t row = 0; row < 10000; ++row) evidence.add(std::pow(uniform(41, row), 0.93), row);
  EXPECT_EQ(evidence.change(), Change::slow);
  EXPECT_GT(evidence.log_value(), 5);
}

TEST(Evidence, IsTheSameAfterSaving) {
  Evidence evidence, other;
  for (std::uint64_t row = 0; row < 300; ++row) evidence.add(uniform(51, row), row);
  other.restore(evidence.save());
  for (std::uint64_t row = 300; row < 500; ++row) {
    const double rank = std::pow(uniform(51, row), 2);
    evidence.add(rank, row);
    other.add(rank, row);
    ASSERT_EQ(evidence.log_value(), other.log_value());
    ASSERT_EQ(evidence.since(), other.since());
  }
  EXPECT_EQ(evidence.save(), other.save());
  EXPECT_EQ(other.count(), 500U);
  test::expect_error(ErrorCode::input, "saved evidence is of another version; expected what this one saves",
                     [&] {
                       other.restore({1, 2, 3});
                     });
}

}  // namespace
}  // namespace harmonia
