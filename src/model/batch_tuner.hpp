#pragma once

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// Finds by measuring how many points a call of a model had better have: twice as many as long as that is
/// sooner done, else half as many as long as that is. Two sizes are compared by turns, the least time of each
/// counts, and a size is left only for one that is clearly better. Answers do not depend on it.
class BatchTuner {
 public:
  /// Sizes from 1 to `most`, beginning with `start`.
  BatchTuner(std::size_t start, std::size_t most) : best_(start), most_(most) { try_next(2 * start); }

  /// Points a call from now on.
  std::size_t size() const { return turn_ % 2 == 1 ? tried_ : best_; }
  /// What a point took, in seconds, with calls of size() points, and what one call took.
  void took(double seconds_a_point, double seconds_a_call);

 private:
  void try_next(std::size_t size);
  void decide(double seconds_a_call);

  std::size_t best_, most_;
  std::size_t tried_ = 0;  // 0: nothing is left to try
  int turn_ = 0;
  double best_seconds_ = 0, tried_seconds_ = 0;  // the least of this comparison; 0: none yet
  bool grown_ = false, shrinking_ = false;
};

}  // namespace harmonia
