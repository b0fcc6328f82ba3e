#include "boundary_summary.hpp"

#include <algorithm>
#include <cmath>

namespace harmonia {
namespace {

double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

void BoundarySummariser::add(const BoundaryRow& row) {
  if (counts_.pairs == 0 || row.row != last_) {
    ++counts_.pairs;
    pairs_.emplace_back();
    in_pair_ = 0;
    if (counts_.pairs_by_crossings.empty()) counts_.pairs_by_crossings.resize(1);
    ++counts_.pairs_by_crossings[0];
    last_ = row.row;
  }
  ++counts_.outcomes[static_cast<std::size_t>(row.outcome)];
  if (row.t) {
    ++counts_.crossings;
    --counts_.pairs_by_crossings[in_pair_++];
    if (counts_.pairs_by_crossings.size() <= in_pair_) counts_.pairs_by_crossings.resize(in_pair_ + 1);
    ++counts_.pairs_by_crossings[in_pair_];
  }
  if (row.outcome == BoundaryOutcome::budget && !row.t) ++counts_.not_looked_at;
  if (!row.angle || row.outcome == BoundaryOutcome::partial) return;
  angles_.push_back(*row.angle);
  errors_.push_back((*row.angle_high - *row.angle_low) / 2);
  pairs_.back().sum += *row.angle;
  ++pairs_.back().count;
  const std::size_t bins = counts_.histogram.size();
  const auto bin = static_cast<std::size_t>(*row.angle / 90 * static_cast<double>(bins));
  ++counts_.histogram[std::min(bin, bins - 1)];
}

BoundarySummary BoundarySummariser::summary(double confidence) const {
  BoundarySummary summary = counts_;
  summary.angles = angles_.size();
  if (angles_.empty()) return summary;
  std::vector<double> sorted = angles_, errors = errors_;
  std::sort(sorted.begin(), sorted.end());
  std::sort(errors.begin(), errors.end());
  for (const double p : BoundarySummary::kQuantiles) summary.quantiles.push_back(quantile(sorted, p));
  summary.median_error = quantile(errors, 0.5);
  summary.max_error = errors.back();
  CompensatedSum sum;
  for (const double angle : angles_) sum.add(angle);
  const auto count = static_cast<double>(angles_.size());
  summary.mean = sum.value() / count;
  // The crossings of a pair are no independent sample, pairs are: to first order a pair moves the mean by
  // what its angles differ from it.
  const auto with_angle =
      std::count_if(pairs_.begin(), pairs_.end(), [](const auto& p) { return p.count > 0; });
  Moments moves;
  for (const PairAngles& pair : pairs_) {
    if (pair.count == 0) continue;
    const double excess = pair.sum - static_cast<double>(pair.count) * *summary.mean;
    moves.add(excess * static_cast<double>(with_angle) / count);
  }
  if (moves.count() < 2) return summary;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(moves.count() - 1));
  const Interval interval = mean_interval(moves, t);
  summary.low = std::max(0.0, *summary.mean + interval.low);
  summary.high = std::min(90.0, *summary.mean + interval.high);
  return summary;
}

}  // namespace harmonia
