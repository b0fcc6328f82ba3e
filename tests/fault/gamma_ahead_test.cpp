#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/measure/gamma.hpp"
#include "support/expect_error.hpp"
#include "support/one_thread_model.hpp"
#include "support/small_blocks.hpp"

namespace harmonia {
namespace {

using test::expect_error;

constexpr std::size_t kRows = 120, kInputs = 4;

// A run over rows in small blocks with a model that only this thread may ask, so that the next wave is made
// ready while it answers.
class GammaAheadFault : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kInputs; ++j)
        x_.row(i)[j] = draw_uniform({.stream = Stream::uniform_data, .row = i}, j);
    }
    options_.ball.radius = 0.3;
    model_.info().preferred_batch = 30;
  }

  // Goes on where an earlier run stopped.
  void measure() {
    test::SmallBlocks data(x_.view(), 13);
    data.before_reading = reading_;
    harmonia::Run run{
        .seed = 1, .threads = 0, .ledger = Ledger(), .progress = progress_, .stop = stop_.get_token()};
    const std::vector<GammaRow> done = rows_;
    summary_ = gamma(
        model_, data, options_, run,
        [&](const GammaRow& row) {
          if (sink_) sink_(row);
          rows_.push_back(row);
        },
        done);
  }

  // Rows that were passed on before a fault are the first ones, in order, and a run that goes on there comes
  // to the same as one without a fault.
  void expect_to_go_on() {
    EXPECT_LT(rows_.size(), kRows);
    model_.after_answering = {};
    reading_ = {};
    sink_ = {};
    progress_ = {};
    stop_ = {};
    measure();
    const auto resumed = rows_;
    const GammaSummary after = summary_;
    rows_.clear();
    measure();
    ASSERT_EQ(resumed.size(), kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
      EXPECT_EQ(resumed[i].row, i);
      EXPECT_EQ(resumed[i].gamma, rows_[i].gamma) << i;
    }
    EXPECT_EQ(after.fingerprint, summary_.fingerprint);
    EXPECT_EQ(after.evaluations, summary_.evaluations);
    EXPECT_EQ(after.gamma.mean, summary_.gamma.mean);
  }

  Matrix<double> x_{kRows, kInputs};
  test::OneThreadModel<double> model_{kInputs, true};
  GammaOptions options_;
  std::function<void(std::size_t)> reading_;
  std::function<void(const GammaRow&)> sink_;
  std::function<void(const Progress&)> progress_;
  std::stop_source stop_;
  std::vector<GammaRow> rows_;
  GammaSummary summary_;
};

TEST_F(GammaAheadFault, AModelThatFails) {
  for (const std::size_t bad : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    rows_.clear();
    const std::size_t first = model_.calls();
    model_.after_answering = [&](std::size_t call, MutableRowsView) {
      if (call - first == bad) throw std::runtime_error("no answer");
    };
    EXPECT_THROW(measure(), std::runtime_error);
    EXPECT_EQ(model_.calls(), first + bad + 1) << "asked again";
    expect_to_go_on();
  }
}

TEST_F(GammaAheadFault, AnAnswerThatIsNotFinite) {
  model_.after_answering = [](std::size_t call, MutableRowsView y) {
    if (call == 5) y.row(0)[1] = std::numeric_limits<double>::quiet_NaN();
  };
  try {
    measure();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::model);
    EXPECT_TRUE(std::string(error.what()).starts_with("model one thread answered nan in output 1 for"))
        << error.what();
  }
  EXPECT_EQ(model_.calls(), 6U);
  expect_to_go_on();
}

TEST_F(GammaAheadFault, AStopDuringACall) {
  model_.after_answering = [&](std::size_t call, MutableRowsView) {
    if (call == 4) stop_.request_stop();
  };
  expect_error(ErrorCode::interrupted, "stopped", [&] { measure(); });
  EXPECT_EQ(model_.calls(), 5U) << "asked again";
  expect_to_go_on();
}

TEST_F(GammaAheadFault, DataThatBreakOff) {
  for (const std::size_t row : {std::size_t{0}, std::size_t{13}, std::size_t{52}}) {
    rows_.clear();
    reading_ = [row](std::size_t first) {
      if (first == row) throw Error(ErrorCode::input, "the file ends within a row");
    };
    expect_error(ErrorCode::input, "the file ends within a row", [&] { measure(); });
    EXPECT_LE(rows_.size(), row);
    expect_to_go_on();
  }
}

TEST_F(GammaAheadFault, AMissingValue) {
  const double value = x_.row(57)[2];
  x_.row(57)[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(measure(), Error);
  EXPECT_LE(rows_.size(), 57U);
  x_.row(57)[2] = value;
  expect_to_go_on();
}

// The call was first, and its error is what the user sees, as if nobody had worked ahead.
TEST_F(GammaAheadFault, TheModelAndTheDataFailTogether) {
  model_.after_answering = [](std::size_t, MutableRowsView) { throw std::runtime_error("no answer"); };
  reading_ = [](std::size_t first) {
    if (first > 0) throw Error(ErrorCode::input, "the file ends within a row");
  };
  EXPECT_THROW(measure(), std::runtime_error);
  expect_to_go_on();
}

TEST_F(GammaAheadFault, ASinkOrAWatcherThatFails) {
  sink_ = [](const GammaRow& row) {
    if (row.row == 41) throw Error(ErrorCode::input, "the disk is full");
  };
  expect_error(ErrorCode::input, "the disk is full", [&] { measure(); });
  EXPECT_EQ(rows_.size(), 41U);
  expect_to_go_on();
  rows_.clear();
  progress_ = [](const Progress& now) {
    if (now.rows_done > 30) throw std::runtime_error("enough");
  };
  EXPECT_THROW(measure(), std::runtime_error);
  expect_to_go_on();
}

}  // namespace
}  // namespace harmonia
