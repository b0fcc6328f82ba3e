// A model that answers whole balls: rows that it refuses, and rows that cannot be measured.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kInputs = 3, kRows = 700;
constexpr double kRadius = 0.5;

// f(x) = Σ x_j²: opposite points have radius² more than the row, on average.
double sum_of_squares(const double* x) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; }

// Refuses rows whose first value is negative, and answers others by sums.
class Asker final : public BallAsker {
 public:
  void evaluate(std::span<const RowBall* const> rows, std::span<BallAnswer> answers) override {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      BallAnswer& answer = answers[i];
      answer = {};
      answer.refused = rows[i]->x()[0] < 0;
      answer.centre = {sum_of_squares(rows[i]->x().data())};
      answer.sums = {static_cast<double>(kInputs) * kRadius * kRadius};
    }
  }
};

class Squares final : public Model, private BallPath {
 public:
  Squares() {
    info_.name = "squares";
    info_.inputs = kInputs;
    info_.outputs = 1;
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) *y.row(i) = sum_of_squares(rows.row(i));
  }
  const BallPath* ball_path() const override { return this; }

 private:
  std::string name() const override { return "squares"; }
  bool gives_sums() const override { return true; }
  std::unique_ptr<BallAsker> open(const Ball& /*ball*/) const override { return std::make_unique<Asker>(); }

  ModelInfo info_;
};

Matrix<double> rows_of_eighths() {
  Matrix<double> x(kRows, kInputs);
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < kInputs; ++j)
      x.row(i)[j] = (static_cast<double>((i * 7 + j * 3) % 32) - 15.5) / 8;
  return x;
}

GammaResult measure(const Matrix<double>& x, std::size_t threads, std::uint64_t most = Ledger::kUnlimited) {
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = kRadius;
  Run run{.seed = 1, .threads = threads, .ledger = Ledger(most), .progress = {}, .stop = {}};
  return gamma(Squares(), x.view(), options, run);
}

TEST(WholeBalls, RefusedRowsAreAskedForPointByPoint) {
  const Matrix<double> x = rows_of_eighths();
  for (const std::size_t threads : {1, 2, 5}) {
    const GammaResult result = measure(x, threads);
    ASSERT_EQ(result.rows.size(), kRows);
    EXPECT_EQ(result.summary.fast_path, "squares");
    EXPECT_EQ(result.summary.evaluations, kRows * (2 * kInputs + 1));
    for (std::size_t i = 0; i < kRows; ++i) {
      EXPECT_EQ(result.rows[i].row, i);
      EXPECT_EQ(*result.rows[i].value, sum_of_squares(x.row(i)));
      EXPECT_EQ(*result.rows[i].gamma, kRadius * kRadius) << "row " << i;  // exact in eighths
    }
  }
}

TEST(WholeBalls, TheFirstRowThatCannotBeMeasuredIsNamedOnAnyNumberOfThreads) {
  Matrix<double> x = rows_of_eighths();
  for (const std::size_t row : {350, 355, 420, 699}) x.row(row)[1] = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t threads : {1, 2, 5}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      try {
        measure(x, threads);
        FAIL() << "a missing value was measured";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "row 350, column 1 is missing (NaN); model squares takes no missing values");
      }
    }
  }
}

TEST(WholeBalls, ABudgetEndsAtTheSameRowOnAnyNumberOfThreads) {
  const Matrix<double> x = rows_of_eighths();
  constexpr std::uint64_t kCost = 2 * kInputs + 1, kAfforded = 401;
  for (const std::size_t threads : {1, 2, 5}) {
    const GammaResult result = measure(x, threads, kAfforded * kCost + kCost - 1);
    ASSERT_EQ(result.rows.size(), kRows);
    EXPECT_EQ(result.summary.evaluations, kAfforded * kCost);
    for (std::size_t i = 0; i < kRows; ++i) {
      EXPECT_EQ(result.rows[i].outcome, i < kAfforded ? Outcome::exact : Outcome::budget) << "row " << i;
      EXPECT_EQ(result.rows[i].gamma.has_value(), i < kAfforded) << "row " << i;
    }
  }
}

}  // namespace
}  // namespace harmonia
