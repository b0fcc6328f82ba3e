#pragma once

#include <cstddef>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"

namespace harmonia {

/// Weighs the two ways to answer a ball of trees: all points together, or one by one. Together they
/// cost little where few points turn off; how many do is told by how near an input's thresholds lie to each
/// other, since trees set them where the rows are.
class TreeBallCost {
 public:
  /// Keeps a reference to the rows. `point`: nanoseconds of a point alone.
  TreeBallCost(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block, double point);

  /// Whether points of such balls around rows of this many features are expected to be sooner done one by
  /// one. No if steps differ from row to row: what that costs is not known.
  bool points_are_sooner(const Ball& ball, std::size_t features) const;

 private:
  double near_share(const Ball& ball) const;

  const TreeRowsMaker& rows_;
  double point_;
  double levels_ = 0;                            // of all complete trees
  double others_ = 0;                            // trees that are not complete
  std::vector<std::vector<double>> thresholds_;  // of each input, ascending
};

}  // namespace harmonia
