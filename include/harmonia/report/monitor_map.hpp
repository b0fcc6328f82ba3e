#pragma once

#include <string>

#include "harmonia/monitor/row_stability.hpp"
#include "harmonia/report/baseline_file.hpp"
#include "harmonia/report/map_report.hpp"

namespace harmonia {

/// The map as a monitor with this baseline asks it: rows that are measured as the baseline's were have the
/// gamma and the P that the map was fitted on. Throws Error(usage), in one line that says what to do, if the
/// baseline was measured in another way, or the map takes a variable that is no feature. Files are named as
/// messages call them.
MonitorMap monitor_map(const SavedMap& map, const std::string& map_file, const SavedBaseline& baseline,
                       const std::string& baseline_file);

/// The map's file without the rows that it was fitted on: read_map() makes the same of it.
std::string map_without_rows(const ResultFile& file);

}  // namespace harmonia
