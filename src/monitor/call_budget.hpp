#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace harmonia {

/// Shares calls of the model out over time: unused ones of the last two seconds may be made up for.
class CallBudget {
 public:
  using Clock = std::chrono::steady_clock;

  /// calls_per_second: 0: no limit.
  explicit CallBudget(double calls_per_second) : rate_(calls_per_second), left_(calls_per_second) {}

  /// The share of calls that may be made now, at most `share`.
  double share_of(double calls, double share, Clock::time_point now) {
    if (rate_ == 0 || calls == 0) return share;
    if (last_ != Clock::time_point{})
      left_ = std::min(2 * rate_, left_ + rate_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    return std::min(share, std::max(0.0, left_) / calls);
  }
  /// Enters calls that were made.
  void spend(double calls) { left_ -= calls; }

 private:
  double rate_, left_;
  Clock::time_point last_{};
};

}  // namespace harmonia
