#include "map_points.hpp"

#include <algorithm>
#include <map>

namespace harmonia {
namespace {

// Without its values: they may be many.
MapPoint point_of(const KeptRow& row, bool alert) {
  MapPoint point{{.partition = row.partition,
                  .position = row.position,
                  .number = row.number,
                  .time = row.time,
                  .id = row.id,
                  .values = {},
                  .gamma = row.gamma,
                  .low = row.low,
                  .high = row.high,
                  .decided_class = row.decided_class,
                  .region = row.region,
                  .stability = row.stability},
                 alert};
  return point;
}

}  // namespace

std::vector<MapPoint> map_points(const std::deque<KeptRow>& rows, const std::vector<Alert>& alerts) {
  std::map<std::uint64_t, MapPoint> points;  // by number
  const std::size_t last = std::min(rows.size(), kMapPoints);
  for (auto row = rows.end() - static_cast<std::ptrdiff_t>(last); row != rows.end(); ++row) {
    if (row->stability) points.emplace(row->number, point_of(*row, false));
  }
  for (const Alert& alert : alerts) {
    for (const AlertRow& shown : alert.rows) {
      const auto found = points.find(shown.row.number);
      if (found != points.end()) found->second.alert = true;
      if (found == points.end() && !alert.ended && shown.row.stability)
        points.emplace(shown.row.number, point_of(shown.row, true));
    }
  }
  std::vector<MapPoint> all;
  all.reserve(points.size());
  for (auto& [number, point] : points) all.push_back(std::move(point));
  return all;
}

}  // namespace harmonia
