#include "row_estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kFirstLook = 16;  // directions before the first look of the stopping rule
constexpr double kLookGrowth = 1.5;       // of the number of directions from look to look
constexpr double kRounding = 64;          // units in the last place that may be rounding inside a model
constexpr std::uint64_t kEndlessLimit = 1 << 16;  // draws of an endless ball whose count was not said

using Kind = OutputChoice::Kind;

double length(std::span<const double> v) {
  double square = 0;
  for (const double component : v) square += component * component;
  return std::sqrt(square);
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// The size of a vector, direction from one half-sample and length from the other, both ways.
double split_length(std::span<const double> a, std::span<const double> b) {
  const double product = dot(a, b), first = length(a), second = length(b);
  return 0.5 * ((first > 0 ? product / first : 0) + (second > 0 ? product / second : 0));
}

bool smaller(const Contribution& a, const Contribution& b) { return std::abs(a.value) > std::abs(b.value); }

}  // namespace

double StudentQuantiles::operator()(double alpha, std::uint64_t freedom) {
  const auto [known, is_new] = known_.try_emplace({alpha, freedom}, 0);
  if (is_new) known->second = student_t_quantile(1 - alpha / 2, static_cast<double>(freedom));
  return known->second;
}

VisitPlan plan_visit(const BallShape& shape, const GammaOptions& options) {
  const bool drawn = shape.endless || options.sample > 0 || options.precision > 0;
  if (drawn && std::max(shape.units, options.sample) > kMostUnits) {
    throw Error(ErrorCode::usage, fmt::format("{} directions to draw from; expected at most {}",
                                              std::max(shape.units, options.sample), kMostUnits));
  }
  if (options.precision > 0 && !(options.floor > 0)) {
    throw Error(ErrorCode::usage,
                "precision needs a floor above 0: a gamma near 0 would otherwise never be precise");
  }
  if (options.precision > 0 && options.sample > 0) {
    throw Error(ErrorCode::usage,
                "sample and precision exclude each other: one fixes the size, the other finds it");
  }
  if (shape.endless) {
    if (options.sample > 0 && shape.units > 0) {
      throw Error(ErrorCode::usage,
                  "the ball's count and sample both give the number of directions; give one");
    }
    const std::uint64_t asked = options.sample > 0 ? options.sample : shape.units;
    if (asked == 0 && options.precision == 0) {
      throw Error(ErrorCode::usage, "this ball has no end; give it a count, a sample or a precision");
    }
    return {asked > 0 ? asked : kEndlessLimit, false, true};
  }
  if (options.precision > 0) return {shape.units, true, true};
  if (options.sample > 0 && options.sample < shape.units) return {options.sample, false, true};
  return {shape.units, true, false};
}

RowEstimator::RowEstimator(RowBall ball, const VisitPlan& plan, std::uint64_t limit,
                           const GammaOptions& options, const Observer& observer, Scalar scalar)
    : ball_(std::move(ball)),
      options_(&options),
      observer_(&observer),
      rounding_(kRounding * (scalar == Scalar::float32
                                 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                 : std::numeric_limits<double>::epsilon())),
      centre_(observer.width()),
      unit_(observer.width()),
      point_(observer.width()),
      size_(observer.width()) {
  visit(plan, limit);
}

void RowEstimator::restart(RowBall ball, const VisitPlan& plan, std::uint64_t limit) {
  ball_ = std::move(ball);
  visit(plan, limit);
}

void RowEstimator::visit(const VisitPlan& plan, std::uint64_t limit) {
  plan_ = plan;
  limit_ = limit;
  target_ = options_->precision > 0 ? std::min(kFirstLook, limit) : limit;
  shuffled_ = done_ = look_ = 0;
  started_ = met_precision_ = met_floor_ = false;
  sums_.assign(observer_->width(), {});
  order_.resize(plan_.shuffled && !ball_.shape().endless ? ball_.shape().units : 0);
  for (std::size_t k = 0; k < order_.size(); ++k) order_[k] = static_cast<std::uint32_t>(k);
}

