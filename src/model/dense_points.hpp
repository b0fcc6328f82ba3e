#pragma once

#include <cstdint>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/core/rows.hpp"

namespace harmonia {

/// The points of a ball whose units move one feature, as differences to the row, in single precision's
/// coordinates: point p is the row, shifted to a base, and one more step along one feature.
struct DensePoints {
  std::vector<double> x;             ///< the row, as a network sees it
  std::vector<std::uint32_t> first;  ///< moved feature k has points first[k] … first[k + 1] − 1; then come
                                     ///< points that are bases
  std::vector<std::uint32_t> base;   ///< of every point; 0 is the row itself
  std::vector<double> step;          ///< of every point
  std::vector<double> weight;        ///< of every point in the sum over the ball's units
  Matrix<double> shifts;             ///< of bases 1, 2, …: a row each
  std::vector<double> total;         ///< Σ weight · difference, over all points
  /// Concentric spheres of a cross-polytope, whose points are ± stride · scale along every moved feature.
  struct Sphere {
    double stride = 0, weight = 0;
  };
  std::vector<Sphere> spheres;  ///< empty: the ball is no cross-polytope, or rounding moves its points too far
  double longest = 0;           ///< of |step| / scale

  std::size_t count() const { return step.size(); }
};

/// The points around a row, in the order of units and, of each unit, of points. `moved`: columns that move.
/// `scales`: of these; empty: 1.
DensePoints dense_points(const RowBall& ball, const std::vector<std::uint32_t>& moved,
                         const std::vector<double>& scales);

}  // namespace harmonia
