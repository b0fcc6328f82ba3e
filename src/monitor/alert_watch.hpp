#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/detectors.hpp"
#include "harmonia/monitor/monitor.hpp"
#include "recent_rows.hpp"
#include "window_book.hpp"

namespace harmonia {

/// Begins, follows and ends alerts. One is open at a time: what changes further while it is open belongs to
/// it. Every quiet_rows measured rows it is looked whether the last of them are as in the baseline again, by
/// the test of Kolmogorov and Smirnov at 5 %, for all rows and the alert's regions together; then the alert
/// ends and the detectors begin again.
class AlertWatch {
 public:
  AlertWatch(const Baseline& baseline, const MonitorOptions& options, const RecentRows& recent,
             const WindowBook& windows);

  /// Looks at what the detectors say after a row that came at `time`. True: an alert began or ended.
  bool look(Detectors& detectors, Time time);
  /// The alerts, the last ones, the latest last.
  const std::vector<Alert>& alerts() const { return alerts_; }
  /// The first that is not complete; null: there is none.
  const Alert* incomplete() const;
  /// Puts in a row of an alert that was looked at, if there was one left. Returns the alert if it is complete
  /// then, else null.
  const Alert* enter(std::uint64_t id, const std::optional<AlertRow>& row);

  /// Puts back an alert that was stored, by id ascending, and when the open one is looked at again.
  void restore(Alert alert);
  void restore_next_look(std::uint64_t number) { next_look_ = number; }
  std::uint64_t next_look() const { return next_look_; }

  /// Hands out those that changed since the last settle().
  void changed(const std::function<void(const Alert&)>& take) const;
  /// They are stored.
  void settle() { changed_.clear(); }

 private:
  void begin(const std::vector<Finding>& findings, Time time, std::uint64_t number);
  void describe(Alert& alert, const std::vector<Finding>& findings) const;
  void choose_rows(Alert& alert) const;
  RowCounts counts_since(std::uint64_t number) const;
  bool quiet(const Alert& alert) const;
  void mark(std::uint64_t id);

  const Baseline& baseline_;
  const MonitorOptions& options_;
  const RecentRows& recent_;
  const WindowBook& windows_;
  std::vector<Alert> alerts_;
  std::vector<std::uint64_t> changed_;
  std::uint64_t next_look_ = 0;  // measured rows, if an alert is open
};

}  // namespace harmonia
