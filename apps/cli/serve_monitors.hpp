#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/monitor/monitor.hpp"
#include "harmonia/report/baseline_file.hpp"

namespace harmonia {

/// What a monitor is of, as it keeps it in its file.
struct MonitorSubject {
  std::string model;
  SavedBaseline baseline;
  double false_alarms = 0;
  std::optional<MonitorMap> map = std::nullopt;
};

/// Reads it. Throws Error(input) if it is not there.
MonitorSubject stored_subject(StoredMonitor& monitor, const std::string& file);

/// What stored_subject() reads. baseline and map: the texts of their files; without a map, nothing.
std::string monitor_about(const std::string& model, const std::string& baseline, const std::string& map,
                          double false_alarms);

/// Serves the page of the monitors that write these files, side by side, until it is stopped. listen:
/// HOST:PORT; read_key: that readers need, or empty. Throws Error(input) for what is no such file.
void serve_monitors(const std::vector<std::string>& files, const std::string& listen,
                    const std::string& read_key, const std::stop_token& stop);

}  // namespace harmonia
