#pragma once

#include <deque>
#include <vector>

#include "harmonia/monitor/monitor.hpp"

namespace harmonia {

/// The last kMapPoints of the rows (by number, ascending) that have a stability, and the rows of open alerts;
/// rows of any alert are marked.
std::vector<MapPoint> map_points(const std::deque<KeptRow>& rows, const std::vector<Alert>& alerts);

}  // namespace harmonia
