#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harmonia/ball/ball.hpp"

namespace harmonia {

/// What a model answers to all points of a row's ball. Outputs of several points lie one point after another.
struct BallAnswer {
  bool refused = false;        ///< nothing is said of this row: its points are to be asked for
  std::vector<double> centre;  ///< outputs of the row itself
  /// Of a path that gives sums: of each output, the sum over all units of Σ weight · (f(point) − f(row)).
  std::vector<double> sums;

  // Of other paths: every point, told by what is not as at its base.
  std::vector<double> base;          ///< of the points of a unit that is neither in `units` nor the next
  std::vector<double> last;          ///< of the points of a simplex's last vertex; empty: it has none
  std::vector<std::uint64_t> units;  ///< that are answered otherwise, ascending
  std::vector<double> changed;       ///< of the points of each of these
};

/// Answers the balls of one kind around many rows. Not safe to call from several threads.
class BallAsker {
 public:
  virtual ~BallAsker() = default;
  /// One answer a row.
  virtual void evaluate(std::span<const RowBall* const> rows, std::span<BallAnswer> answers) = 0;
  /// Rows that had better be asked for together, if there are so many.
  virtual std::size_t least_rows() const { return 1; }
};

/// Answers whole balls whose points differ from a base in one coordinate, sooner than point by point: with
/// the same numbers to the bit, or with sums whose error is no larger.
class BallPath {
 public:
  virtual ~BallPath() = default;
  /// What it is called in results, in a word.
  virtual std::string name() const = 0;
  /// What it tells of a ball are sums over it.
  virtual bool gives_sums() const { return false; }
  /// One that answers such balls; null: they are to be asked for point by point, as all are that are not
  /// BallOptions::one_coordinate(). Safe to call from several threads; it and the ball outlive what is made.
  virtual std::unique_ptr<BallAsker> open(const Ball& ball) const = 0;
};

}  // namespace harmonia
