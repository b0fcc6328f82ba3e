#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/row_stream.hpp"
#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// How a stream is watched.
struct MonitorOptions {
  DetectorOptions detectors;
  std::uint64_t window = 1000;     ///< positions of a window
  double share = 1;                ///< of the rows that is measured
  double calls_per_second = 0;     ///< of the model, at most: beyond it, rows are sampled; 0: no limit
  std::uint64_t quiet_rows = 500;  ///< measured rows that have to be as in the baseline before an alert ends
  std::size_t alert_rows = 50;     ///< that an alert shows
  std::uint64_t seed = 1;          ///< of sampling and ties
};

/// What a monitor has done, at one moment.
struct MonitorStatus {
  std::uint64_t rows = 0, measured = 0, left_out = 0, without_value = 0, refused = 0, repeated_batches = 0;
  std::uint64_t evaluations = 0;  ///< model calls of this process
  double share = 1;               ///< of rows that is measured at present
  Time last_row = 0;              ///< when the last row came; 0: none did
  std::vector<double> p_values;   ///< as Detectors::p_values()
  std::vector<Window> windows;    ///< the last ones, without their rows, the latest last
  std::vector<Alert> alerts;      ///< the last ones, the latest last
  std::string last_refused;       ///< why something was no row, the last time
  StreamPositions positions;
};

/// Watches gamma of a model on a stream of rows against a baseline. State is an SQLite file: what take() has
/// returned from is kept, counted once, whenever the process is killed. Not safe to call from several
/// threads, but for status().
class Monitor {
 public:
  /// Goes on from the file, or makes it. Throws Error(usage) if the file is of another baseline, window or
  /// seed.
  Monitor(const Model& model, const Baseline& baseline, const MonitorOptions& options,
          const std::string& file, Run& run);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Positions that are kept, for RowStream::start().
  StreamPositions positions() const;
  /// Whether a batch of this id was kept.
  bool has_batch(const std::string& id) const;
  /// Measures the batch's rows and keeps what they come to, in one transaction. Positions that are kept
  /// already are left out. Alerts that began or ended are returned.
  std::vector<Alert> take(const StreamBatch& batch);
  /// Looks for the nearest baseline rows and the changes that bring rows back, of alerts that are not
  /// complete, one alert a call. Returns it; none: all are complete.
  std::optional<Alert> complete_alert();
  /// A copy of what is known at the moment.
  MonitorStatus status() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// The windows that a monitor's file holds, without their rows. Throws Error(input) if it is none, or of
/// another baseline.
std::vector<Window> stored_windows(const std::string& file, const Baseline& baseline);

}  // namespace harmonia
