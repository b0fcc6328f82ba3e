#pragma once

#include <nlohmann/json.hpp>

#include "harmonia/report/map_report.hpp"

namespace harmonia {

/// A map as it is saved, the result's "summary.map".
nlohmann::ordered_json saved_map_json(const SavedMap& map, const ModelInfo& model, const MapFit& fit);
/// What is known of a row before any search.
nlohmann::ordered_json map_row_json(const MapRow& row, const MapRows& rows);
/// What was asked, as the result's "options".
nlohmann::ordered_json map_options_json(const MapRunRecord& record, std::size_t steps);
/// The frame of a result, its rows put together as text: as values those of many rows would need much memory.
std::string map_frame(const MapRunRecord& record, nlohmann::ordered_json options,
                      const std::vector<nlohmann::ordered_json>& rows, nlohmann::ordered_json summary,
                      std::uint64_t evaluations);

}  // namespace harmonia
