#pragma once

#include <cstddef>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"

namespace harmonia {

/// Weighs the ways to answer a ball of trees: all points together, by a walk or by slices of bits, or one by
/// one. Together they cost little where few points turn off; how many do is told by how near an input's
/// thresholds lie to each other, since trees set them where the rows are.
class TreeBallCost {
 public:
  /// Keeps a reference to the rows. `point`: nanoseconds of a point alone.
  TreeBallCost(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block, double point);

  /// Nanoseconds of a row, where steps are the same around all rows.
  struct Ways {
    double walked = 0, sliced = 0;  ///< together
    double alone = 0;               ///< all points one by one
  };
  /// Of rows of this many features.
  Ways weigh(const Ball& ball, std::size_t features) const;

 private:
  double near_share(const Ball& ball) const;
  double walked(const Ball& ball, double features, double near) const;
  double sliced(const Ball& ball, double near) const;

  const TreeRowsMaker& rows_;
  double point_;
  double levels_ = 0, complete_ = 0, splits_ = 0;  // of complete trees: how many, and with what they repeat
  double others_ = 0, other_splits_ = 0;           // trees that are not complete
  std::vector<std::vector<double>> thresholds_;    // of each input, ascending
};

}  // namespace harmonia
