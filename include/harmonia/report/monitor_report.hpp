#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonia/monitor/inference_rows.hpp"
#include "harmonia/monitor/monitor.hpp"

namespace harmonia {

/// A model that is watched, as pages show it.
struct WatchedModel {
  std::string name;
  const Baseline* baseline = nullptr;
  MonitorOptions options;
  MonitorStatus status;
  std::optional<InferenceCounts> inference{};  ///< where a side-car brings the rows
};

/// Windows that pages are sent, the latest.
constexpr std::size_t kShownWindows = 120;

/// What all of them come to, as JSON for the live page: counts, gamma of every window and region with
/// intervals beside the baseline's, alerts without their rows; where there is a map, it and its points.
std::string monitor_status_json(const std::vector<WatchedModel>& models);

/// A page, and the Content-Security-Policy that it is to be sent with.
struct LivePage {
  std::string html, policy;
};

/// The page that shows what is watched; its script asks /api/events and /api/alerts. logged_in: it can be
/// left by /logout. Throws Error(usage) if this build has no pages.
LivePage monitor_page(bool logged_in);
/// A form that posts a token to /login. refused: the last one was wrong.
LivePage login_page(bool refused);

}  // namespace harmonia
