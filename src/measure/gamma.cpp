#include "harmonia/measure/gamma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <memory>

#include "finished_rows.hpp"
#include "gamma_options.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/side_thread.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/model/black_box.hpp"
#include "held_blocks.hpp"
#include "row_estimator.hpp"
#include "row_start.hpp"
#include "whole_balls.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kAskedTogether = 16;                // rows whose answers a thread takes at a time
constexpr std::size_t kBlocksAtOnce = 8;                  // of rows in several waves
constexpr std::size_t kFewBalls = 64, kManyBalls = 4096;  // that are read together, to begin with and at most
constexpr std::size_t kBallBytes = std::size_t{4} << 20;  // of their rows: what the caches hold
constexpr std::size_t kEntriesAtOnce = std::size_t{1} << 18;  // of rows that are under way
constexpr double kWaveSeconds = 0.5;  // between two signs of progress, at most if that many balls take longer

/// Takes rows through balls, model and estimators, a wave of points at a time. A model that computes
/// elsewhere is asked several waves at once, each by a thread of its own: it works while others are planned
/// and settled. One that only the calling thread may ask is asked while another thread makes the next wave
/// ready.
class Driver {
 public:
  Driver(const Model& model, RowSource& data, const GammaOptions& options, Run& run,
         const std::function<void(const GammaRow&)>& sink)
      : model_(model),
        data_(data),
        options_(options),
        run_(run),
        ball_(options.ball, options.schema, run.seed),
        observer_(options.output, model.info()),
        starter_(model.info(), options_, ball_),
        finished_(options, model.info(), sink) {
    const std::size_t threads = BlackBox::threads_for(model, options.batch, run);
    // What is left of a budget is known only between waves.
    overlapping_ = threads > 1 && model.makes_points() && run.ledger.left() == Ledger::kUnlimited;
    const std::size_t lanes = overlapping_ ? threads : 1;
    for (std::size_t i = 0; i < lanes; ++i)
      lanes_.push_back(std::make_unique<Lane>(model, options.batch / lanes, run, threads / lanes));
    ahead_ = can_be_ahead();
    if (ahead_) lanes_.push_back(std::make_unique<Lane>(model, options.batch, run, threads));
    balls_ = WholeBalls::open({model_, options_, ball_, observer_, starter_, run_}, threads);
    rows_ = data.info().rows;
    starter_.look_at(data.info());
  }

  /// Measures all rows but those of an earlier run, which come first.
  void measure(const std::vector<GammaRow>& done) {
    earlier_ = done;
    if (balls_ != nullptr) {
      measure_balls();
    } else if (ahead_) {
      measure_ahead();
    } else {
      measure_in_turn();
    }
    if (!earlier_.empty()) {
      throw Error(ErrorCode::input,
                  fmt::format("{} no longer has row {}, which was measured when the run stopped; start anew",
                              data_.info().source, earlier_.front().row));
    }
  }

  GammaSummary summary() const {
    GammaSummary summary = finished_.summary();
    summary.warnings = starter_.warnings();
    if (balls_ != nullptr) summary.fast_path = model_.ball_path()->name();
    return summary;
  }

 private:
  // A row under way.
  struct Row {
    RowEstimator estimator;
    HeldBlock* held;
    bool asked = false;  // in a wave whose answers are not taken yet
  };

  // One wave after another.
  struct Lane {
    Lane(const Model& model, std::size_t batch, Run& run, std::size_t threads)
        : box(model, batch, run, threads) {}

    BlackBox box;
    std::vector<PointRequest> requests;
    // Whom a request is of, and where its answers begin.
    struct Asked {
      Row* row;
      std::uint64_t first;
    };
    std::vector<Asked> asked;
    std::uint64_t points = 0, room = 0;  // in the wave, and as many as it may have
    Matrix<double> answers;
    std::future<void> under_way;  // ends before what it works on does
  };

  // There is a core for it, the user does not forbid it, and a wave can be one batch.
  bool can_be_ahead() const {
    return !model_.info().reentrant && run_.threads != 1 && hardware_threads() > 1 &&
           run_.ledger.left() == Ledger::kUnlimited &&
           lanes_.front()->box.batch() > ball_.shape(data_.info().inputs).points();
  }

