#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/row_stability.hpp"
#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// A row of the stream that is kept with its values.
struct KeptRow {
  std::string partition;
  std::uint64_t position = 0;
  std::uint64_t number = 0;  ///< among the rows that this monitor measured
  Time time = 0;
  std::string id;  ///< empty: it has none
  std::vector<double> values;
  double gamma = 0;
  std::optional<double> low, high;  ///< of gamma
  std::optional<long long> decided_class;
  std::size_t region = 0;
  std::optional<RowStability> stability =
      std::nullopt;  ///< by the monitor's map; none: it has none, or no answer
};

/// What a stretch of positions of one partition came to. It begins at a multiple of the window's size, and
/// what is in it is measured alike by every monitor: of two for the same stretch, the longer one holds the
/// other.
struct Window {
  std::string partition;
  std::uint64_t first = 0, next = 0;  ///< positions [first, next)
  Time begin = 0, end = 0;            ///< when its first and last rows came
  std::uint64_t first_number = 0;     ///< of its first measured row
  std::uint64_t rows = 0;             ///< that came, refused ones not counted
  std::uint64_t measured = 0;         ///< of them, that have a gamma
  std::uint64_t left_out = 0;         ///< by sampling
  std::uint64_t without_value = 0;    ///< that could not be measured
  std::uint64_t refused = 0;          ///< what was no row
  RowCounts counts;
  StabilityCounts stability;  ///< of the measured rows that the map answered
};

/// gamma over the measured rows of counts, with an interval for the mean of what they are a sample of.
GammaStatistics counted_gamma(const Baseline& baseline, const RowCounts& counts, double confidence);
/// The same in one region.
GammaStatistics counted_gamma(const Baseline& baseline, const RowCounts& counts, std::size_t region,
                              double confidence);

/// Windows of several monitors of one stream as if one had taken all of it: every stretch once, ordered by
/// partition and position.
std::vector<Window> merge_windows(std::vector<Window> windows);

/// JSON to be stored and read back. Throws Error(input) for what was not written so.
std::string window_text(const Window& window);
Window read_window(const std::string& text, const Baseline& baseline);

}  // namespace harmonia
