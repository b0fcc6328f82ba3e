#pragma once

#include <span>
#include <vector>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Where rays x + t·z leave a class, as learnt from some of them: 1/t = a·z + b‖z‖, not above 0 where a ray
/// never does. That is so for half-spaces, nearly for cones of many dimensions, and roughly wherever a
/// boundary bends little over the noise.
class RaySurrogate {
 public:
  /// `rays`: one a row, more than columns + 1; `inverse_exits`: 1/t of each.
  RaySurrogate(MatrixView<const double> rays, std::span<const double> inverse_exits);

  /// 1/t of a ray.
  double inverse_exit(std::span<const double> z) const;
  /// The share of normal vectors z for which x + sigma·z is still in the class.
  double kept(double sigma) const;
  /// How far off it is at rays that it was not learnt from (root mean square, in 1/t).
  double error() const { return error_; }

 private:
  std::vector<double> slope_;  // a
  double steepness_ = 0;       // ‖a‖
  double bend_ = 0;            // b
  double error_ = 0;
  std::size_t dimensions_ = 0;
  std::vector<double> across_;  // squared lengths across a, as probable as the nodes of normal numbers
};

}  // namespace harmonia
