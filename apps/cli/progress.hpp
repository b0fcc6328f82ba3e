#pragma once

#include <chrono>
#include <functional>

#include "harmonia/core/run.hpp"

namespace harmonia {

/// A line on standard error that shows how far a run has come, its rate and the time left. Nothing is shown
/// if standard error is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  void show(const Progress& progress);

 private:
  bool wanted_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace harmonia