std::uint64_t RowEstimator::cost_left() const {
  return (started_ ? 0 : 1) + (limit_ - done_) * ball_.shape().points();
}

void RowEstimator::shuffle_to(std::uint64_t count) {
  // Fisher–Yates, as far as it is needed.
  for (; shuffled_ < count; ++shuffled_) {
    const DrawKey key{
        .seed = ball_.ball().seed(), .stream = Stream::permutation, .row = ball_.row(), .sample = shuffled_};
    std::swap(order_[shuffled_], order_[shuffled_ + draw_below(key, order_.size() - shuffled_)]);
  }
}

PointRequest RowEstimator::next(std::uint64_t count) {
  if (!order_.empty()) shuffle_to(done_ + count);
  return {&ball_, order_.empty() ? nullptr : order_.data(), done_, count, !started_};
}

void RowEstimator::prefetch() const {
  constexpr std::size_t kCacheLine = 64;
  const char* const start = reinterpret_cast<const char*>(this);
  for (std::size_t at = 0; at < sizeof *this; at += kCacheLine) __builtin_prefetch(start + at, 1);
}

void RowEstimator::prefetch_parts() const {
  __builtin_prefetch(centre_outputs_.data(), 1);
  __builtin_prefetch(centre_.data(), 1);
  __builtin_prefetch(sums_.data(), 1);
}

void RowEstimator::take_centre(std::span<const double> outputs) {
  centre_outputs_.assign(outputs.begin(), outputs.end());
  observer_->observe(centre_outputs_, centre_outputs_, centre_);
  column_ = observer_->column(centre_outputs_);
  started_ = true;
}

void RowEstimator::take(const PointRequest& request, MatrixView<const double> answers) {
  std::size_t i = 0;
  if (request.centre) {
    take_centre({answers.row(0), answers.columns});
    ++i;
  }
  const std::size_t points = ball_.shape().points();
  if (only_column()) {
    for (std::uint64_t u = 0; u < request.count; ++u, i += points)
      sums_[0].all.add(column_value(answers.slice(i, points)));
    done_ += request.count;
    return;
  }
  for (std::uint64_t u = 0; u < request.count; ++u, i += points) {
    value_unit(answers.slice(i, points));
    add_unit(request.unit(u));
  }
}

void RowEstimator::take(const BallAnswer& answer) {
  take_centre(answer.centre);
  if (!answer.sums.empty()) {
    for (std::size_t j = 0; j < sums_.size(); ++j) sums_[j].all.add(answer.sums[column_ ? *column_ : j]);
    done_ = limit_;
    return;
  }
  if (only_column()) {
    take_column(answer);
    return;
  }
  const std::size_t points = ball_.shape().points(), outputs = answer.centre.size();
  const auto value = [&](const std::vector<double>& answers, std::size_t unit) {
    value_unit({answers.data() + unit * points * outputs, points, outputs});
  };
  const std::uint64_t vertices = answer.last.empty() ? 0 : 1;
  // Where every unit is answered otherwise, the base is no point of the ball.
  if (answer.units.size() < limit_ - vertices) value(answer.base, 0);
  const std::vector<double> still = unit_, still_size = size_;
  // A sum does not change by a zero.
  const bool skip = std::ranges::all_of(still, [](double v) { return v == 0; });
  std::size_t c = 0;
  for (std::uint64_t unit = 0; unit < limit_ - vertices; ++unit) {
    if (skip) {
      done_ = unit = c < answer.units.size() ? answer.units[c] : limit_ - vertices;
      if (c == answer.units.size()) break;
    }
    if (c < answer.units.size() && answer.units[c] == unit) {
      value(answer.changed, c++);
    } else {
      unit_ = still;
      size_ = still_size;
    }
    add_unit(unit);
  }
  if (vertices == 0) return;
  value(answer.last, 0);
  add_unit(limit_ - 1);
}

