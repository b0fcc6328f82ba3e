#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/monitor.hpp"
#include "harmonia/monitor/window.hpp"

/// JSON of what a monitor stores.
namespace harmonia {

/// On one line; broken UTF-8 is replaced.
std::string monitor_dump(const nlohmann::json& json);

/// What `read` makes of a stored text. Throws Error(input) that it is not what was written, which `what`
/// names.
template <class T, class Read>
T read_stored(const std::string& text, std::string_view what, const Read& read) {
  try {
    return read(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::input, fmt::format("what is stored of {} cannot be read: {}", what, error.what()));
  }
}

/// Counts, and back; what does not have the baseline's shape is an nlohmann exception.
nlohmann::json counts_json(const RowCounts& counts);
RowCounts read_counts(const nlohmann::json& json, const Baseline& baseline);

/// [[bin, count], …], and back.
nlohmann::json bins_json(const BinCounts& counts);
BinCounts read_bins(const nlohmann::json& json);

/// Counts of stability, and back.
nlohmann::json stability_counts_json(const StabilityCounts& counts);
StabilityCounts read_stability_counts(const nlohmann::json& json);

/// A row that is kept, and back.
nlohmann::json kept_row_json(const KeptRow& row);
KeptRow read_kept_row(const nlohmann::json& json);

/// The numbers of a status that no window, alert or position has, and back.
nlohmann::json status_json(const MonitorStatus& status);
void read_status(const nlohmann::json& json, MonitorStatus& status);

/// Null where there is none, or no finite number; and back, where null is none, or NaN in a list.
nlohmann::json number_or_null(const std::optional<double>& value);
std::optional<double> read_number_or_null(const nlohmann::json& json);
nlohmann::json values_or_null(const std::vector<double>& values);
std::vector<double> read_values_or_null(const nlohmann::json& json);

}  // namespace harmonia
