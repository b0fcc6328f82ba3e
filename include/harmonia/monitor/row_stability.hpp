#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/measure/gamma.hpp"
#include "harmonia/measure/gamma_map.hpp"

namespace harmonia {

/// How likely a row's class outlasts the search of a map, by that map.
struct RowStability {
  double log_odds = 0;     ///< log P/(1 − P) of the row's class: where it is on the map, beside gamma
  double probability = 0;  ///< of being stable
  Interval interval;       ///< of the probability, as MapAnswer has it
  bool outside = false;    ///< the row is outside of what the map was fitted on
};

/// A map that a monitor asks about the rows it measures. Their gamma has to be measured as the map's was, in
/// the logit of the row's class.
struct MonitorMap {
  GammaMap map;
  std::vector<std::size_t> features;  ///< of a row, that are the map's further variables
  std::size_t steps = 0;              ///< N of its searches
};

/// What the map says about a row (values) that was measured with GammaOptions::keep_outputs. None if the row
/// has no gamma, or one of its further variables is missing.
std::optional<RowStability> stability_of(const MonitorMap& map, const GammaRow& row,
                                         std::span<const double> values);

/// The same text for the same map alone.
std::string map_identity(const MonitorMap& map);

/// Bins of probabilities, equally wide.
constexpr std::size_t kStabilityBins = 20;

/// Stability of rows, in whole numbers, so that they add up exactly in any order.
struct StabilityCounts {
  std::uint64_t rows = 0;
  std::uint64_t outside = 0;  ///< of them, outside of what the map was fitted on
  std::uint64_t sum = 0;      ///< of the probabilities …
  std::uint64_t squares = 0;  ///< … and of their squares, in units of 2^-30
  std::array<std::uint64_t, kStabilityBins>
      bins{};  ///< bin i: from i/20 to below (i + 1)/20; the last with 1
};

/// Enters a row.
void count_stability(const RowStability& row, StabilityCounts& counts);
/// Adds `more` to `counts`.
void merge(StabilityCounts& counts, const StabilityCounts& more);

/// The mean of what counts hold.
struct MeanStability {
  std::optional<double> mean;       ///< none without rows
  std::optional<double> low, high;  ///< with about the confidence asked for, the mean of what the rows are a
                                    ///< sample of lies between; the map's own error is not in it
};
MeanStability mean_stability(const StabilityCounts& counts, double confidence);

}  // namespace harmonia
