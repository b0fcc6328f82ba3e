#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/monitor/alert_sink.hpp"
#include "harmonia/report/monitor_report.hpp"

namespace harmonia {

/// What a server has answered, and what became of alerts.
struct ServerCounts {
  std::array<std::uint64_t, 6> replies{};  ///< by the hundreds of their status
  std::uint64_t refused_batches = 0;       ///< because too many rows waited
  std::uint64_t pages = 0;                 ///< that are kept up to date at present
  std::vector<SinkStatus> sinks{};         ///< of alerts
};

/// The most models that are labelled; further ones are left out.
constexpr std::size_t kLabelledModels = 100;

/// All of it as Prometheus reads it. Labels are the models' names, the regions' numbers and the kinds of
/// sinks, never something that a client sent.
std::string monitor_metrics(const std::vector<WatchedModel>& models, const ServerCounts& counts);
/// Its media type.
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace harmonia
