#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "harmonia/core/parallel.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/measure/gamma.hpp"
#include "support/one_thread_model.hpp"
#include "support/small_blocks.hpp"

namespace harmonia {
namespace {

using test::OneThreadModel;
using test::SmallBlocks;

constexpr std::size_t kRows = 150, kInputs = 9;

Matrix<double> rows_of_data() {
  Matrix<double> x(kRows, kInputs);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kInputs; ++j)
      x.row(i)[j] = draw_uniform({.stream = Stream::uniform_data, .row = i}, j);
  }
  return x;
}

struct Measured {
  std::vector<std::optional<double>> numbers;
  std::uint64_t evaluations = 0, fingerprint = 0;
  std::set<std::thread::id> sinks;  // threads that passed rows on

  bool operator==(const Measured& other) const {
    return numbers == other.numbers && evaluations == other.evaluations && fingerprint == other.fingerprint;
  }
};

Measured measured(const Model& model, const GammaOptions& options, std::size_t threads,
                  std::size_t rows_a_block, std::uint64_t budget = Ledger::kUnlimited) {
  const Matrix<double> x = rows_of_data();
  SmallBlocks data(x.view(), rows_a_block);
  std::size_t done = 0;
  const auto caller = std::this_thread::get_id();
  Run run{.seed = 5, .threads = threads, .ledger = Ledger(budget), .progress = {}, .stop = {}};
  run.progress = [&](const Progress& now) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(now.rows_done, done);
    done = now.rows_done;
  };
  Measured result;
  std::size_t next = 0;
  const GammaSummary summary = gamma(model, data, options, run, [&](const GammaRow& row) {
    const std::size_t entries = options.output.kind == OutputChoice::Kind::all ? 2 : 1;
    EXPECT_EQ(row.row, next++ / entries);
    for (const auto& number : {row.value, row.gamma, row.low, row.high, row.split, row.delta})
      result.numbers.push_back(number);
    result.sinks.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(done, kRows);
  EXPECT_EQ(run.ledger.spent(), summary.evaluations);
  result.evaluations = summary.evaluations;
  result.fingerprint = summary.fingerprint;
  return result;
}

template <class T>
void expect_the_same(const GammaOptions& options, const std::string& what) {
  const OneThreadModel<T> plain(kInputs, false), lending(kInputs, true);
  const Measured expected = measured(plain, options, 1, kRows);
  EXPECT_EQ(expected.sinks, std::set{std::this_thread::get_id()}) << what;
  for (const OneThreadModel<T>* model : {&plain, &lending}) {
    EXPECT_EQ(measured(*model, options, 1, 7), expected) << what;
    for (const std::size_t rows : {std::size_t{1}, std::size_t{7}, kRows}) {
      const Measured ahead = measured(*model, options, 0, rows);
      EXPECT_EQ(ahead, expected) << what << ", blocks of " << rows;
    }
  }
}

TEST(GammaAhead, MeasuresTheSameWhereOnlyOneThreadMayAsk) {
  for (const char* ball : {"simplex+anti", "cross", "rotated:2", "random-pairs:6"}) {
    GammaOptions options;
    options.ball = parse_ball(ball);
    options.ball.radius = 0.4;
    expect_the_same<double>(options, ball);
    expect_the_same<float>(options, ball);
  }
}

// Rows come back for more: those of one wave are under way while the others are planned.
TEST(GammaAhead, MeasuresTheSameWhereRowsLookAgain) {
  GammaOptions options;
  options.ball = parse_ball("random-pairs:200");
  options.ball.radius = 0.4;
  options.precision = 0.3;
  options.floor = 1e-2;
  options.output.kind = OutputChoice::Kind::all;
  expect_the_same<double>(options, "precision");
}

TEST(GammaAhead, BatchesOfAnySize) {
  GammaOptions options;
  options.ball.radius = 0.4;
  const OneThreadModel<double> model(kInputs, true);
  const Measured expected = measured(model, options, 1, kRows);
  for (const std::size_t batch : {1, 2, 3, 5, 64, 4096}) {
    options.batch = batch;
    EXPECT_EQ(measured(model, options, 0, 40), expected) << batch;
  }
}

// A call that does not end before rows of an earlier one are passed on.
TEST(GammaAhead, WorksWhileTheModelAnswers) {
  if (hardware_threads() == 1) return;  // nobody is there to do it
  OneThreadModel<double> model(kInputs, true);
  std::mutex mutex;
  std::condition_variable passed_on;
  std::size_t rows = 0;
  bool alone = false;
  model.after_answering = [&](std::size_t call, MutableRowsView) {
    std::unique_lock lock(mutex);
    if (call == 1) alone = !passed_on.wait_for(lock, std::chrono::seconds(60), [&] { return rows > 0; });
  };
  const Matrix<double> x = rows_of_data();
  SmallBlocks data(x.view(), kRows);
  harmonia::Run run{.seed = 5, .threads = 0, .ledger = Ledger(), .progress = {}, .stop = {}};
  GammaOptions options;
  options.ball.radius = 0.4;
  gamma(model, data, options, run, [&](const GammaRow&) {
    const std::lock_guard lock(mutex);
    ++rows;
    passed_on.notify_one();
  });
  EXPECT_FALSE(alone);
  EXPECT_EQ(rows, kRows);
}

TEST(GammaAhead, NeverWithABudget) {
  GammaOptions options;
  options.ball.radius = 0.4;
  const OneThreadModel<double> model(kInputs, true);
  const Measured result = measured(model, options, 0, 40, 1000);
  EXPECT_LE(result.evaluations, 1000U);
  EXPECT_EQ(result.sinks, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace harmonia
