#pragma once

#include <memory>
#include <span>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// The convex hull of points in any dimension, by its definition and not by its faces, whose number explodes:
/// a point is inside if it is an average of the points with weights that are not negative. The weights are
/// looked for by non-negative least squares [Lawson 1974, chapter 23], until they are found or a plane
/// is that has all points on its other side.
class ConvexHull {
 public:
  /// How far outside counts as inside, in units of each feature's range over the points: rounding.
  static constexpr double kTolerance = 1e-9;

  /// points: rows × features, at least one row, no NaN.
  explicit ConvexHull(const Matrix<double>& points);
  ~ConvexHull();
  ConvexHull(const ConvexHull&) = delete;
  ConvexHull& operator=(const ConvexHull&) = delete;

  /// Inside or on the border; a point with a NaN is outside. Takes O(points × features) for every weight
  /// tried, of which there are one or two for a point far outside and about as many as features for one
  /// inside. Safe to call from several threads.
  bool contains(std::span<const double> x) const;

 private:
  struct Points;
  std::unique_ptr<Points> points_;
};

}  // namespace harmonia
