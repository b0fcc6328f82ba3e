#pragma once

#include <string>

#include "harmonia/monitor/alert.hpp"

namespace harmonia {

/// An alert in a few sentences, from its other fields. false_alarms: what the detectors promise.
std::string alert_words(const Alert& alert, double false_alarms);

/// "larger", "smaller", "slow", "shape".
std::string change_name(Change change);

/// "2026-11-16 12:30:05 UTC".
std::string time_text(Time time);

}  // namespace harmonia
