#pragma once

#include <nlohmann/json.hpp>

#include "harmonia/report/result_file.hpp"

namespace harmonia {

/// What the page draws of one result: the result itself, with its rows and points condensed to "histogram"
/// and "picture" where there are many.
nlohmann::ordered_json report_data(const ResultFile& file);

}  // namespace harmonia
