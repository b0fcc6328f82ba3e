#include "harmonia/measure/gamma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "gamma_summary.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/model/black_box.hpp"
#include "kept_values.hpp"
#include "missing.hpp"
#include "row_estimator.hpp"

namespace harmonia {
namespace {

// The paper samples only where a whole ball is too much for it [Kersting 2024, section 5].
constexpr std::size_t kPaperWholeBall = 1000;
constexpr double kPaperShare = 0.001;

constexpr const char* kEmptySegment = "(empty)";  // of rows that have no value where segments are taken from

void check(const GammaOptions& options, const ModelInfo& model, std::size_t inputs) {
  if (inputs != model.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", inputs, model.name, model.inputs));
  }
  check_confidence(options.confidence);
  if (!(options.precision >= 0) || !(options.floor >= 0) ||
      !std::isfinite(options.precision + options.floor)) {
    throw Error(ErrorCode::usage,
                fmt::format("precision {} and floor {}; expected finite numbers, not negative",
                            options.precision, options.floor));
  }
  if (options.floor > 0 && options.precision == 0) {
    throw Error(ErrorCode::usage, "floor needs a precision: it says when to stop looking for it");
  }
  if (!options.schema.empty() && options.schema.size() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("the schema has {} features; the data has {} columns",
                                              options.schema.size(), inputs));
  }
  if (options.ball.kind == BallKind::listed && options.ball.directions.columns() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("directions have {} columns; the data has {}",
                                              options.ball.directions.columns(), inputs));
  }
  if (options.ball.blocks() && options.ball.image.values() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("ball {} moves the pixels of images; the data has {} columns "
                                              "that are no image",
                                              ball_name(options.ball), inputs));
  }
  if (options.ball.kind == BallKind::gaussian && options.ball.average == Average::solid) {
    throw Error(ErrorCode::usage, "ball gaussian has no solid average; take random-pairs");
  }
  if (options.explain > 0 && !Ball(options.ball, options.schema, 0).shape(inputs).one_feature) {
    throw Error(ErrorCode::usage,
                fmt::format("explain needs a ball that moves features one at a time: cross, simplex "
                            "or simplex+anti; not {}",
                            ball_name(options.ball)));
  }
}

constexpr std::size_t kAskedTogether = 16;  // rows whose answers a thread takes at a time

// FNV-1a over the values' bits.
std::uint64_t fingerprint(std::span<const double> x) {
  std::uint64_t hash = 14695981039346656037U;
  for (const double value : x) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return hash;
}

/// Takes rows through balls, model and estimators, a wave of points at a time.
class Driver {
 public:
  Driver(const Model& model, const GammaOptions& options, Run& run,
         const std::function<void(const GammaRow&)>& sink)
      : model_(model),
        options_(options),
        run_(run),
        sink_(sink),
        ball_(options.ball, options.schema, run.seed),
        observer_(options.output, model.info()),
        box_(model, options.batch, run),
        summariser_(options, model.info()) {}

  /// Measures the rows of a block from `first` on.
  void measure(const RowBlock& block, std::size_t first) {
    finished_.assign(block.values.rows(), {});
    emitted_ = next_ = first;
    while (next_ < block.values.rows() || !active_.empty()) {
      plan_wave(block);
      if (!requests_.empty()) evaluate_wave();
      settle(block);
    }
  }

  /// Counts a row of an earlier run, which must have been of the same values.
  void add_done(const std::vector<GammaRow>& entries, std::span<const double> x) {
    if (fingerprint(x) != entries.front().fingerprint) {
      throw Error(ErrorCode::input, fmt::format("row {} is not what it was when the run stopped; start anew",
                                                entries.front().row));
    }
    const RowBall ball(ball_, x, entries.front().row);
    warn(ball, plan_of(ball));
    run_.ledger.spend(entries.front().evaluations());
    for (const GammaRow& entry : entries) kept_.count(entry);
    summariser_.add(entries);
    ++rows_done_;
  }

  void set_rows(std::optional<std::size_t> rows) { rows_ = rows; }

  /// A boundary between two points of a grid is seen by both or by neither, all along it.
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

  GammaSummary summary() const {
    GammaSummary summary = summariser_.summary();
    summary.warnings.assign(warnings_.begin(), warnings_.end());
    return summary;
  }

 private:
  void plan_wave(const RowBlock& block) {
    requests_.clear();
    asked_.clear();
    points_ = 0;
    for (const auto& estimator : active_) ask(*estimator);
    // A row is started only if there is room for some of it: one that waits costs memory.
    const std::size_t least = 1 + ball_.shape(block.values.columns()).points();
    while ((requests_.empty() || points_ + least <= box_.wave()) && activate(block)) ask(*active_.back());
  }

