#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "harmonia/monitor/counterfactual.hpp"

namespace harmonia {
namespace {

constexpr double kChance = 0.01;  // that a feature is named where none changed
constexpr double kNews = 0.8;     // of the largest gain: missing values that change so much are the news

// Shares of rows in a feature's bins, before and since.
struct Shares {
  std::vector<double> before, since;
  double rows_before = 0, rows_since = 0;

  double gain(std::size_t bin) const { return since[bin] - before[bin]; }
  double together(std::size_t bin) const {
    return (rows_before * before[bin] + rows_since * since[bin]) / (rows_before + rows_since);
  }
  double doubt() const { return 1 / rows_before + 1 / rows_since; }
};

std::vector<double> divided(const std::vector<std::uint64_t>& counts, double rows) {
  std::vector<double> shares(counts.begin(), counts.end());
  for (double& share : shares) share /= rows;
  return shares;
}

// None without rows.
std::optional<Shares> shares_of(const std::vector<std::uint64_t>& before,
                                const std::vector<std::uint64_t>& since) {
  Shares shares;
  shares.rows_before = static_cast<double>(std::accumulate(before.begin(), before.end(), std::uint64_t{0}));
  shares.rows_since = static_cast<double>(std::accumulate(since.begin(), since.end(), std::uint64_t{0}));
  if (shares.rows_before == 0 || shares.rows_since == 0) return std::nullopt;
  shares.before = divided(before, shares.rows_before);
  shares.since = divided(since, shares.rows_since);
  return shares;
}

double distance_of(const Shares& shares) {
  double distance = 0;
  for (std::size_t b = 0; b < shares.before.size(); ++b) {
    const double p = shares.together(b);
    const double chance = std::sqrt(2 * std::numbers::inv_pi * p * (1 - p) * shares.doubt());
    distance += 0.5 * (std::abs(shares.gain(b)) - chance);
  }
  return distance;
}

std::string percent(double share) {
  return share >= 0.1 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.2g} %", 100 * share);
}

// Neighbouring bins that gained most together.
struct Stretch {
  std::size_t first = 0, last = 0;
  double before = 0, since = 0;
};

Stretch largest_gain(const Shares& shares, std::size_t bins) {
  Stretch best, current;
  for (std::size_t b = 0; b < bins; ++b) {
    if (b == 0 || current.since - current.before <= 0) current = {b, b, 0, 0};
    current.last = b;
    current.before += shares.before[b];
    current.since += shares.since[b];
    if (b == 0 || current.since - current.before > best.since - best.before) best = current;
  }
  return best;
}

std::string stretch_text(const Stretch& stretch, const std::vector<double>& edges) {
  const auto edge = [&](std::size_t bin) { return fmt::format("{:.6g}", edges[bin]); };
  if (stretch.last == edges.size()) return "above " + edge(stretch.first - 1);
  if (stretch.first == 0) return (stretch.last == 0 ? "below " : "up to ") + edge(stretch.last);
  const std::string low = edge(stretch.first - 1), high = edge(stretch.last);
  return low == high ? low : fmt::format("between {} and {}", low, high);
}

std::string change_text(const Shares& shares, const std::vector<double>& edges) {
  const std::size_t missing = edges.size() + 1;
  const Stretch stretch = largest_gain(shares, missing);
  if (edges.empty() || std::abs(shares.gain(missing)) >= kNews * (stretch.since - stretch.before)) {
    return fmt::format("missing in {} of rows, {} in the baseline", percent(shares.since[missing]),
                       percent(shares.before[missing]));
  }
  return fmt::format("more often {}: {} of rows, {} in the baseline", stretch_text(stretch, edges),
                     percent(stretch.since), percent(stretch.before));
}

}  // namespace

std::vector<AlertFeature> changed_features(const Baseline& baseline, const RowCounts& now) {
  std::vector<AlertFeature> changed;
  const auto features = static_cast<double>(baseline.features.size());
  for (std::size_t j = 0; j < baseline.features.size(); ++j) {
    const std::optional<Shares> shares = shares_of(baseline.counts.features[j], now.features[j]);
    if (!shares) continue;
    const double distance = distance_of(*shares);
    // One row of N moves the distance by 1/N at most.
    if (!(distance > std::sqrt(shares->doubt() * std::log(features / kChance) / 2))) continue;
    changed.push_back({j, baseline.features[j], distance, change_text(*shares, baseline.edges[j])});
  }
  std::stable_sort(changed.begin(), changed.end(),
                   [](const AlertFeature& a, const AlertFeature& b) { return a.distance > b.distance; });
  return changed;
}

}  // namespace harmonia
