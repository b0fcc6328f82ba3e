// Many rows with small balls: every thread plans, asks and settles waves of its own.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/measure/gamma.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kInputs = 3, kRows = 900;

// Smooth, with one fold, and not a sum over features.
double folded(const double* x) { return std::sin(x[0] * x[1]) + std::abs(x[2] - 0.3 * x[0]); }

Matrix<double> random_rows() {
  Matrix<double> x(kRows, kInputs);
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < kInputs; ++j) x.row(i)[j] = 4 * draw_uniform({.row = i}, j) - 2;
  return x;
}

GammaResult measure(const Matrix<double>& x, GammaOptions options, std::size_t threads) {
  options.ball.radius = 0.2;
  Run run{.seed = 3, .threads = threads, .ledger = Ledger(), .progress = {}, .stop = {}};
  GammaResult result = gamma(test::RowFunction(kInputs, folded), x.view(), options, run);
  EXPECT_EQ(run.ledger.spent(), result.summary.evaluations);
  return result;
}

void expect_same(const GammaResult& found, const GammaResult& expected, const std::string& what) {
  ASSERT_EQ(found.rows.size(), expected.rows.size()) << what;
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    const GammaRow &a = found.rows[i], &b = expected.rows[i];
    EXPECT_EQ(a.row, i) << what;
    EXPECT_EQ(a.gamma, b.gamma) << what << ", row " << i;
    EXPECT_EQ(a.delta, b.delta) << what << ", row " << i;
    EXPECT_EQ(a.low, b.low) << what << ", row " << i;
    EXPECT_EQ(a.high, b.high) << what << ", row " << i;
    EXPECT_EQ(a.points, b.points) << what << ", row " << i;
    EXPECT_EQ(a.outcome, b.outcome) << what << ", row " << i;
    EXPECT_EQ(a.fingerprint, b.fingerprint) << what << ", row " << i;
  }
  EXPECT_EQ(found.summary.fingerprint, expected.summary.fingerprint) << what;
  EXPECT_EQ(found.summary.gamma.mean, expected.summary.gamma.mean) << what;
}

TEST(OwnWaves, NumbersDoNotDependOnThreads) {
  const Matrix<double> x = random_rows();
  GammaOptions whole, sampled, precise, drawn;
  whole.ball = parse_ball("cross");
  sampled.ball = parse_ball("simplex+anti");
  sampled.sample = 2;
  precise.ball = parse_ball("random-pairs:300");
  precise.ball.count = 0;
  precise.precision = 0.3;
  precise.floor = 0.01;
  drawn.ball = parse_ball("gaussian:20");
  for (const GammaOptions* options : {&whole, &sampled, &precise, &drawn}) {
    const GammaResult expected = measure(x, *options, 1);
    for (const std::size_t threads : {2, 3, 7})
      expect_same(measure(x, *options, threads), expected, ball_name(options->ball));
  }
}

TEST(OwnWaves, TheFirstRowThatCannotBeMeasuredIsNamed) {
  Matrix<double> x = random_rows();
  for (const std::size_t row : {500, 501, 640, 899}) x.row(row)[2] = std::numeric_limits<double>::quiet_NaN();
  GammaOptions options;
  options.ball = parse_ball("cross");
  for (const std::size_t threads : {1, 2, 7}) {
    try {
      measure(x, options, threads);
      FAIL() << "a missing value was measured";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "row 500, column 2 is missing (NaN); model test takes no missing values");
    }
  }
}

}  // namespace
}  // namespace harmonia
