#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace harmonia {

/// Looks for the least value of a smooth function between bounds by L-BFGS with projected steps [Nocedal
/// 2006, algorithm 7.4; Bertsekas 1982], asked in turns: point() is to be evaluated, take() is told the
/// answer.
class BoundedDescent {
 public:
  /// Starts at `start`, which lies between the bounds. `first_scale` is the inverse curvature that the first
  /// step assumes.
  BoundedDescent(std::vector<double> start, std::vector<double> lower, std::vector<double> upper,
                 double first_scale);

  const std::vector<double>& point() const { return trial_; }
  void take(double value, std::span<const double> gradient);
  /// No step lowers the value any more.
  bool done() const { return done_; }

 private:
  struct Pair {
    std::vector<double> moved, turned;  // of the point, of the gradient
    double product = 0;
  };

  void accept(double value, std::span<const double> gradient);
  void aim();
  void try_length();
  std::vector<double> quasi_newton(std::vector<double> gradient) const;

  std::vector<double> lower_, upper_, x_, gradient_, trial_, direction_;
  std::deque<Pair> pairs_;
  double first_scale_, value_ = 0, length_ = 1;
  bool begun_ = false, done_ = false;
};

}  // namespace harmonia
