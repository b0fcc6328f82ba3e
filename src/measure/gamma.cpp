#include "harmonia/measure/gamma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "finished_rows.hpp"
#include "gamma_options.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/side_thread.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/model/black_box.hpp"
#include "held_blocks.hpp"
#include "lane.hpp"
#include "row_estimator.hpp"
#include "row_start.hpp"
#include "whole_balls.hpp"

namespace harmonia {
namespace {

// Of rows in several waves; so small that their memory is soon used again, but of some rows, and not too much
// in all where these are wide.
constexpr std::size_t kBlocksAtOnce = 8;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20, kBlockRows = 64;
constexpr std::size_t kHeldBytes = std::size_t{64} << 20;
constexpr std::size_t kFewBalls = 64, kManyBalls = 4096;  // that are read together, to begin with and at most
constexpr std::size_t kBallBytes = std::size_t{4} << 20;  // of their rows: what the caches hold
constexpr std::size_t kEntriesAtOnce = std::size_t{1} << 18;  // of rows that are under way
constexpr std::size_t kRowsOfThread = 64;   // at least, where threads have waves of their own …
constexpr std::uint64_t kSmallBall = 1024;  // … and points of a row at most
constexpr std::size_t kSmallWave = 64;  // points of the last waves, so that no thread waits long for another
constexpr double kWaveSeconds = 0.5;  // between two signs of progress, at most if that many balls take longer

/// Takes rows through balls, model and estimators, a wave of points at a time. Where there are many rows,
/// every thread has waves of its own; where there are few, all ask for the points of one, and one of them
/// plans the next before. One that computes elsewhere is asked several waves at once, each by a thread of its
/// own: it works while others are planned and settled. One that only the calling thread may ask is asked
/// while another thread makes the next wave ready.
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
    const bool several = threads > 1 && run.ledger.left() == Ledger::kUnlimited;
    overlapping_ = several && model.makes_points();
    balls_ = WholeBalls::open({model_, options_, ball_, observer_, starter_, run_}, threads);
    rows_ = data.info().rows;
    if (balls_ == nullptr) shared_ = SharedUnits::of_ball(model_, ball_);
    apart_ = several && !model.makes_points() && balls_ == nullptr && many_small_balls(threads);
    planned_beside_ = several && !model.makes_points() && !apart_;
    const std::size_t lanes = overlapping_ || apart_ ? threads : 1;
    for (std::size_t i = 0; i < lanes; ++i) add_lane(options.batch / lanes, threads / lanes);
    ahead_ = can_be_ahead();
    if (ahead_) add_lane(options.batch, threads);
    if (planned_beside_) lanes_.push_back(std::make_unique<Lane>(*boxes_.front()));
    const std::size_t row_bytes = sizeof(double) * data.info().inputs;
    block_rows_ = std::min(std::max(kBlockRows, kBlockBytes / row_bytes), rows_per_block(data.info().inputs));
    if (!overlapping_ && !ahead_)
      most_blocks_ = std::clamp<std::size_t>(kHeldBytes / (block_rows_ * row_bytes), 2, kBlocksAtOnce);
    starter_.look_at(data.info());
  }

