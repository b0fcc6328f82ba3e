#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_ball_sums.hpp"
#include "tree_deep_pack.hpp"
#include "tree_deep_values.hpp"

namespace harmonia {

/// Walks blocks of rows and the points around them through linked trees: rows in lanes, listing the splits
/// whose threshold is within reach; then points in lanes, from the child that their row does not go to.
class TreeDeep {
 public:
  /// Keeps references.
  TreeDeep(const TreeKernel& kernel, const DeepValues& values) : kernel_(kernel), values_(values) {}

  /// Adds what the rows and their points come to, but for those of blocks that are alone; `pack` is made of
  /// `trees`.
  void walk(const PackedTrees& trees, const DeepPack& pack, TreeBallSums& sums);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // Of two points, which one a row has that goes left, and that goes right.
  struct Sides {
    std::uint32_t point[2];
  };
  // Trees that are walked by all rows in turn.
  struct Part {
    const PackedTrees& trees;
    const DeepPack& pack;
    std::size_t first, last;
  };
  // Whose exact values are asked for.
  struct Source {
    const DeepValues* values;
    std::size_t first;  // of the rows
    std::size_t base;
    Sides sides;
  };

  void make_room(const PackedTrees& trees, std::size_t count);
  void find_near(const Part& part, std::size_t base, bool listed, std::int32_t* leaf, TreeBallSums* sums);
  void turn_off(const Part& part, std::size_t base, const Sides& sides, const std::int32_t* leaf,
                TreeBallSums& sums);
  bool comes_to(const DeepPack& pack, std::size_t slot, std::size_t row, std::uint32_t point) const;
  template <class Place>
  void add_bases(const Part& part, const Place& place, TreeBallSums& sums) const;

  const TreeKernel& kernel_;
  const DeepValues& values_;
  std::vector<float> nowhere_;  // a reach that nothing is within
  std::vector<std::int32_t> row_leaf_, base_leaf_, leaf_, begin_, own_;
  std::vector<std::uint32_t> near_slot_, near_who_, slot_, who_;
  DeepNear near_;
};

}  // namespace harmonia