// The usual case: the cost is that of the units which are answered otherwise than the base.
void RowEstimator::take_column(const BallAnswer& answer) {
  const std::size_t points = ball_.shape().points(), outputs = answer.centre.size();
  const auto value = [&](const std::vector<double>& answers, std::size_t unit) {
    return column_value({answers.data() + unit * points * outputs, points, outputs});
  };
  CompensatedSum sum = sums_[0].all;
  const std::uint64_t vertices = answer.last.empty() ? 0 : 1, units = limit_ - vertices;
  const double still = answer.units.size() < units ? value(answer.base, 0) : 0;
  std::uint64_t unit = 0;
  const auto stand_still = [&](std::uint64_t end) {
    if (still != 0)  // a sum does not change by a zero
      for (; unit < end; ++unit) sum.add(still);
  };
  for (std::size_t c = 0; c < answer.units.size(); ++c) {
    stand_still(answer.units[c]);
    sum.add(value(answer.changed, c));
    unit = answer.units[c] + 1;
  }
  stand_still(units);
  if (vertices > 0) sum.add(value(answer.last, 0));
  sums_[0].all = sum;
  done_ = limit_;
}

// What the points of a unit come to, in the column that is all that is taken from an answer.
double RowEstimator::column_value(MatrixView<const double> answers) const {
  double unit = 0;
  for (std::size_t p = 0; p < answers.rows; ++p)
    unit += ball_.weight(p) * (answers.row(p)[*column_] - centre_[0]);
  return unit;
}

// What the points of a unit come to.
void RowEstimator::value_unit(MatrixView<const double> answers) {
  std::fill(unit_.begin(), unit_.end(), 0.0);
  std::transform(centre_.begin(), centre_.end(), size_.begin(), [](double value) { return std::abs(value); });
  for (std::size_t p = 0; p < answers.rows; ++p) {
    if (column_) {
      point_[0] = answers.row(p)[*column_];
    } else {
      observer_->observe({answers.row(p), answers.columns}, centre_outputs_, point_);
    }
    const double weight = ball_.weight(p);
    for (std::size_t j = 0; j < unit_.size(); ++j) {
      unit_[j] += weight * (point_[j] - centre_[j]);
      size_[j] = std::max(size_[j], std::abs(point_[j]));
    }
  }
}

void RowEstimator::add_unit(std::uint64_t unit) {
  for (std::size_t j = 0; j < unit_.size(); ++j) {
    sums_[j].all.add(unit_[j]);
    if (!plan_.shuffled) continue;  // it will be exact, and nobody asks for its spread
    sums_[j].halves[done_ % 2].add(unit_[j]);
    sums_[j].spread.add(unit_[j]);
    if (std::abs(unit_[j]) <= rounding_ * size_[j]) continue;
    sums_[j].sizes += std::abs(unit_[j]);
    sums_[j].squares += unit_[j] * unit_[j];
  }
  ++done_;
  if (options_->explain == 0) return;
  for (std::size_t e = 0; e < entry_count(); ++e)
    note(sums_[e], unit, entry_count() == unit_.size() ? unit_[e] : length(unit_));
}

void RowEstimator::note(Sums& sums, std::uint64_t unit, double value) const {
  if (unit >= ball_.moved() || value == 0) return;
  const double share = value / static_cast<double>(ball_.shape().units);
  sums.explain.push_back({ball_.place(unit, 0).own, share});
  std::push_heap(sums.explain.begin(), sums.explain.end(), smaller);
  if (sums.explain.size() <= options_->explain) return;
  std::pop_heap(sums.explain.begin(), sums.explain.end(), smaller);
  sums.explain.pop_back();
}

bool RowEstimator::decide(StudentQuantiles& quantiles) {
  if (done_ < target_) return false;
  if (options_->precision == 0) return true;
  ++look_;
  bool precise = true, low = true;
  for (std::size_t e = 0; e < entry_count(); ++e) {
    const Estimate now = estimate(e, quantiles);
    const bool trusted = now.defined && !now.sparse;
    const double half_width = std::max(now.interval.high - now.gamma, now.gamma - now.interval.low);
    precise &= trusted && half_width <= options_->precision * now.gamma;
    low &= trusted && half_width <= std::max(options_->precision * now.gamma, options_->floor);
  }
  met_precision_ = precise;
  met_floor_ = low;
  if (precise || low || done_ == limit_) return true;
  target_ = std::min(limit_, static_cast<std::uint64_t>(std::ceil(static_cast<double>(done_) * kLookGrowth)));
  return false;
}

