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
  std::uint64_t quiet_rows = 500;  ///< measured rows that have to be as in the baseline for an alert to end
  std::size_t alert_rows = 50;     ///< that an alert shows
  std::uint64_t back_rows = 20;    ///< of them, for which a change that brings gamma back is looked for
  std::uint64_t back_calls = 200000;             ///< of the model, at most, to find these
  std::uint64_t seed = 1;                        ///< of sampling and ties
  std::string about;                             ///< kept in the file as it is, for who reads it
  std::optional<MonitorMap> map = std::nullopt;  ///< that is asked how stable every measured row is
};

/// What became of a batch.
struct Taken {
  bool kept = true;           ///< it, and all before it, is in the file; false: the file cannot be written
  bool fresh = true;          ///< false: a batch of its id was kept before, and this one was not counted
  std::vector<Alert> alerts;  ///< that began or ended
};

/// A measured row on the Gamma Map.
struct MapPoint {
  KeptRow row;         ///< without its values; it has a stability
  bool alert = false;  ///< it is one of the rows that an alert shows
};

/// Measured rows that a status has as points, the last ones, besides those of open alerts.
constexpr std::size_t kMapPoints = 300;

/// What a monitor has done, at one moment.
struct MonitorStatus {
  std::uint64_t rows = 0, measured = 0, left_out = 0, without_value = 0, refused = 0, repeated_batches = 0;
  std::uint64_t evaluations = 0;  ///< of the model, by this process
  double share = 1;               ///< of the rows that is measured at present
  Time last_row = 0;              ///< when the last row came; 0: none did
  std::vector<double> p_values;   ///< as Detectors::p_values()
  std::vector<Window> windows;    ///< the last ones, the latest last
  std::vector<Alert> alerts;      ///< the last ones, the latest last
  std::string last_refused;       ///< why something was no row, or a row was not measured, the last time
  std::string unsaved;            ///< why the file cannot be written at present; empty: it can
  StreamPositions positions;
  std::vector<MapPoint> points;  ///< where there is a map: rows by number, ascending
};

/// Rows that were measured, and are not kept yet.
class MeasuredBatch;

/// Watches gamma of a model on a stream of rows against a baseline. Its state is an SQLite file: a batch that
/// was kept is counted, once, whenever the process is killed. Not safe to call from several threads, but for
/// status().
class Monitor {
 public:
  /// Goes on from the file, or makes it. Throws Error(usage) if the file is of another baseline, map, window
  /// or seed, or if the model has not the outputs that a map needs.
  Monitor(const Model& model, const Baseline& baseline, const MonitorOptions& options,
          const std::string& file, Run& run);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Positions that are kept, for RowStream::start().
  StreamPositions positions() const;
  /// What came with them: StreamBatch::mark.
  StreamMarks marks() const;
  /// Measures the batch's rows, those that sampling chooses. May be called while another thread is in keep().
  /// Rows that cannot be measured are told from the others. Throws Error(model) if the model answers nothing
  /// at all.
  std::shared_ptr<const MeasuredBatch> measure(StreamBatch batch);
  /// Keeps what the batch comes to, in one transaction. Positions and batches that are kept already are left
  /// out. A file that cannot be written (a full disk) does not stop this: it is tried again with the next
  /// batch.
  Taken keep(const MeasuredBatch& measured);
  /// Both.
  Taken take(const StreamBatch& batch);
  /// Tries again to write what could not be. False: it still cannot.
  bool save_again();
  /// Looks at one more row of an alert that is not complete: for the nearest baseline row, and a change that
  /// brings it back, whose calls count as those of measuring do. Returns the alert if that was its last. Not
  /// while a thread is in measure().
  std::optional<Alert> complete_alert();
  /// Whether there is one.
  bool has_incomplete() const;
  /// A copy of what is known at the moment.
  MonitorStatus status() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// What a monitor keeps in its file, beside or after it. Not safe to call from several threads.
class StoredMonitor {
 public:
  /// Throws Error(input) if it is none.
  explicit StoredMonitor(const std::string& file);
  ~StoredMonitor();
  StoredMonitor(const StoredMonitor&) = delete;
  StoredMonitor& operator=(const StoredMonitor&) = delete;

  /// MonitorOptions::about.
  std::string about();
  /// Of two files that have the same, windows can be merged.
  std::string identity();
  /// Throws Error(usage) if the baseline is not the monitor's.
  void check(const Baseline& baseline);
  /// As it was kept last; windows and alerts are the last ones.
  MonitorStatus status(const Baseline& baseline);
  /// All windows.
  std::vector<Window> windows(const Baseline& baseline);

 private:
  std::unique_ptr<class MonitorFile> file_;
};

}  // namespace harmonia