  void measure_in_turn() {
    for (std::size_t turn = 0;; ++turn) {
      Lane& lane = *lanes_[turn % lanes_.size()];
      if (turn >= lanes_.size()) {
        land(lane);
        settle();
        tell();
      }
      // The first wave of several is short: nothing is computed while it is planned.
      lane.room = turn == 0 && overlapping_ ? (lane.box.wave() + 3) / 4 : lane.box.wave();
      plan(lane);
      if (at_the_end()) break;
      if (lane.requests.empty()) continue;
      if (overlapping_) {
        lane.under_way = std::async(std::launch::async, [this, &lane] { evaluate(lane); });
      } else {
        evaluate(lane);
      }
    }
  }

  // Balls are answered as wholes, those of one block after another.
  void measure_balls() {
    const std::size_t affordable =
        std::min(kEntriesAtOnce / observer_.width(), kBallBytes / (sizeof(double) * data_.info().inputs));
    const std::size_t most = std::clamp<std::size_t>(affordable, 1, kManyBalls);
    std::size_t together = std::min(kFewBalls, most);
    while (HeldBlock* const held = read_block(together)) {
      const auto start = std::chrono::steady_clock::now();
      while (held->next < held->rows()) {
        const std::size_t count = balls_to_afford(*held);
        if (count > 0) measure_balls(*held, count);
      }
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      finished_.pass_on(*held);
      held_.drop_first();
      if (taken.count() < kWaveSeconds / 4) together = std::min(4 * together, most);
      if (taken.count() > kWaveSeconds) together = std::max<std::size_t>(together / 2, 1);
      tell();
    }
  }

  // As many of the next rows as the budget allows whole balls; 0: not even one, and the next gets no value.
  std::size_t balls_to_afford(HeldBlock& held) {
    const std::size_t rows = held.rows() - held.next;
    const std::uint64_t left = run_.ledger.left();
    if (left == Ledger::kUnlimited) return rows;
    if (const std::uint64_t all = left / gamma_cost(options_, data_.info().inputs); all > 0)
      return std::min<std::uint64_t>(rows, all);
    const RowStart row = starter_.start(held.row(held.next), held.block.number(held.next));
    if (row.cost() <= left) return 1;
    leave_out(held, row.ball);
    return 0;
  }

  void measure_balls(HeldBlock& held, std::size_t count) {
    balls_->measure(held, held.next, count, lanes_.front()->box.pool());
    for (const std::size_t end = held.next + count; held.next < end;) {
      if (!held.finished[held.next].empty()) {
        ++held.next;
      } else {
        start_row(held);
        ask_alone(*active_.back());
        finish(active_.back());
        active_.pop_back();
      }
    }
  }

  // A row that the fast path does not answer, or not with numbers: point by point, which says what is wrong.
  void ask_alone(Row& row) {
    Lane& lane = *lanes_.front();
    while (!row.estimator.started() || row.estimator.wanted() > 0) {
      lane.requests.clear();
      lane.points = 0;
      lane.room = lane.box.wave();
      ask(row, lane);
      evaluate(lane);
      land(lane);
    }
  }

  // This thread asks for the wave of one lane, and another brings the other lane from its answers to the
  // points of its next wave.
  void measure_ahead() {
    Lane *asked = lanes_[0].get(), *next = lanes_[1].get();
    asked->box.make_room();
    make_ready(*asked);
    SideThread beside;
    for (; !at_the_end(); std::swap(asked, next)) {
      next->box.make_room();
      beside.start([this, next] { make_ready(*next); });
      if (!asked->requests.empty()) asked->box.ask(asked->requests, room_for_answers(*asked));
      beside.finish();
      tell();
    }
  }

  void make_ready(Lane& lane) {
    take(lane);
    land(lane);
    settle();
    lane.room = lane.box.batch();
    plan(lane);
    lane.box.write(lane.requests);
  }

  bool at_the_end() const { return ended_ && held_.empty(); }

