#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/ball/ball.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/rows.hpp"
#include "harmonia/model/dense_network.hpp"

namespace harmonia {

/// How balls are measured; the default chooses by what each way would cost.
struct DenseBallOptions {
  enum class Path {
    automatic,
    tangents,  ///< only units that a step may carry over a kink; not with smooth activations
    rank_one,  ///< all units at all points
  };
  enum class Arithmetic {
    automatic,  ///< float64 where it costs little, and of networks that compute in it
    float32,
    float64,
  };
  Path path = Path::automatic;
  Arithmetic arithmetic = Arithmetic::automatic;  ///< of differences; sums are in double always
  Simd simd = best_simd();
};

/// Why a ball around rows of a network cannot be measured by DenseBalls; empty: it can.
std::string dense_refused(const DenseNetwork& network, const Ball& ball);

/// Balls whose units move one feature at a time (cross, one-hot, simplex, anti, simplex+anti), around rows of
/// a dense network. Points have the coordinates of RowBall, cast to its scalar. What is computed are
/// differences to the row, layer by layer: no two large numbers are subtracted, and the error is that of
/// small ones. Results depend neither on the rows that are measured together nor on threads.
class DenseBalls {
 public:
  /// Throws Error(usage) if dense_refused() says why.
  DenseBalls(const DenseNetwork& network, const Ball& ball, const DenseBallOptions& options = {});
  ~DenseBalls();
  DenseBalls(const DenseBalls&) = delete;
  DenseBalls& operator=(const DenseBalls&) = delete;

  /// Whether a row's ball, one of this kind, size and scales, can be measured: nothing in it is missing, and
  /// its coordinates are finite in single precision.
  bool takes(const RowBall& ball) const;

  /// Around every row, which takes() says yes to: the outputs at the row (centres: rows × outputs), and the
  /// sum over all units of the unit's value Σ weight · (f(point) − f(row)) (sums: rows × outputs). Eight or
  /// more rows at once are sooner done than one by one. Of a cross whose points average to the row but for
  /// the rounding of coordinates, by at most 2^-30 of the row for every point, that rounding's linear part is
  /// left out in single precision. What is not finite could not be computed. Safe to call from several
  /// threads.
  void sums(std::span<const RowBall* const> balls, MutableRowsView centres, MutableRowsView sums) const;

  /// Around one row: its outputs (centre), and f(point) − f(row) of every point (differences: units · points
  /// of a unit × outputs, in the order of units and, of each unit, of points). Safe to call from several
  /// threads.
  void differences(const RowBall& ball, std::span<double> centre, MutableRowsView differences) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace harmonia