// Looks share the error rate: α/(k(k+1)) at look k sums to α over all of them.
double RowEstimator::alpha() const {
  const double alpha = 1 - options_->confidence;
  if (options_->precision == 0) return alpha;
  const auto look = static_cast<double>(look_);
  return alpha / (look * (look + 1));
}

double RowEstimator::half_mean(std::size_t j, int half) const {
  const std::uint64_t count = half == 0 ? (done_ + 1) / 2 : done_ / 2;
  return count == 0 ? 0 : sums_[j].halves[half].value() / static_cast<double>(count);
}

// For the part of a finite ball that has been seen.
double RowEstimator::correction() const {
  const BallShape& shape = ball_.shape();
  if (exact()) return 0;
  return shape.endless ? 1 : std::sqrt(1 - static_cast<double>(done_) / static_cast<double>(shape.units));
}

double RowEstimator::standard_error(std::size_t j) const {
  return sums_[j].spread.standard_error() * correction();
}

// (Σ|d|)²/Σd² counts the values that carry the sum: of k equal values among zeros it is k. What may be
// rounding is no evidence: counting it, a network of few kinks had a coverage of 0.28.
bool RowEstimator::sparse(std::size_t j) const {
  const Sums& sums = sums_[j];
  const double carriers = sums.squares > 0 ? sums.sizes * sums.sizes / sums.squares : 0;
  return !exact() && carriers < kTrustedValues * (1 - 1e-9);
}

std::size_t RowEstimator::entry_count() const {
  return options_->output.kind == Kind::all ? sums_.size() : 1;
}

RowEstimator::Estimate RowEstimator::estimate(std::size_t entry, StudentQuantiles& quantiles) const {
  const double t = exact() || done_ < 2 ? 0 : quantiles(alpha(), done_ - 1);
  if (options_->output.kind == Kind::norm) return norm_estimate(t);
  if (options_->output.kind == Kind::angle) return angle_estimate(t);
  return scalar_estimate(entry, t);
}

RowEstimator::Estimate RowEstimator::scalar_estimate(std::size_t j, double t) const {
  Estimate result;
  const double delta = mean(j);
  result.delta = delta;
  result.gamma = std::abs(delta);
  result.standard_error = standard_error(j);
  result.interval = exact() ? Interval{result.gamma, result.gamma}
                            : magnitude(mean_interval(sums_[j].spread, t, correction()));
  const double first = half_mean(j, 0), second = half_mean(j, 1);
  result.split = exact() ? result.gamma : split_length({&first, 1}, {&second, 1});
  result.sparse = sparse(j);
  return result;
}

// The estimate's error is a vector of total variance S² = Σ se². Of all normal vectors with that total
// variance the one on a line has the heaviest tail [Székely & Bakirov 2003], so ± t·S covers at least as
// often as it does for a number.
RowEstimator::Estimate RowEstimator::norm_estimate(double t) const {
  Estimate result;
  const std::size_t k = sums_.size();
  std::vector<double> delta(k), first(k), second(k), errors(k);
  // A column of which too little was seen may be most of the vector.
  for (std::size_t j = 0; j < k; ++j) {
    delta[j] = mean(j);
    first[j] = half_mean(j, 0);
    second[j] = half_mean(j, 1);
    errors[j] = standard_error(j);
    result.sparse = result.sparse || sparse(j);
  }
  result.gamma = length(delta);
  result.standard_error = length(errors);
  const double half_width = t * result.standard_error;
  result.interval = {std::max(0.0, result.gamma - half_width), result.gamma + half_width};
  result.split = exact() ? result.gamma : split_length(first, second);
  return result;
}

