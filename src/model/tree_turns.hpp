#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_alone.hpp"
#include "tree_ball_sums.hpp"
#include "tree_pack.hpp"

namespace harmonia {

/// A split of a complete tree, as points meet it whose own input it compares.
template <class T>
struct TurnSplit {
  T threshold;
  std::int32_t input;  ///< times the rows of a block
  /// A point above its row that comes here has not turned off before if it is below the first; one below its
  /// row if it is not below the second.
  T bound[2];
};

/// The splits of a pack of complete trees, a slot each: of float32, or of double precision where rows are.
struct TurnSplits {
  std::vector<TurnSplit<float>> single;
  std::vector<TurnSplit<double>> exact;
};
TurnSplits turn_splits(const TreePack& pack);

/// How the points around rows are made: from the row to the base, and from there to the point.
struct TurnSteps {
  bool shifted = false;                            ///< bases are not the row itself
  std::size_t points = 0;                          ///< that every input has
  std::size_t last = 0;                            ///< of a simplex's last vertex
  std::vector<double> to_base;                     ///< of points × inputs, and of last vertices × inputs
  std::vector<double> to_own;                      ///< of points × inputs
  std::array<std::vector<std::uint32_t>, 2> side;  ///< points above their row, and below it
};
/// `scales`: of each input, what a step of 1 is.
TurnSteps turn_steps(const TreeBallPoints& points, const std::vector<double>& scales);

/// Rows with the points around them, NearRows::kMostRows at most.
struct TurnRows {
  const TurnSteps* steps = nullptr;
  const double* const* x = nullptr;  ///< the rows
  /// As the trees see them in float32: blocks of rows, an input at input × block + lane, then the bases of
  /// the block's own points if they are shifted, then the last vertices.
  const float* values = nullptr;
  bool missing = false;  ///< some value is NaN
};

/// What points need of a model to be walked.
struct TurnInputs {
  std::size_t block = 1;
  std::vector<std::uint32_t> column;  ///< of a row, for each input
  std::vector<std::int32_t> place;    ///< of that column among those that are moved
};

/// A point on its way through a tree.
template <class T>
struct Turn {
  std::uint32_t tree, at;  ///< slot of the tree's first, and heap position; at last the leaf
  std::uint32_t from;      ///< the leaf that its base comes to; both counted from the tree's first
  std::uint32_t values;    ///< where its base's begin in TurnRows::values, with the lane
  std::int32_t own;        ///< the input that it has its own value of
  std::uint32_t mark;      ///< of its row and column
  std::uint32_t row;
  std::uint32_t point;
  T value;
};

/// Takes the points around rows that are not as their row in some tree to their leaves: those that turn off
/// at a split near which the row passes.
class TreeTurns {
 public:
  /// Keeps references.
  TreeTurns(const TreeKernel& kernel, const TurnInputs& inputs) : kernel_(kernel), inputs_(inputs) {}

  /// `near`: what find_near() says of the trees from `first` on.
  void walk(const PackedTrees& trees, const TurnSplits& splits, std::size_t first, const NearRows& near,
            const TurnRows& rows, TreeBallSums& sums);

 private:
  template <class T, bool Missing>
  struct Turner;

  template <class T, bool Missing>
  void walk_by(const PackedTrees& trees, const std::vector<TurnSplit<T>>& splits, std::size_t first,
               const NearRows& near, const TurnRows& rows, TreeBallSums& sums);
  template <bool Missing>
  void walk_level(const Turner<float, Missing>& turner, const TurnLevel& near, const std::uint32_t (&way)[2],
                  const std::uint64_t* apart, TreeBallSums& sums);
  template <class T>
  std::vector<Turn<T>>& turns();

  const TreeKernel& kernel_;
  const TurnInputs& inputs_;
  std::vector<std::uint32_t> picked_, apart_rows_;
  std::vector<std::uint64_t> apart_;  // of each tree and row, a bit a base, and from bit 32 a last vertex
  std::vector<Turn<float>> single_;
  std::vector<Turn<double>> exact_;
  // Of points that a kernel takes to their leaves: see TurnLevel.
  std::vector<std::uint32_t> found_, mark_, place_;
  std::vector<std::int32_t> begin_, leaf_;
  std::vector<float> own_;
};

}  // namespace harmonia
