#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/core/rows.hpp"

namespace harmonia {

/// The points of a ball whose units move one feature, as differences to the row, with coordinates of the
/// network's type: point p is the row, shifted to a base, and one more step along one feature.
struct DensePoints {
  /// What the points that every moved feature has share, one by one.
  struct Slot {
    std::size_t base = 0;  ///< 0 is the row itself
    double weight = 0;     ///< in the sum over the ball's units
    double stride = 0;     ///< of a cross-polytope: its step, in units of the feature's scale
  };
  /// Concentric spheres of a cross-polytope, whose points are ± stride · scale along every moved feature.
  struct Sphere {
    double stride = 0, weight = 0;
  };
  bool single = true;             ///< coordinates are floats
  std::vector<double> x;          ///< the row, as a network sees it
  std::size_t moved = 0;          ///< features
  std::vector<Slot> slots;        ///< moved feature k has points k · slots … (k + 1) · slots − 1
  std::vector<Slot> bare;         ///< then come points that are bases
  std::vector<double> steps;      ///< slots × moved features; of a cross-polytope they are not kept
  std::span<const double> given;  ///< the row, as it was given
  const std::uint32_t* columns = nullptr;  ///< of the moved features
  const double* scales = nullptr;          ///< of these; null: 1
  Matrix<double> shifts;                   ///< of bases 1, 2, …: a row each
  std::vector<double> total;    ///< Σ weight · difference, over all points; empty: none but rounding
  std::vector<Sphere> spheres;  ///< empty: no cross-polytope, or no floats, or rounding moves points too far
  double longest = 0;           ///< of |step| / scale

  std::size_t count() const { return stepped() + bare.size(); }
  /// The first point that is a base.
  std::size_t stepped() const { return moved * slots.size(); }
  double weight(std::size_t point) const {
    return point < stepped() ? slots[point % slots.size()].weight : bare[point - stepped()].weight;
  }
  double step(std::size_t feature, std::size_t slot) const {
    if (!steps.empty()) return steps[slot * moved + feature];
    const std::size_t column = columns[feature];
    const double own = scales == nullptr ? slots[slot].stride : slots[slot].stride * scales[feature];
    return cast(given[column] + own) - x[column];
  }
  /// A coordinate as a network sees it.
  double cast(double coordinate) const {
    return single ? static_cast<double>(static_cast<float>(coordinate)) : coordinate;
  }
};

/// The points around a row, in the order of units and, of each unit, of points. `moved`: columns that move.
/// `scales`: of these; empty: 1. All three have to outlive what is made.
DensePoints dense_points(const RowBall& ball, const std::vector<std::uint32_t>& moved,
                         const std::vector<double>& scales, Scalar scalar);

}  // namespace harmonia