  // Reads another block, and counts its rows of an earlier run; null if there is none.
  HeldBlock* read_block(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    HeldBlock* const held = ended_ ? nullptr : held_.read(data_, most);
    ended_ = held == nullptr;
    if (ended_) return nullptr;
    for (; held->next < held->rows() && !earlier_.empty(); held->emitted = ++held->next) {
      std::size_t count = 1;
      while (count < earlier_.size() && earlier_[count].row == earlier_.front().row) ++count;
      add_done(earlier_.first(count), held->row(held->next));
      earlier_ = earlier_.subspan(count);
    }
    return held;
  }

  void add_done(std::span<const GammaRow> entries, std::span<const double> x) {
    finished_.count(entries, x);
    starter_.start(x, entries.front().row);
    run_.ledger.spend(entries.front().evaluations());
  }

  void plan(Lane& lane) {
    lane.requests.clear();
    lane.points = 0;
    for (const auto& row : active_)
      if (!row->asked) ask(*row, lane);
    // A row is started only if there is room for some of it: one that waits costs memory.
    const std::size_t least = 1 + ball_.shape(data_.info().inputs).points();
    while ((lane.requests.empty() || lane.points + least <= lane.room) && activate())
      ask(*active_.back(), lane);
  }

  // Starts the next row that the budget allows a value; false if there is none, or none before it is known
  // what the rows before it cost.
  bool activate() {
    for (;;) {
      if (held_.empty() || held_.last().next == held_.last().rows()) {
        const std::size_t most = lanes_.size() > 1 ? kBlocksAtOnce : 1;
        if (held_.size() == most || !read_block()) return false;
        continue;
      }
      switch (start_row(held_.last())) {
        case Start::begun:
          return true;
        case Start::waits:
          return false;
        case Start::skipped:
          break;
      }
    }
  }

  enum class Start { begun, waits, skipped };

  Start start_row(HeldBlock& held) {
    RowStart row = starter_.start(held.row(held.next), held.block.number(held.next));
    std::uint64_t limit = row.plan.limit;
    const std::size_t points = row.ball.shape().points();
    if (const std::uint64_t left = run_.ledger.left(); left != Ledger::kUnlimited) {
      std::uint64_t promised = 0;
      for (const auto& active : active_) promised += active->estimator.cost_left();
      if (row.cost() + promised > left) {
        if (!active_.empty()) return Start::waits;
        limit = left > points ? (left - 1) / points : 0;
        if (limit < 2 || !row.plan.shuffled) {
          leave_out(held, row.ball);
          return Start::skipped;
        }
      }
    }
    if (idle_.empty()) {
      active_.push_back(std::make_unique<Row>(
          Row{RowEstimator(std::move(row.ball), row.plan, limit, options_, observer_, model_.info().scalar),
              &held}));
    } else {
      idle_.back()->estimator.restart(std::move(row.ball), row.plan, limit);
      idle_.back()->held = &held;
      active_.push_back(std::move(idle_.back()));
      idle_.pop_back();
    }
    ++held.next;
    return Start::begun;
  }

  // What is left is no sample: the next row gets no value, and the evaluations stay for others.
  static void leave_out(HeldBlock& held, const RowBall& ball) {
    GammaRow row;
    row.row = ball.row();
    row.moved = ball.moved();
    row.outcome = Outcome::budget;
    held.finished[held.next++] = {row};
  }

  static void ask(Row& row, Lane& lane) {
    RowEstimator& estimator = row.estimator;
    const std::uint64_t centre = estimator.started() ? 0 : 1;
    const std::size_t points = estimator.ball().shape().points();
    const std::uint64_t taken = lane.points + centre;
    const std::uint64_t room = lane.room > taken ? (lane.room - taken) / points : 0;
    std::uint64_t count = std::min(estimator.wanted(), room);
    if (count == 0 && estimator.wanted() > 0) {
      if (!lane.requests.empty()) return;
      count = 1;
    }
    lane.requests.push_back(estimator.next(count));
    lane.asked.push_back({&row, lane.points});
    lane.points += lane.requests.back().points();
    row.asked = true;
  }

