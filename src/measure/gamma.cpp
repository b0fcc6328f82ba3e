#include "harmonia/measure/gamma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <set>

#include "finished_rows.hpp"
#include "gamma_options.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/side_thread.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/black_box.hpp"
#include "held_blocks.hpp"
#include "missing.hpp"
#include "row_estimator.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kAskedTogether = 16;  // rows whose answers a thread takes at a time
constexpr std::size_t kBlocksAtOnce = 8;    // of rows in several waves
constexpr std::size_t kBallsTogether = 64;  // that a thread asks a fast path for at a time
constexpr std::size_t kBallsAtOnce = 64 * kBallsTogether;
constexpr std::size_t kSumsAtOnce = std::size_t{1} << 18;  // of rows that are under way
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
        finished_(options, model.info(), sink) {
    const std::size_t threads = BlackBox::threads_for(model, options.batch, run);
    // What is left of a budget is known only between waves.
    overlapping_ = threads > 1 && model.makes_points() && run.ledger.left() == Ledger::kUnlimited;
    const std::size_t lanes = overlapping_ ? threads : 1;
    for (std::size_t i = 0; i < lanes; ++i)
      lanes_.push_back(std::make_unique<Lane>(model, options.batch / lanes, run, threads / lanes));
    ahead_ = can_be_ahead();
    if (ahead_) lanes_.push_back(std::make_unique<Lane>(model, options.batch, run, threads));
    if (const BallPath* path = model.ball_path();
        path != nullptr && visits_all() && (!path->gives_sums() || wants_sums())) {
      // The others are made by the threads that need them.
      if (auto first = path->open(ball_)) {
        askers_.resize(threads);
        askers_.front().path = std::move(first);
      }
    }
    rows_ = data.info().rows;
    check_grid(data.info());
  }

  /// Measures all rows but those of an earlier run, which come first.
  void measure(const std::vector<GammaRow>& done) {
    earlier_ = done;
    if (!askers_.empty()) {
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
    summary.warnings.assign(warnings_.begin(), warnings_.end());
    if (!askers_.empty()) summary.fast_path = model_.ball_path()->name();
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

  // One thread's part of a fast path.
  struct Asker {
    std::unique_ptr<BallAsker> path;  // made when it is first needed
    std::vector<BallAnswer> answers;
    std::vector<const RowBall*> balls;
  };

  // Every unit of every ball, in their order.
  bool visits_all() const {
    return options_.sample == 0 && options_.precision == 0 && options_.ball.one_coordinate();
  }

  // What is observed of a ball is a sum of outputs, and nobody asks which features it comes of.
  bool wants_sums() const {
    const OutputChoice::Kind kind = options_.output.kind;
    return options_.explain == 0 && kind != OutputChoice::Kind::label && kind != OutputChoice::Kind::flip;
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

  // Balls are answered as wholes.
  void measure_balls() {
    const std::size_t most = std::clamp<std::size_t>(kSumsAtOnce / observer_.width(), 1, kBallsAtOnce);
    std::size_t wave = std::min(kBallsTogether, most);
    for (;;) {
      settle();
      tell();
      while (active_.size() < wave && activate()) {
      }
      if (at_the_end()) break;
      const auto start = std::chrono::steady_clock::now();
      const std::size_t each =
          std::clamp<std::size_t>(active_.size() / (2 * askers_.size()), 1, kBallsTogether);
      lanes_.front()->box.pool().run((active_.size() + each - 1) / each, [&](std::size_t worker,
                                                                             std::size_t group) {
        if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
        const std::size_t first = group * each;
        ask_balls(askers_[worker], std::span(active_).subspan(first, std::min(each, active_.size() - first)));
      });
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (taken.count() < kWaveSeconds / 4) wave = std::min(4 * wave, most);
      if (taken.count() > kWaveSeconds) wave = std::max(wave / 2, askers_.size());
      for (const auto& row : active_)
        if (!row->estimator.started()) ask_alone(*row);
    }
  }

  void ask_balls(Asker& asker, std::span<const std::unique_ptr<Row>> rows) {
    if (asker.path == nullptr) asker.path = model_.ball_path()->open(ball_);
    asker.answers.resize(kBallsTogether);
    asker.balls.clear();
    for (const auto& row : rows) asker.balls.push_back(&row->estimator.ball());
    asker.path->evaluate(asker.balls, std::span(asker.answers).first(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const BallAnswer& answer = asker.answers[i];
      RowEstimator& estimator = rows[i]->estimator;
      if (answer.refused || !finite(answer)) continue;
      run_.ledger.spend(estimator.cost_left());
      estimator.take(answer);
    }
  }

  static bool finite(const BallAnswer& answer) {
    for (const auto* part : {&answer.centre, &answer.sums, &answer.base, &answer.last, &answer.changed})
      if (!std::ranges::all_of(*part, [](double value) { return std::isfinite(value); })) return false;
    return true;
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

  // Reads another block, and counts its rows of an earlier run.
  bool read_block() {
    HeldBlock* const held = ended_ ? nullptr : held_.read(data_);
    ended_ = held == nullptr;
    if (ended_) return false;
    for (; held->next < held->rows() && !earlier_.empty(); held->emitted = ++held->next) {
      std::size_t count = 1;
      while (count < earlier_.size() && earlier_[count].row == earlier_.front().row) ++count;
      add_done(earlier_.first(count), {held->block.values.row(held->next), data_.info().inputs});
      earlier_ = earlier_.subspan(count);
    }
    return true;
  }

  void add_done(std::span<const GammaRow> entries, std::span<const double> x) {
    finished_.count(entries, x);
    const RowBall ball(ball_, x, entries.front().row);
    warn(ball, plan_of(ball));
    run_.ledger.spend(entries.front().evaluations());
  }

  // A boundary between two points of a grid is seen by both or by neither, all along it.
  void check_grid(const DataInfo& data) {
    if (data.jittered) return;
    for (std::size_t j = 0; j < data.spacing.size(); ++j) {
      const double scale = options_.schema.empty() ? 1 : options_.schema[j].scale;
      if (data.spacing[j] <= options_.ball.radius * scale / 2) continue;
      warnings_.insert(fmt::format(
          "the grid's spacing {:.4g} along {} is above half the radius {:.4g}: a boundary along it is "
          "missed or counted too often (aliasing); a finer grid, or --jitter",
          data.spacing[j], feature_name(data, j), options_.ball.radius * scale));
      return;
    }
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
    const std::span<const double> x(held.block.values.row(held.next), held.block.values.columns());
    const std::uint64_t number = held.block.number(held.next);
    RowBall ball(ball_, x, number);
    if (ball.moved() < x.size()) check_missing(model_.info(), x, number);
    const VisitPlan plan = plan_of(ball);
    warn(ball, plan);
    std::uint64_t limit = plan.limit;
    const std::size_t points = ball.shape().points();
    if (const std::uint64_t left = run_.ledger.left(); left != Ledger::kUnlimited) {
      std::uint64_t promised = 0;
      for (const auto& row : active_) promised += row->estimator.cost_left();
      if (1 + limit * points + promised > left) {
        if (!active_.empty()) return Start::waits;
        limit = left > points ? (left - 1) / points : 0;
        if (limit < 2 || !plan.shuffled) {
          // What is left is no sample: the row gets no value, and the evaluations stay for others.
          GammaRow row;
          row.row = number;
          row.moved = ball.moved();
          row.outcome = Outcome::budget;
          held.finished[held.next++] = {row};
          return Start::skipped;
        }
      }
    }
    if (idle_.empty()) {
      active_.push_back(std::make_unique<Row>(
          Row{RowEstimator(std::move(ball), plan, limit, options_, observer_, model_.info().scalar), &held}));
    } else {
      idle_.back()->estimator.restart(std::move(ball), plan, limit);
      idle_.back()->held = &held;
      active_.push_back(std::move(idle_.back()));
      idle_.pop_back();
    }
    ++held.next;
    return Start::begun;
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
      held.finished[held.block.place(row->estimator.ball().row())] = row->estimator.entries(quantiles_);
      idle_.push_back(std::move(row));
      if (&held == &held_.first()) finished_.pass_on(held);  // while the caches have it
    }
    active_.resize(kept);
    while (!held_.empty() && finished_.pass_on(held_.first())) held_.drop_first();
  }

  void tell() const {
    if (run_.progress) run_.progress({finished_.rows(), rows_, run_.ledger.spent()});
  }

  VisitPlan plan_of(const RowBall& ball) const {
    return ball.moved() == 0 ? VisitPlan{} : plan_visit(ball.shape(), options_);
  }

  void warn(const RowBall& ball, const VisitPlan& plan) {
    if (ball.below_resolution(model_.info().scalar)) {
      warnings_.insert(
          fmt::format("radius {} is under the resolution of the inputs in {}: points of the ball cannot be "
                      "told from its centre",
                      options_.ball.radius, model_.info().scalar == Scalar::float32 ? "float32" : "float64"));
    }
    if (!ball.shape().paired && plan.shuffled) {
      warnings_.insert(
          "an unpaired sample of the ball measures the gradient more than gamma; take a paired ball, such as "
          "cross");
    }
  }

  const Model& model_;
  RowSource& data_;
  GammaOptions options_;
  Run& run_;
  Ball ball_;
  Observer observer_;
  StudentQuantiles quantiles_;
  FinishedRows finished_;
  bool overlapping_ = false;  // waves are asked for by threads of their own
  bool ahead_ = false;        // waves are made ready by a thread of its own
  HeldBlocks held_;
  bool ended_ = false;                   // there are no more blocks
  std::span<const GammaRow> earlier_{};  // rows of an earlier run that were not read yet
  std::vector<std::unique_ptr<Row>> active_, idle_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Asker> askers_;  // one a thread; empty: points are asked for one by one
  std::optional<std::size_t> rows_;
  std::set<std::string> warnings_;
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
