#include "harmonia/monitor/row_stability.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "harmonia/core/sha256.hpp"
#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

constexpr int kUnitBits = 30;

std::uint64_t units(double share) {
  return static_cast<std::uint64_t>(std::llround(std::ldexp(share, kUnitBits)));
}

double share(std::uint64_t units) { return std::ldexp(static_cast<double>(units), -kUnitBits); }

}  // namespace

std::optional<RowStability> stability_of(const MonitorMap& map, const GammaRow& row,
                                         std::span<const double> values) {
  assert(row.outputs.size() > 1);
  MapRow asked;
  asked.place = logit_place(row.outputs);
  asked.gamma = row;
  for (const std::size_t feature : map.features) asked.extra.push_back(values[feature]);
  const std::optional<MapAnswer> answer = answer_of(map.map, asked);
  if (!answer || !std::isfinite(answer->probability) || !std::isfinite(answer->interval.low) ||
      !std::isfinite(answer->interval.high))
    return std::nullopt;  // numbers of the row are beyond what the map can tell
  return RowStability{asked.place->log_odds, answer->probability, answer->interval, answer->outside};
}

std::string map_identity(const MonitorMap& monitored) {
  const GammaMap& map = monitored.map;
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", fmt::join(map.inputs, "\n"),
                                 fmt::join(map.fit.coefficients, " "), fmt::join(map.fit.means, " "),
                                 fmt::join(map.fit.scales, " "), map.floor, map.intercept, map.slope,
                                 map.calibration.intercept, map.calibration.slope, map.calibration.together,
                                 map.confidence, fmt::join(monitored.features, " "), monitored.steps);
  const Matrix<double>& covariance = map.fit.covariance;
  for (std::size_t i = 0; i < covariance.rows(); ++i) {
    for (std::size_t j = 0; j < covariance.columns(); ++j) text += fmt::format(" {}", covariance.row(i)[j]);
  }
  for (const Interval& range : map.ranges) text += fmt::format(" {} {}", range.low, range.high);
  return sha256_hex(text);
}

void count_stability(const RowStability& row, StabilityCounts& counts) {
  ++counts.rows;
  counts.outside += row.outside ? 1 : 0;
  counts.sum += units(row.probability);
  counts.squares += units(row.probability * row.probability);
  const auto bin = static_cast<std::size_t>(row.probability * static_cast<double>(kStabilityBins));
  ++counts.bins[std::min(bin, kStabilityBins - 1)];
}

void merge(StabilityCounts& counts, const StabilityCounts& more) {
  counts.rows += more.rows;
  counts.outside += more.outside;
  counts.sum += more.sum;
  counts.squares += more.squares;
  for (std::size_t i = 0; i < kStabilityBins; ++i) counts.bins[i] += more.bins[i];
}

MeanStability mean_stability(const StabilityCounts& counts, double confidence) {
  MeanStability result;
  if (counts.rows == 0) return result;
  const auto n = static_cast<double>(counts.rows);
  const double mean = share(counts.sum) / n;
  result.mean = mean;
  if (counts.rows < 2) return result;
  const double variance = std::max(0.0, share(counts.squares) / n - mean * mean) * n / (n - 1);
  const double half = student_t_quantile((1 + confidence) / 2, n - 1) * std::sqrt(variance / n);
  result.low = std::max(0.0, mean - half);
  result.high = std::min(1.0, mean + half);
  return result;
}

}  // namespace harmonia
