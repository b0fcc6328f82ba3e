#pragma once

#include <nlohmann/json.hpp>

#include "harmonia/report/gamma_report.hpp"

namespace harmonia {

/// What was asked, as the result's "options".
nlohmann::ordered_json options_json(const GammaRunRecord& record);
/// One entry of the result's "rows".
nlohmann::ordered_json row_json(const GammaRow& row, const GammaRunRecord& record);
/// The result's "summary".
nlohmann::ordered_json summary_json(const GammaSummary& summary, const GammaRunRecord& record);

}  // namespace harmonia