  void evaluate(Lane& lane) const {
    lane.box.evaluate(lane.requests, room_for_answers(lane));
    take(lane);
  }

  MatrixView<double> room_for_answers(Lane& lane) const {
    if (lane.answers.rows() < lane.points) lane.answers.resize(lane.points, model_.info().outputs);
    return lane.answers.view().slice(0, lane.points);
  }

  // Gives the answers to those who asked.
  static void take(Lane& lane) {
    const auto& asked = lane.asked;
    lane.box.pool().run(
        (asked.size() + kAskedTogether - 1) / kAskedTogether, [&](std::size_t, std::size_t group) {
          const std::size_t end = std::min(asked.size(), (group + 1) * kAskedTogether);
          for (std::size_t r = group * kAskedTogether; r < end; ++r) {
            prefetch(lane, r, end);
            asked[r].row->estimator.take(
                lane.requests[r], lane.answers.view().slice(asked[r].first, lane.requests[r].points()));
          }
        });
  }

  // Estimators after the r-th, one of them with its parts: after the model's work they are in no cache. Those
  // from `end` on are another thread's.
  static void prefetch(const Lane& lane, std::size_t r, std::size_t end) {
    if (r + 4 < end) lane.asked[r + 4].row->estimator.prefetch();
    if (r + 2 < end) lane.asked[r + 2].row->estimator.prefetch_parts();
  }

  // Waits for the lane's wave.
  static void land(Lane& lane) {
    if (lane.under_way.valid()) lane.under_way.get();
    for (const auto& asked : lane.asked) asked.row->asked = false;
    lane.asked.clear();
  }

  // Lets go of rows that are done.
  void settle() {
    std::size_t kept = 0;
    for (std::unique_ptr<Row>& row : active_) {
      if (row->asked || !row->estimator.decide(quantiles_)) {
        std::swap(active_[kept++], row);
        continue;
      }
      HeldBlock& held = *row->held;
      finish(row);
      if (&held == &held_.first()) finished_.pass_on(held);  // while the caches have it
    }
    active_.resize(kept);
    while (!held_.empty() && finished_.pass_on(held_.first())) held_.drop_first();
  }

  // Puts the entries of a row that is done where they belong.
  void finish(std::unique_ptr<Row>& row) {
    HeldBlock& held = *row->held;
    held.finished[held.block.place(row->estimator.ball().row())] = row->estimator.entries(quantiles_);
    idle_.push_back(std::move(row));
  }

  void tell() const {
    if (run_.progress) run_.progress({finished_.rows(), rows_, run_.ledger.spent()});
  }

  const Model& model_;
  RowSource& data_;
  GammaOptions options_;
  Run& run_;
  Ball ball_;
  Observer observer_;
  RowStarter starter_;
  StudentQuantiles quantiles_;
  FinishedRows finished_;
  bool overlapping_ = false;  // waves are asked for by threads of their own
  bool ahead_ = false;        // waves are made ready by a thread of its own
  HeldBlocks held_;
  bool ended_ = false;                   // there are no more blocks
  std::span<const GammaRow> earlier_{};  // rows of an earlier run that were not read yet
  std::vector<std::unique_ptr<Row>> active_, idle_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<WholeBalls> balls_;  // null: points are asked for one by one
  std::optional<std::size_t> rows_;
};

}  // namespace

GammaSummary gamma(const Model& model, RowSource& data, const GammaOptions& asked, Run& run,
                   const std::function<void(const GammaRow&)>& sink, const std::vector<GammaRow>& done) {
  const std::size_t inputs = data.info().inputs;
  const GammaOptions options = resolve(asked, inputs);
  check_options(options, model.info(), inputs);
  Driver driver(model, data, options, run, sink);
  driver.measure(done);
  return driver.summary();
}

GammaResult gamma(const Model& model, MatrixView<const double> x, const GammaOptions& options, Run& run) {
  GammaResult result;
  const auto data = make_memory_source(x);
  result.summary =
      gamma(model, *data, options, run, [&](const GammaRow& row) { result.rows.push_back(row); });
  return result;
}

}  // namespace harmonia
