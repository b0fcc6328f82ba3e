#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tree_ball_points.hpp"
#include "tree_ball_sums.hpp"
#include "tree_ball_walker.hpp"
#include "tree_slice_turns.hpp"
#include "tree_slices.hpp"
#include "tree_turns.hpp"

namespace harmonia {

/// Answers balls around many rows by slices of bits: of every split a bit says which way a row goes, and
/// another whether a point of its own column goes the other way. Bits choose bits on the way up, as in
/// TreeSlices, so that for all rows together it is known on which levels points turn off, and which leaves
/// they come to; these are listed, and what a leaf is more than the row's is added to the point's sum.
class SliceBalls {
 public:
  /// All of which outlive it. `columns`: how many are moved; `places`: of each input in use, its column among
  /// them. Null if trees have more levels than kMostTurnLevels, or inputs are not columns as they are, one of
  /// each.
  static std::unique_ptr<SliceBalls> find(const PackedEnsemble& trees, const TreeRowsMaker& rows,
                                          const TreeSlices& slices, std::size_t block,
                                          const std::vector<std::int32_t>& places, std::size_t columns);

  /// Whether such balls can be answered.
  bool answers_ball(const Ball& ball, std::size_t margins) const;
  /// One that answers them, of `least` rows with the same steps at once; `other` answers what is left, or it
  /// is not given if that is null.
  std::unique_ptr<TreeBallWalker> walker(const Ball& ball, std::unique_ptr<TreeBallWalker> other,
                                         std::size_t least, const std::vector<std::uint32_t>& columns,
                                         std::size_t margins) const;
  static constexpr std::size_t kLeastRows = 96;  ///< that are usually not sooner walked

 private:
  friend class SliceBallWalker;

  // What a pack of trees needs besides itself and its slices.
  struct Pack {
    SlicedTurns view;
    std::vector<std::uint32_t> places, first_kin, above, first_bend;
    std::vector<std::int64_t> leaves;
    std::vector<SlicedKin> kin;
    std::vector<SlicedBend> bends;
  };

  SliceBalls(const TreeRowsMaker& rows, const TreeSlices& slices, std::size_t block, std::size_t columns)
      : rows_(rows), slices_(slices), block_(block), columns_(columns) {}
  static Pack complete(const TreePack& trees, std::size_t block, const std::vector<std::int32_t>& places);
  static Pack other(const TreePack& trees, const TreeSlices::Pack& sliced, std::size_t block,
                    const std::vector<std::int32_t>& places);

  const TreeRowsMaker& rows_;
  const TreeSlices& slices_;
  std::size_t block_, columns_;
  bool nan_is_zero_ = false;  // of some input
  std::vector<Pack> packs_;
};

}  // namespace harmonia