  /// Measures all rows but those of an earlier run, which come first.
  void measure(const std::vector<GammaRow>& done) {
    earlier_ = done;
    if (balls_ != nullptr) {
      measure_balls();
    } else if (ahead_) {
      measure_ahead();
    } else if (apart_) {
      measure_apart();
    } else if (planned_beside_) {
      measure_beside();
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
    if (shared_ != nullptr) summary.fast_path = kSharedFirstLayer;
    return summary;
  }

 private:
  using Row = RowUnderWay;

  void add_lane(std::size_t batch, std::size_t threads) {
    boxes_.push_back(std::make_unique<BlackBox>(model_, batch, run_, threads, shared_.get()));
    lanes_.push_back(std::make_unique<Lane>(*boxes_.back()));
  }

  // So many rows that threads seldom are without one, and balls that a wave of one thread can have several
  // of.
  bool many_small_balls(std::size_t threads) const {
    return rows_.value_or(0) >= kRowsOfThread * threads &&
           gamma_cost(options_, data_.info().inputs) <= kSmallBall;
  }

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
        if (lane.under_way.valid()) lane.under_way.get();
        settle(lane);
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

  // Every thread has a lane: it plans, asks and settles without the others.
  void measure_apart() {
    ThreadPool pool(lanes_.size());
    std::atomic<bool> failed = false;
    pool.run(lanes_.size(), [&](std::size_t worker, std::size_t i) {
      Lane& lane = *lanes_[i];
      try {
        while (!failed) {
          lane.room = fair_share(lane.box.wave());
          plan(lane);
          if (lane.requests.empty() && !wait_for_room(failed)) return;
          evaluate(lane);
          settle(lane);
          if (worker == 0) tell();
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failed = true;
        room_.notify_all();
        throw;
      }
    });
  }

  // Waits until another thread has done the rows of a block, if there are as many as are held at once;
  // whether there may be more rows.
  bool wait_for_room(const std::atomic<bool>& failed) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return failed || ended_ || held_.size() < most_blocks_; });
    return !ended_;
  }

  // Waves become smaller towards the end, so that threads are done at about the same time.
  std::uint64_t fair_share(std::uint64_t most) {
    const std::lock_guard lock(mutex_);
    const std::size_t held = held_.empty() ? 0 : held_.last().rows() - held_.last().next;
    const std::uint64_t rows = held + (*rows_ > read_ ? *rows_ - read_ : 0);
    const std::uint64_t points = rows * gamma_cost(options_, data_.info().inputs);
    return std::min(most, std::max<std::uint64_t>(kSmallWave, points / (2 * lanes_.size())));
  }

  // All threads ask for the wave of one lane; the first of them brings the other lane from its answers to its
  // next wave before. That is mostly the same thread, whose caches have the rows.
  void measure_beside() {
    Lane *asked = lanes_[0].get(), *next = lanes_[1].get();
    asked->room = asked->box.wave();
    plan(*asked);
    for (; !at_the_end(); std::swap(asked, next)) {
      next->room = next->box.wave();
      std::exception_ptr failure;  // waits for the answers that are under way
      const auto plan_next = [&] {
        try {
          next->take(0, next->asked.size());
          settle(*next);
          plan(*next);
        } catch (...) {
          failure = std::current_exception();
        }
      };
      asked->box.evaluate(asked->requests, asked->room_for_answers(model_.info().outputs), plan_next);
      if (failure != nullptr) {
        asked->take();
        settle(*asked);
        std::rethrow_exception(failure);
      }
      tell();
    }
  }

  // Balls are answered as wholes, those of one block after another.
  void measure_balls() {
    const std::size_t affordable =
        std::min(kEntriesAtOnce / observer_.width(), kBallBytes / (sizeof(double) * data_.info().inputs));
    const std::size_t most = std::clamp<std::size_t>(affordable, 1, kManyBalls);
    std::size_t together = std::min(kFewBalls, most);
    for (HeldBlock* held = read_block(together); held != nullptr;) {
      const auto start = std::chrono::steady_clock::now();
      NextBlock next;
      while (held->next < held->rows()) {
        const std::size_t count = balls_to_afford(*held);
        // The next rows are read beside, but for those of an earlier run.
        if (count == held->rows() && earlier_.empty()) {
          measure_balls(*held, count, [&] { next.read([&] { return read_block(together); }); });
        } else if (count > 0) {
          measure_balls(*held, count, {});
        }
      }
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      finished_.pass_on(*held);
      held_.drop_first();
      if (taken.count() < kWaveSeconds / 4) together = std::min(4 * together, most);
      if (taken.count() > kWaveSeconds) together = std::max<std::size_t>(together / 2, 1);
      tell();
      held = next.was_read() ? next.take() : read_block(together);
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

  void measure_balls(HeldBlock& held, std::size_t count, const std::function<void()>& beside) {
    balls_->measure(held, held.next, count, lanes_.front()->box.pool(), beside);
    for (const std::size_t end = held.next + count; held.next < end;) {
      if (!held.finished[held.next].empty()) {
        ++held.next;
      } else {
        ask_alone(held);
      }
    }
  }

  // A row that the fast path does not answer, or not with numbers: point by point, which says what is wrong.
  void ask_alone(HeldBlock& held) {
    Lane& lane = *lanes_.front();
    Row& row = begin(lane, starter_.start(held.row(held.next), held.block.number(held.next)), held);
    while (!row.estimator.started() || row.estimator.wanted() > 0) {
      lane.clear();
      lane.room = lane.box.wave();
      lane.ask(row);
      evaluate(lane);
      lane.asked.clear();
    }
    held.finished[held.block.place(row.estimator.ball().row())] = row.estimator.entries(lane.quantiles);
    lane.idle.push_back(&row);
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
      if (!asked->requests.empty())
        asked->box.ask(asked->requests, asked->room_for_answers(model_.info().outputs));
      beside.finish();
      tell();
    }
  }

  void make_ready(Lane& lane) {
    lane.take();
    settle(lane);
    lane.room = lane.box.batch();
    plan(lane);
    lane.box.write(lane.requests);
  }

  bool at_the_end() const { return ended_ && held_.empty(); }

  // Reads another block, and counts its rows of an earlier run; null if there is none.
  HeldBlock* read_block(std::size_t most) {
    if (ended_) return nullptr;
    ended_ = true;  // also for other threads, if it cannot be read
    HeldBlock* const held = held_.read(data_, most);
    if (held == nullptr) return nullptr;
    ended_ = false;
    read_ += held->rows();
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
    lane.clear();
    std::erase_if(lane.waiting, [&](Row* row) { return lane.ask(*row); });
    // A row is started only if there is room for some of it: one that waits costs memory.
    const std::size_t least = 1 + ball_.shape(data_.info().inputs).points();
    while (lane.requests.empty() || lane.points + least <= lane.room) {
      Row* const row = start_next(lane);
      if (row == nullptr) return;
      if (!lane.ask(*row)) lane.waiting.push_back(row);
    }
  }

  // Starts the next row that the budget allows a value; null if there is none, or none before it is known
  // what the rows before it cost.
  Row* start_next(Lane& lane) {
    const std::lock_guard lock(mutex_);
    for (;;) {
      if (held_.empty() || held_.last().next == held_.last().rows()) {
        if (held_.size() == most_blocks_ || !read_block(block_rows_)) return nullptr;
        drop_done();  // all its rows may be of an earlier run
        continue;
      }
      HeldBlock& held = held_.last();
      RowStart row = starter_.start(held.row(held.next), held.block.number(held.next));
      const std::uint64_t left = run_.ledger.left();
      if (left == Ledger::kUnlimited) return &begin(lane, std::move(row), held);
      std::uint64_t promised = 0;
      for (const Row* waiting : lane.waiting) promised += waiting->estimator.cost_left();
      for (const auto& asked : lane.asked) promised += asked.row->estimator.cost_left();
      if (row.cost() + promised <= left) return &begin(lane, std::move(row), held);
      if (promised > 0) return nullptr;
      const std::size_t points = row.ball.shape().points();
      const std::uint64_t limit = left > points ? (left - 1) / points : 0;
      if (limit >= 2 && row.plan.shuffled) return &begin(lane, std::move(row), held, limit);
      leave_out(held, row.ball);
    }
  }

  // Begins with the next row of a block, to visit so many directions of its ball at most.
  Row& begin(Lane& lane, RowStart start, HeldBlock& held,
             std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    const std::uint64_t limit = std::min(start.plan.limit, most);
    ++held.next;
    if (lane.idle.empty()) {
      lane.begun.push_back(std::make_unique<Row>(Row{
          RowEstimator(std::move(start.ball), start.plan, limit, options_, observer_, model_.info().scalar),
          &held}));
      return *lane.begun.back();
    }
    Row& row = *lane.idle.back();
    lane.idle.pop_back();
    row.estimator.restart(std::move(start.ball), start.plan, limit);
    row.held = &held;
    return row;
  }

  // What is left is no sample: the next row gets no value, and the evaluations stay for others.
  static void leave_out(HeldBlock& held, const RowBall& ball) {
    GammaRow row;
    row.row = ball.row();
    row.moved = ball.moved();
    row.outcome = Outcome::budget;
    held.finished[held.next++] = {row};
  }

  void evaluate(Lane& lane) const {
    lane.box.evaluate(lane.requests, lane.room_for_answers(model_.info().outputs));
    lane.take();
  }

  // Lets go of the rows of a wave that are done; the others wait for the next one.
  void settle(Lane& lane) {
    lane.done.clear();
    for (const auto& asked : lane.asked)
      (asked.row->estimator.decide(lane.quantiles) ? lane.done : lane.waiting).push_back(asked.row);
    lane.asked.clear();
    const std::lock_guard lock(mutex_);
    for (Row* const row : lane.done) {
      HeldBlock& held = *row->held;
      held.finished[held.block.place(row->estimator.ball().row())] = row->estimator.entries(lane.quantiles);
      lane.idle.push_back(row);
      if (&held == &held_.first()) finished_.pass_on(held);  // while the caches have it
    }
    drop_done();
  }

  // Passes on what is done, and lets go of blocks that are.
  void drop_done() {
    while (!held_.empty() && finished_.pass_on(held_.first())) {
      held_.drop_first();
      room_.notify_all();
    }
  }

  // Other threads pass rows on only before or after it.
  void tell() {
    if (!run_.progress) return;
    const std::lock_guard lock(mutex_);
    run_.progress({finished_.rows(), rows_, run_.ledger.spent()});
  }

  const Model& model_;
  RowSource& data_;
  GammaOptions options_;
  Run& run_;
  Ball ball_;
  Observer observer_;
  RowStarter starter_;
  FinishedRows finished_;
  bool overlapping_ = false;      // waves are asked for by threads of their own
  bool ahead_ = false;            // waves are made ready by a thread of its own
  bool planned_beside_ = false;   // waves are planned while others are asked for
  bool apart_ = false;            // every thread has waves of its own
  std::mutex mutex_;              // of what follows, and of finished_, where threads have
  std::condition_variable room_;  // for another block
  HeldBlocks held_;
  bool ended_ = false;    // there are no more blocks
  std::size_t read_ = 0;  // rows of the blocks so far
  std::size_t block_rows_ = 0, most_blocks_ = kBlocksAtOnce;
  std::span<const GammaRow> earlier_{};  // rows of an earlier run that were not read yet
  std::unique_ptr<SharedUnits> shared_;  // null: points are written
  std::vector<std::unique_ptr<BlackBox>> boxes_;
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
