#include "whole_balls.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kRowsTogether =
    64;  // that a thread asks for at a time, at most, if not more go together

// Of a sum of outputs, and nobody asks which features it comes of.
bool wants_sums(const GammaOptions& options) {
  const OutputChoice::Kind kind = options.output.kind;
  return options.explain == 0 && kind != OutputChoice::Kind::label && kind != OutputChoice::Kind::flip;
}

// Every unit of every ball, in their order.
bool visits_all(const GammaOptions& options) {
  return options.sample == 0 && options.precision == 0 && options.ball.one_coordinate();
}

bool finite(const BallAnswer& answer) {
  for (const auto* part : {&answer.centre, &answer.sums, &answer.base, &answer.last, &answer.changed})
    if (!std::ranges::all_of(*part, [](double value) { return std::isfinite(value); })) return false;
  return true;
}

}  // namespace

std::unique_ptr<WholeBalls> WholeBalls::open(const Parts& parts, std::size_t threads) {
  const BallPath* const path = parts.model.ball_path();
  if (path == nullptr || !visits_all(parts.options)) return nullptr;
  if (path->gives_sums() && !wants_sums(parts.options)) return nullptr;
  // The others are made by the threads that need them.
  auto first = path->open(parts.ball);
  if (first == nullptr) return nullptr;
  std::unique_ptr<WholeBalls> opened(new WholeBalls(parts, threads));
  opened->least_rows_ = first->least_rows();
  opened->askers_.front().path = std::move(first);
  return opened;
}

std::size_t WholeBalls::most_rows() const { return std::max(kRowsTogether, least_rows_); }

void WholeBalls::measure(HeldBlock& held, std::size_t first, std::size_t count, ThreadPool& pool,
                         const std::function<void()>& beside) {
  // Several groups for every thread, unless they would be too small.
  const std::size_t rows = count / askers_.size();
  const std::size_t each =
      std::clamp<std::size_t>(std::max(rows / 2, std::min(rows, least_rows_)), 1, most_rows());
  const std::size_t groups = (count + each - 1) / each;
  std::vector<std::exception_ptr> failures(groups);
  const std::size_t more = beside && askers_.size() > 1 ? 1 : 0;
  try {
    pool.run(more + groups, [&](std::size_t worker, std::size_t task) {
      if (task < more) return beside();
      const std::size_t group = task - more;
      try {
        if (parts_.run.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
        measure(held, first + group * each, std::min(each, count - group * each), askers_[worker]);
      } catch (...) {
        failures[group] = std::current_exception();
        throw;
      }
    });
  } catch (...) {
    // Groups are begun in their order, so that all before the first one that failed are done.
    for (const std::exception_ptr& failure : failures)
      if (failure != nullptr) std::rethrow_exception(failure);
    throw;
  }
}

void WholeBalls::measure(HeldBlock& held, std::size_t first, std::size_t count, Asker& asker) const {
  if (asker.path == nullptr) asker.path = parts_.model.ball_path()->open(parts_.ball);
  start(held, first, count, asker);
  asker.balls.clear();
  for (std::size_t i = 0; i < count; ++i) asker.balls.push_back(&asker.rows[i].ball());
  asker.answers.resize(most_rows());
  asker.path->evaluate(asker.balls, std::span(asker.answers).first(count));
  held.make_fingerprints(first, count);
  for (std::size_t i = 0; i < count; ++i) {
    const BallAnswer& answer = asker.answers[i];
    RowEstimator& row = asker.rows[i];
    if (answer.refused || !finite(answer)) continue;
    parts_.run.ledger.spend(row.cost_left());
    row.take(answer);
    held.finished[first + i] = row.entries(asker.quantiles);
  }
}

void WholeBalls::start(const HeldBlock& held, std::size_t first, std::size_t count, Asker& asker) const {
  for (std::size_t i = 0; i < count; ++i) {
    RowStart row = parts_.starter.start(held.row(first + i), held.block.number(first + i));
    const std::uint64_t limit = row.plan.limit;
    if (i < asker.rows.size()) {
      asker.rows[i].restart(std::move(row.ball), row.plan, limit);
    } else {
      asker.rows.emplace_back(std::move(row.ball), row.plan, limit, parts_.options, parts_.observer,
                              parts_.model.info().scalar);
    }
  }
}

}  // namespace harmonia
