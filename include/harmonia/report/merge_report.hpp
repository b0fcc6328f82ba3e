#pragma once

#include <string>
#include <vector>

#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// What several monitors of one stream took together.
struct MergedMonitors {
  std::string model;               ///< as the first of them called it
  std::vector<std::string> files;  ///< of the monitors
  std::vector<Window> windows;     ///< every stretch once, by partition and position
};

/// Their counts, gamma over all rows and by partition, and every window, as JSON.
std::string merged_json(const MergedMonitors& merged, const Baseline& baseline);
/// For a person: counts and gamma by partition and in all.
std::string merged_table(const MergedMonitors& merged, const Baseline& baseline);

}  // namespace harmonia