  // Starts the next row that the budget allows a value; false if there is none, or none before it is known
  // what the rows before it cost.
  bool activate(const RowBlock& block) {
    while (next_ < block.values.rows()) {
      switch (start_row(block)) {
        case Start::begun:
          return true;
        case Start::waits:
          return false;
        case Start::skipped:
          break;
      }
    }
    return false;
  }

  enum class Start { begun, waits, skipped };

  Start start_row(const RowBlock& block) {
    const std::span<const double> x(block.values.row(next_), block.values.columns());
    const std::uint64_t number = block.number(next_);
    RowBall ball(ball_, x, number);
    if (ball.moved() < x.size()) check_missing(model_.info(), x, number);
    const VisitPlan plan = plan_of(ball);
    warn(ball, plan);
    std::uint64_t limit = plan.limit;
    const std::size_t points = ball.shape().points();
    if (const std::uint64_t left = run_.ledger.left(); left != Ledger::kUnlimited) {
      std::uint64_t promised = 0;
      for (const auto& estimator : active_) promised += estimator->cost_left();
      if (1 + limit * points + promised > left) {
        if (!active_.empty()) return Start::waits;
        limit = left > points ? (left - 1) / points : 0;
        if (limit < 2 || !plan.shuffled) {
          // What is left is no sample: the row gets no value, and the evaluations stay for others.
          GammaRow row;
          row.row = number;
          row.moved = ball.moved();
          row.outcome = Outcome::budget;
          finished_[next_++] = {row};
          return Start::skipped;
        }
      }
    }
    if (idle_.empty()) {
      active_.push_back(std::make_unique<RowEstimator>(std::move(ball), plan, limit, options_, observer_,
                                                       model_.info().scalar));
    } else {
      idle_.back()->restart(std::move(ball), plan, limit);
      active_.push_back(std::move(idle_.back()));
      idle_.pop_back();
    }
    ++next_;
    return Start::begun;
  }

  void ask(RowEstimator& estimator) {
    const std::uint64_t centre = estimator.started() ? 0 : 1;
    const std::size_t points = estimator.ball().shape().points();
    const std::uint64_t room = box_.wave() > points_ + centre ? (box_.wave() - points_ - centre) / points : 0;
    std::uint64_t count = std::min(estimator.wanted(), room);
    if (count == 0 && estimator.wanted() > 0) {
      if (!requests_.empty()) return;
      count = 1;
    }
    requests_.push_back(estimator.next(count));
    asked_.push_back({&estimator, points_});
    points_ += requests_.back().points();
  }

  void evaluate_wave() {
    if (answers_.rows() < points_) answers_.resize(points_, model_.info().outputs);
    box_.evaluate(requests_, answers_.view().slice(0, points_));
    box_.pool().run((asked_.size() + kAskedTogether - 1) / kAskedTogether,
                    [&](std::size_t, std::size_t group) {
                      const std::size_t end = std::min(asked_.size(), (group + 1) * kAskedTogether);
                      for (std::size_t r = group * kAskedTogether; r < end; ++r) {
                        prefetch(r, end);
                        asked_[r].estimator->take(
                            requests_[r], answers_.view().slice(asked_[r].first, requests_[r].points()));
                      }
                    });
  }

  // Estimators after the r-th, one of them with its parts: after the model's work they are in no cache. Those
  // from `end` on are another thread's.
  void prefetch(std::size_t r, std::size_t end) const {
    if (r + 4 < end) asked_[r + 4].estimator->prefetch();
    if (r + 2 < end) asked_[r + 2].estimator->prefetch_parts();
  }

  // Lets go of rows that are done.
  void settle(const RowBlock& block) {
    std::size_t kept = 0;
    for (std::unique_ptr<RowEstimator>& estimator : active_) {
      if (!estimator->decide(quantiles_)) {
        std::swap(active_[kept++], estimator);
        continue;
      }
      finished_[block.place(estimator->ball().row())] = estimator->entries(quantiles_);
      idle_.push_back(std::move(estimator));
      pass_on(block);
    }
    active_.resize(kept);
    pass_on(block);
    if (run_.progress) run_.progress({rows_done_, rows_, run_.ledger.spent()});
  }

