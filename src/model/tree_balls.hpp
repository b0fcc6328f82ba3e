#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/model.hpp"
#include "tree_ball_cost.hpp"
#include "tree_ball_walker.hpp"
#include "tree_deep.hpp"
#include "tree_link.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"
#include "tree_slice_balls.hpp"
#include "tree_sums.hpp"
#include "tree_turns.hpp"

namespace harmonia {

/// All points of a ball around a row from about one walk of the row: at every split that it passes, the
/// points that turn off there are those whose own coordinate lies beyond the threshold. They go on from the
/// other child, and add the difference of the leaves to their own sum. Sums are integers, so that the order
/// does not matter and every point's answer is that of the point alone, to the bit.
class TreeBalls final : public BallPath {
 public:
  /// Keeps references to all of them but `info`. `slices`: null, there are none.
  TreeBalls(const PackedEnsemble& trees, const TreeRowsMaker& rows, const TreeKernel& kernel,
            const TreeAnswers& answers, const TreeSlices* slices, const ModelInfo& info);
  /// From now on open() takes only balls whose points are not sooner done one by one, at so many nanoseconds,
  /// and slices where they are sooner than a walk.
  void weigh(double point) { cost_.emplace(trees, rows, kernel.block, point); }

  std::string name() const override;
  std::unique_ptr<BallAsker> open(const Ball& ball) const override;
  /// Whether such a ball can be answered at all, if trees do not look at too many columns.
  static bool answers_ball(const Ball& ball);
  /// As open(), of what stops at sums.
  std::unique_ptr<TreeBallWalker> walker(const Ball& ball) const;

  /// What one pack of trees needs besides itself.
  struct Pack {
    bool together = false;  ///< blocks of rows at once: complete trees, one plain input a column
    TurnSplits splits;      ///< then
    DeepPack linked;        ///< otherwise, if they fit it; else it is empty
  };

  const PackedEnsemble& trees;
  const TreeRowsMaker& rows;
  const TreeKernel& kernel;
  const TreeAnswers& answers;
  std::size_t features, outputs;
  std::vector<Pack> packs;
  std::vector<std::uint32_t> columns;  ///< that splits look at, ascending
  bool nan_is_zero = false;            ///< some input in use takes a missing value for 0
  bool plain = true;                   ///< inputs in use are columns as they are, but for missing values, …
  bool shared = false;                 ///< some of them are of the same column
  TurnInputs inputs;                   ///< in use: their columns, and the places of these among the former

 private:
  bool can_slice(const Ball& ball) const;

  std::optional<TreeBallCost> cost_;
  std::unique_ptr<SliceBalls> sliced_;  // null: all rows are walked
};

}  // namespace harmonia
