#pragma once

#include <chrono>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// A line on standard error that shows how far a run has come, its rate and the time left. Nothing is shown
/// if standard error is no terminal.
class ProgressBar {
 public:
  /// `done`: rows of an earlier run, which cost no time now.
  ProgressBar(bool wanted, const std::vector<GammaRow>& done);
  ~ProgressBar();
  void show(const Progress& progress);

 private:
  bool wanted_;
  bool shown_ = false;
  Progress before_;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace harmonia
