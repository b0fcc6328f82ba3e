#pragma once

#include <nlohmann/json.hpp>

#include "harmonia/report/gamma_report.hpp"

namespace harmonia {

/// What was asked, as the result's "options".
nlohmann::ordered_json options_json(const GammaRunRecord& record);
/// One entry of the result's "rows".
nlohmann::ordered_json row_json(const GammaRow& row, const GammaRunRecord& record);
/// A row's values; null where missing.
nlohmann::ordered_json values_json(const std::vector<double>& x);
/// The result's "summary.worst".
nlohmann::ordered_json worst_json(const WorstRows& worst, const GammaRunRecord& record);
/// The result's "data".
nlohmann::ordered_json data_json(const DataInfo& data, std::size_t rows);
/// The result's "summary".
nlohmann::ordered_json summary_json(const GammaSummary& summary, const GammaRunRecord& record);

}  // namespace harmonia