// The angle from the parts of delta along and across the row's own output: nothing large is subtracted.
RowEstimator::Estimate RowEstimator::angle_estimate(double t) const {
  Estimate result = norm_estimate(t);
  const std::size_t k = sums_.size();
  const double size = length(centre_);
  std::vector<double> across(k), first(k), second(k);
  double along = 0, along_first = 0, along_second = 0;
  for (std::size_t j = 0; j < k && size > 0; ++j) {
    along += mean(j) * centre_[j] / size;
    along_first += half_mean(j, 0) * centre_[j] / size;
    along_second += half_mean(j, 1) * centre_[j] / size;
  }
  for (std::size_t j = 0; j < k && size > 0; ++j) {
    const double unit = centre_[j] / size;
    across[j] = mean(j) - along * unit;
    first[j] = half_mean(j, 0) - along_first * unit;
    second[j] = half_mean(j, 1) - along_second * unit;
  }
  const double average = std::hypot(length(across), size + along);
  result.defined = size > 0 && average > 0;
  if (!result.defined) return result;
  const auto turn = [&](double error) {
    return error >= average ? std::numbers::pi : std::asin(error / average);
  };
  result.gamma = std::atan2(length(across), size + along);
  const double half_width = turn(t * result.standard_error);
  result.interval = {std::max(0.0, result.gamma - half_width),
                     std::min(std::numbers::pi, result.gamma + half_width)};
  result.standard_error = turn(result.standard_error);
  result.split = exact() ? result.gamma : std::atan2(split_length(first, second), size + along);
  return result;
}

std::vector<GammaRow> RowEstimator::entries(StudentQuantiles& quantiles) const {
  std::vector<GammaRow> rows;
  rows.reserve(entry_count());
  const bool all = options_->output.kind == Kind::all;
  const bool scalar = all || observer_->width() == 1;
  for (std::size_t e = 0; e < entry_count(); ++e) {
    GammaRow& row = rows.emplace_back();
    row.row = ball_.row();
    if (all) row.column = e;
    row.decided_class = observer_->decision(centre_outputs_);
    if (options_->keep_outputs) row.outputs = centre_outputs_;
    if (scalar) row.value = centre_[e];
    row.points = done_ * ball_.shape().points();
    row.moved = ball_.moved();
    row.shortened = ball_.shortened();
    if (done_ == 0) {
      row.outcome = Outcome::unmoved;
      continue;
    }
    const Estimate now = estimate(e, quantiles);
    if (!now.defined) {
      row.outcome = Outcome::undefined;
      continue;
    }
    row.gamma = now.gamma;
    row.split = now.split;
    // Where squares are too large for a double, nothing is known of the error.
    if (std::isfinite(now.standard_error)) {
      row.standard_error = now.standard_error;
      row.low = now.sparse ? 0 : now.interval.low;
      if (!now.sparse) row.high = now.interval.high;
    }
    if (now.delta && options_->output.kind != Kind::norm && options_->output.kind != Kind::angle) {
      const double n = static_cast<double>(ball_.moved()), r = ball_.ball().options().radius;
      const bool solid = ball_.ball().options().average == Average::solid;
      row.delta = now.delta;
      const double laplacian = 2 * (solid ? n + 2 : n) * (*now.delta / r) / r;
      // Steps that were cut short or rounded to whole numbers imply none, nor do those along blocks.
      if (ball_.nominal() && ball_.isotropic() && std::isfinite(laplacian)) row.laplacian = laplacian;
    }
    row.outcome = exact()                         ? Outcome::exact
                  : limit_ < plan_.limit          ? Outcome::budget
                  : now.sparse                    ? Outcome::sparse
                  : met_floor_ && !met_precision_ ? Outcome::floor
                                                  : Outcome::sampled;
    row.explain = sums_[e].explain;
    std::sort(row.explain.begin(), row.explain.end(), [](const Contribution& a, const Contribution& b) {
      return std::abs(a.value) != std::abs(b.value) ? std::abs(a.value) > std::abs(b.value)
                                                    : a.feature < b.feature;
    });
  }
  return rows;
}

}  // namespace harmonia
