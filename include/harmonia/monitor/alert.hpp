#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/monitor/detectors.hpp"
#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// Where gamma changed, and how much.
struct AlertPart {
  Finding finding;
  std::string where;              ///< the region in words, or "all rows"
  GammaStatistics before, since;  ///< in the baseline, and since the change
};

/// A feature whose values since the change are other than the baseline's.
struct AlertFeature {
  std::size_t feature = 0;
  std::string name;
  double distance =
      0;  ///< share of rows that would have to change bins: total variation, less what chance brings
  std::string text;  ///< "more often above 12.8 (41 % of rows, 10 % in the baseline)"
};

/// A change of a row that brings its gamma back to what the baseline has.
struct Counterfactual {
  std::vector<std::size_t> features;  ///< that change
  std::vector<double> values;         ///< of these, afterwards
  double gamma = 0;                   ///< afterwards
  double distance = 0;                ///< of the change, in the features' spreads
};

/// One of the rows responsible.
struct AlertRow {
  KeptRow row;
  std::optional<BaselineRow> nearest;  ///< of the baseline's kept rows
  std::optional<Counterfactual> back;  ///< none: none was found, or looked for
  std::string reason;                  ///< why there is no such change, one line; empty: there is one
  bool looked = false;                 ///< for the two
};

/// A change of gamma, from when it was found until it ended.
struct Alert {
  std::uint64_t id = 0;
  Time raised = 0, since = 0;  ///< when it was found, and when it seems to have begun
  std::optional<Time> ended;
  std::uint64_t raised_number = 0, since_number = 0;  ///< measured rows before
  double p_value = 1;                                 ///< when it was found
  std::vector<AlertPart> parts;                       ///< where, the surest first; at least one
  std::vector<AlertFeature> features;                 ///< the most changed first
  std::vector<AlertRow> rows;  ///< since the change: of largest gamma, the largest first; or of the smallest,
                               ///< where gamma became smaller
  bool complete = false;       ///< nearest rows and counterfactuals were looked for
  std::string text;            ///< all that in a few sentences
};

/// JSON, as alerts are stored, sent and shown.
std::string alert_text(const Alert& alert, const Baseline& baseline);
/// Throws Error(input) for what alert_text() did not write.
Alert read_alert(const std::string& text);

}  // namespace harmonia
