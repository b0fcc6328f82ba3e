// Rows are read in blocks, of which few are held at once: results do not depend on where these end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/gamma.hpp"

namespace harmonia {
namespace {

// More blocks than are held at once.
constexpr std::size_t kRows = 1500, kInputs = 1000, kDone = 1300;

// The sum of squares; its first call may take long.
class Squares final : public Model {
 public:
  explicit Squares(bool late = false) : late_(late) {
    info_.name = "squares";
    info_.inputs = kInputs;
    info_.outputs = 1;
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    if (late_.exchange(false)) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < rows.columns; ++j) sum += rows.row(i)[j] * rows.row(i)[j];
      *y.row(i) = sum;
    }
  }

 private:
  ModelInfo info_;
  mutable std::atomic<bool> late_;
};

Matrix<double> uniform_rows() {
  Matrix<double> x(kRows, kInputs);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kInputs; ++j) x.row(i)[j] = draw_uniform({.row = i}, j);
  }
  return x;
}

struct Measured {
  std::vector<GammaRow> rows;
  GammaSummary summary;
};

Measured measure(const Matrix<double>& x, std::size_t threads, const std::vector<GammaRow>& done = {},
                 bool late = false, std::uint64_t sample = 2) {
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = 0.1;
  options.sample = sample;
  Run run{.seed = 1, .threads = threads, .ledger = Ledger(), .progress = {}, .stop = {}};
  Measured result;
  const auto data = make_memory_source(x.view());
  result.summary = gamma(
      Squares(late), *data, options, run, [&](const GammaRow& row) { result.rows.push_back(row); }, done);
  return result;
}

void expect_same(const Measured& expected, const Measured& found, std::size_t first) {
  ASSERT_EQ(found.rows.size(), kRows - first);
  for (std::size_t i = first; i < kRows; ++i) {
    EXPECT_EQ(found.rows[i - first].row, i);
    EXPECT_EQ(found.rows[i - first].gamma, expected.rows[i].gamma);
    EXPECT_EQ(found.rows[i - first].fingerprint, expected.rows[i].fingerprint);
  }
  EXPECT_EQ(found.summary.gamma.mean, expected.summary.gamma.mean);
  EXPECT_EQ(found.summary.fingerprint, expected.summary.fingerprint);
}

TEST(RowBlocks, ARunGoesOnBehindManyOfThem) {
  const Matrix<double> x = uniform_rows();
  const Measured expected = measure(x, 1);
  const std::vector<GammaRow> done(expected.rows.begin(), expected.rows.begin() + kDone);
  for (const std::size_t threads : {1, 2, 3}) expect_same(expected, measure(x, threads, done), kDone);
  expect_same(expected, measure(x, 2, expected.rows), kRows);
}

TEST(RowBlocks, AThreadThatIsLateIsWaitedFor) {
  const Matrix<double> x = uniform_rows();
  const Measured expected = measure(x, 1);
  for (const std::size_t threads : {1, 2, 4}) expect_same(expected, measure(x, threads, {}, true), 0);
}

// Threads may have rows of other blocks under way, whether they have waves of their own or plan beside.
TEST(RowBlocks, OneThatCannotBeReadEndsTheRun) {
  for (const std::uint64_t sample : {2, 600}) {
    for (const std::size_t row : {140, 300, 1499}) {
      if (sample > 2 && row > 300) continue;  // it takes long
      Matrix<double> x = uniform_rows();
      x.row(row)[7] = std::numeric_limits<double>::infinity();
      for (const std::size_t threads : {1, 2, 3}) {
        for (int time = 0; time < (sample == 2 ? 20 : 2); ++time) {
          try {
            measure(x, threads, {}, false, sample);
            ADD_FAILURE() << "row " << row << ", " << threads << " threads";
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_EQ(std::string(error.what()),
                      fmt::format("memory row {}, column 7 (x7) is infinite", row));
          }
        }
      }
    }
  }
}

// What takes rows may write them out when it is told of progress, as a journal does.
TEST(RowBlocks, RowsArePassedOnBeforeOrAfterSignsOfProgress) {
  const Matrix<double> x = uniform_rows();
  std::atomic<int> inside = 0, together = 0;
  const auto stay = [&] {
    if (inside++ > 0) ++together;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --inside;
  };
  std::size_t rows = 0, signs = 0;
  harmonia::Run run{.seed = 1, .threads = 3, .ledger = Ledger(), .progress = {}, .stop = {}};
  run.progress = [&](const Progress&) {
    stay();
    ++signs;
  };
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = 0.1;
  options.sample = 2;
  const auto data = make_memory_source(x.view());
  gamma(Squares(), *data, options, run, [&](const GammaRow&) {
    stay();
    ++rows;
  });
  EXPECT_EQ(rows, kRows);
  EXPECT_GT(signs, 0);
  EXPECT_EQ(together, 0);
}

}  // namespace
}  // namespace harmonia
