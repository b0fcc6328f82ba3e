#include "batch_tuner.hpp"

#include <algorithm>

namespace harmonia {
namespace {

constexpr int kTurns = 3;         // of each size
constexpr double kBetter = 0.97;  // of the time: less is noise
constexpr double kCallSeconds =
    0.1;  // a call is not made longer than that, and does not run into time limits

}  // namespace

void BatchTuner::took(double seconds_a_point, double seconds_a_call) {
  if (tried_ == 0) return;
  double& least = turn_ % 2 == 1 ? tried_seconds_ : best_seconds_;
  least = least == 0 ? seconds_a_point : std::min(least, seconds_a_point);
  if (turn_ % 2 == 0 && tried_ > best_ && 2 * seconds_a_call > kCallSeconds) {
    decide(seconds_a_call);
    return;
  }
  if (++turn_ == 2 * kTurns) decide(seconds_a_call);
}

void BatchTuner::decide(double seconds_a_call) {
  const bool better = tried_seconds_ > 0 && tried_seconds_ < kBetter * best_seconds_ &&
                      (shrinking_ || seconds_a_call <= kCallSeconds);
  if (better) {
    grown_ |= !shrinking_;
    best_ = tried_;
    try_next(shrinking_ ? best_ / 2 : 2 * best_);
  } else if (!shrinking_ && !grown_) {
    shrinking_ = true;
    try_next(best_ / 2);
  } else {
    try_next(0);
  }
}

void BatchTuner::try_next(std::size_t size) {
  turn_ = 0;
  best_seconds_ = tried_seconds_ = 0;
  tried_ = size;
  if (size > most_ && !grown_) {
    shrinking_ = true;
    tried_ = best_ / 2;
  } else if (size > most_) {
    tried_ = 0;
  }
}

}  // namespace harmonia
