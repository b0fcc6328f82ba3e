#pragma once

#include <cstdint>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "tree_ball_points.hpp"
#include "tree_ball_sums.hpp"
#include "tree_rows.hpp"

namespace harmonia {

/// Walks the points around one row through one tree, of any kind, whatever the splits look at: to the bit as
/// the model sees each point, and slowly.
class TreeAlone {
 public:
  /// `columns`: of each input in use, its column's place among those that are moved. Keeps references.
  TreeAlone(const TreeRowsMaker& rows, std::size_t block, const std::vector<std::int32_t>& columns)
      : rows_(rows), block_(block), columns_(columns) {}

  /// Adds what the row and its points come to; `row`: its number among the sums.
  void walk(const PackedTrees& trees, std::size_t tree, const RowBall& ball, const TreeBallPoints& points,
            std::size_t row, TreeBallSums& sums);

 private:
  // Where a tree is.
  struct TreeAt {
    const PackedTrees& trees;
    std::size_t tree;
  };
  // A split on a row's way, or a leaf.
  struct Step {
    std::size_t
        slot;  // of a complete tree: the first of the tree and the heap position; of a deep one its own
    std::int64_t leaf;  // −1: it is a split
  };
  struct Turned {
    std::size_t column, place, leaf;
  };

  bool right(const PackedTrees& trees, std::size_t slot, double coordinate) const;
  std::size_t input_of(const PackedTrees& trees, std::size_t slot) const;
  std::size_t column_of(const PackedTrees& trees, std::size_t slot) const;
  static Step root(const TreeAt& at);
  static Step child(const TreeAt& at, std::size_t slot, bool right);
  static Step complete(const TreeAt& at, std::size_t heap);
  static Step deep(const PackedTrees& trees, std::size_t slot);
  template <class Coordinate>
  std::size_t leaf_from(const TreeAt& at, Step step, const Coordinate& coordinate) const;
  void walk_points(const TreeAt& at, const RowBall& ball, RowBall::Place place, std::size_t point,
                   std::size_t row, std::size_t centre, TreeBallSums& sums);

  const TreeRowsMaker& rows_;
  std::size_t block_;
  const std::vector<std::int32_t>& columns_;
  std::vector<Turned> turned_;
};

}  // namespace harmonia
