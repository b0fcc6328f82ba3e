#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/evidence.hpp"

namespace harmonia {

/// What detectors promise.
struct DetectorOptions {
  double false_alarms = 0.01;  ///< probability that a stream without drift ever raises an alarm
  double overall_share = 0.5;  ///< of it for all rows together; the rest is divided among the regions
  std::uint64_t seed = 1;
};

/// What one detector says.
struct Finding {
  std::optional<std::size_t> region;  ///< none: all rows
  Change change = Change::larger;
  double p_value = 1;       ///< anytime-valid, corrected for all detectors; an alarm where <= false_alarms
  std::uint64_t since = 0;  ///< number of the row at which the change seems to have begun
};

/// An anytime-valid two-sample test of gamma in the stream against the baseline's sample, overall and in
/// every region. If baseline rows and stream rows are exchangeable, the probability that any detector ever
/// raises an alarm, until restart(), is at most false_alarms: Ville's inequality for each and the union bound
/// for all.
class Detectors {
 public:
  /// Throws Error(usage) if an option cannot be.
  Detectors(const Baseline& baseline, const DetectorOptions& options);

  /// Enters the next measured row: the rows() it has seen is its number, which keys the breaking of ties.
  void add(std::size_t region, double gamma);
  /// Rows entered, those before a restart included.
  std::uint64_t rows() const { return rows_; }
  /// Those that raise an alarm now, the smallest p-value first.
  std::vector<Finding> alarms() const;
  /// The smallest p-value since the restart, corrected, of all rows together, then of every region. A single
  /// region is all rows.
  std::vector<double> p_values() const;
  /// Forgets the stream's rows: the test begins again against the baseline alone, with the full rate.
  void restart();

  /// JSON to be stored and put back: the same state, the same later findings.
  std::string save() const;
  /// Throws Error(input) for what save() of detectors with this baseline did not write.
  void restore(const std::string& saved);

 private:
  struct Detector {
    std::optional<std::size_t> region;
    double share = 0;  // of false_alarms
    ConformalRanks ranks;
    Evidence evidence;
    // When there was most evidence so far: its logarithm, and what it was of.
    double most = 0;
    Change change = Change::larger;
    std::uint64_t since = 0;
  };
  void add(Detector& detector, double gamma);
  double log_p_value(const Detector& detector) const;

  DetectorOptions options_;
  std::size_t regions_;
  std::uint64_t rows_ = 0;
  std::vector<Detector> detectors_;  // of all rows; then of every region, where there are several
};

}  // namespace harmonia