  // Gives finished rows to the sink, in order.
  void pass_on(const RowBlock& block) {
    for (; emitted_ < finished_.size() && !finished_[emitted_].empty(); ++emitted_, ++rows_done_) {
      const std::span<const double> x(block.values.row(emitted_), block.values.columns());
      const std::uint64_t known_by = fingerprint(x);
      std::vector<GammaRow> entries = std::move(finished_[emitted_]);
      for (GammaRow& entry : entries) {
        entry.fingerprint = known_by;
        if (!block.ids.empty()) entry.id = block.ids[emitted_];
        if (!block.labels.empty()) entry.label = block.labels[emitted_];
        if (!block.segments.empty()) {
          const std::string& segment = block.segments[emitted_];
          entry.segment = trim(segment).empty() ? kEmptySegment : segment;
        }
        kept_.add(entry, x);
        sink_(entry);
      }
      summariser_.add(entries);
    }
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
  GammaOptions options_;
  Run& run_;
  const std::function<void(const GammaRow&)>& sink_;
  Ball ball_;
  Observer observer_;
  BlackBox box_;
  StudentQuantiles quantiles_;
  GammaSummariser summariser_;
  KeptValues kept_;
  std::vector<std::unique_ptr<RowEstimator>> active_, idle_;
  std::vector<PointRequest> requests_;
  // Whom a request is of, and where its answers begin.
  struct Asked {
    RowEstimator* estimator;
    std::uint64_t first;
  };
  std::vector<Asked> asked_;
  std::uint64_t points_ = 0;
  Matrix<double> answers_;
  std::vector<std::vector<GammaRow>> finished_;  // by row of the block, until passed on
  std::size_t next_ = 0, emitted_ = 0, rows_done_ = 0;
  std::optional<std::size_t> rows_;
  std::set<std::string> warnings_;
};

}  // namespace

std::string outcome_name(Outcome outcome) {
  static constexpr std::array names{"exact", "sampled", "floor", "sparse", "budget", "unmoved", "undefined"};
  return names[static_cast<std::size_t>(outcome)];
}

GammaOptions resolve(GammaOptions options, std::size_t inputs) {
  if (!options.paper) return options;
  options.precision = 0;
  options.sample = 0;
  options.ball.average = Average::surface;
  options.ball.count = 0;
  options.ball.kind = BallKind::simplex_pairs;
  if (inputs > kPaperWholeBall) {
    options.ball.kind = BallKind::one_hot;
    options.sample = static_cast<std::uint64_t>(std::llround(kPaperShare * 2 * static_cast<double>(inputs)));
  }
  return options;
}

GammaSummary gamma(const Model& model, RowSource& data, const GammaOptions& asked, Run& run,
                   const std::function<void(const GammaRow&)>& sink, const std::vector<GammaRow>& done) {
  const std::size_t inputs = data.info().inputs;
  const GammaOptions options = resolve(asked, inputs);
  check(options, model.info(), inputs);
  Driver driver(model, options, run, sink);
  driver.set_rows(data.info().rows);
  driver.check_grid(data.info());
  auto earlier = done.begin();
  RowBlock block;
  while (data.read(block, rows_per_block(inputs))) {
    std::size_t first = 0;
    for (; first < block.values.rows() && earlier != done.end(); ++first) {
      std::vector<GammaRow> entries;
      const std::size_t number = earlier->row;
      for (; earlier != done.end() && earlier->row == number; ++earlier) entries.push_back(*earlier);
      driver.add_done(entries, {block.values.row(first), inputs});
    }
    if (first < block.values.rows()) driver.measure(block, first);
  }
  if (earlier != done.end()) {
    throw Error(ErrorCode::input,
                fmt::format("{} no longer has row {}, which was measured when the run stopped; start anew",
                            data.info().source, earlier->row));
  }
  return driver.summary();
}

GammaResult gamma(const Model& model, MatrixView<const double> x, const GammaOptions& options, Run& run) {
  GammaResult result;
  const auto data = make_memory_source(x);
  result.summary =
      gamma(model, *data, options, run, [&](const GammaRow& row) { result.rows.push_back(row); });
  return result;
}

std::uint64_t gamma_cost(const GammaOptions& asked, std::size_t inputs) {
  const GammaOptions options = resolve(asked, inputs);
  std::size_t moved = inputs;
  for (const Feature& feature : options.schema) moved -= feature.fixed ? 1 : 0;
  if (moved == 0) return 1;
  const BallShape shape = Ball(options.ball, options.schema, 0).shape(moved);
  return 1 + plan_visit(shape, options).limit * shape.points();
}

}  // namespace harmonia
