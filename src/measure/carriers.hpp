#pragma once

#include <cmath>

#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// How many values carry a sum: k for k equal values among zeros.
class Carriers {
 public:
  void add(double value) {
    sizes_ += std::abs(value);
    squares_ += value * value;
  }
  /// Enough to trust their spread.
  bool enough() const { return squares_ > 0 && sizes_ * sizes_ >= kTrustedValues * squares_; }
  /// All values are 0.
  bool none() const { return squares_ == 0; }

 private:
  double sizes_ = 0, squares_ = 0;
};

}  // namespace harmonia
