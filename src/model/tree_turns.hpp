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

/// The splits of a pack of complete trees, a slot each: of float32, and of double precision where rows are.
struct TurnSplits {
  std::vector<TurnSplit<float>> single;
  std::vector<TurnSplit<double>> exact;
};
TurnSplits turn_splits(const TreePack& pack);

/// How the points around rows are made: from the row to the base, and from there to the point.
struct TurnSteps {
  bool shifted = false;                            ///< bases are not the row itself
  bool alike = false;                              ///< all inputs have the same steps
  std::size_t points = 0;                          ///< that every input has
  std::size_t last = 0;                            ///< of a simplex's last vertex
  std::vector<double> to_base;                     ///< of points × inputs, and of last vertices × inputs
  std::vector<double> to_own;                      ///< of points × inputs
  std::array<std::vector<std::uint32_t>, 2> side;  ///< points above their row, and below it
  /// Bases between which all lie, numbered from 1 on, those of points before last vertices.
  std::vector<std::uint32_t> outer;
};
/// `scales`: of each input, what a step of 1 is.
TurnSteps turn_steps(const TreeBallPoints& points, const std::vector<double>& scales);

/// Rows with the points around them, NearRows::kMostRows at most.
struct TurnRows {
  const TurnSteps* steps = nullptr;
  const double* x = nullptr;  ///< the rows, one after another
  std::size_t row_step = 0;   ///< from one to the next
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
  std::vector<std::int32_t> both;     ///< the two in turn; empty: every input's number is both
};

/// Takes the points around rows that are not as their row in some tree to their leaves: those that turn off
/// at a split near which the row passes.
class TreeTurns {
 public:
  /// Keeps references.
  TreeTurns(const TreeKernel& kernel, const TurnInputs& inputs) : kernel_(kernel), inputs_(inputs) {}

  /// `near`: what find_near() says; its list is used up.
  void walk(const PackedTrees& trees, const TurnSplits& splits, NearRows near, const TurnRows& rows,
            TreeBallSums& sums);

 private:
  template <class T, bool Missing>
  struct Turner;

  template <class T, bool Missing>
  void walk_by(const PackedTrees& trees, const TurnSplits& splits, NearRows near, const TurnRows& rows,
               TreeBallSums& sums);
  template <class T, bool Missing>
  void take_apart(const Turner<T, Missing>& turner, NearRows& near);
  template <class T, bool Missing>
  std::size_t list_apart(const Turner<T, Missing>& turner, std::size_t count, unsigned level,
                         std::uint32_t base);
  template <class T, bool Missing>
  void walk_apart(const Turner<T, Missing>& turner, NearRows& near);

  const TreeKernel& kernel_;
  const TurnInputs& inputs_;
  std::vector<std::uint32_t> picked_, tied_, apart_rows_;
  std::vector<unsigned char> apart_;  // of each tree and row, 1: a base goes another way; 0 between walks
};

}  // namespace harmonia
