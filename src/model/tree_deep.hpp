#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_ball_sums.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"
#include "tree_turns.hpp"

namespace harmonia {

/// The memory behind DeepTrees.
struct DeepPack {
  DeepTrees view;
  std::vector<DeepSlot> slots;
  std::vector<DeepTurn> turns;
  std::vector<double> exact_bounds;
};

/// Deep trees, of which there are not too many.
bool fits_deep(const TreePack& pack);
/// Of these, if each input is a column of its own, as it is.
DeepPack deep_pack(const TreePack& pack, const TurnInputs& inputs);

/// Blocks of rows, DeepNear::kMostRows at most.
struct DeepBlocks {
  const TurnSteps* steps = nullptr;
  std::vector<const double*> x;  ///< the rows
  std::vector<bool> alone;       ///< of each block: it is left out
  bool missing = false;          ///< some value is NaN
};

/// Walks blocks of rows and the points around them through deep trees: rows in lanes, listing the splits
/// whose threshold is within reach; then points in lanes, from the child that their row does not go to.
class TreeDeep {
 public:
  /// Keeps references.
  TreeDeep(const TreeKernel& kernel, const TreeRowsMaker& rows, const TurnInputs& inputs)
      : kernel_(kernel), rows_(rows), inputs_(inputs) {}

  /// The rows that walk() is then about. Keeps a reference.
  void begin(const DeepBlocks& blocks);
  /// Adds what they and their points come to; `trees` are those of `pack`.
  void walk(const PackedTrees& trees, const DeepPack& pack, TreeBallSums& sums);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // Points that a row may have on either side of it.
  struct Sides {
    std::uint32_t point[2];
  };
  // Trees that are walked by all rows in turn.
  struct Part {
    const PackedTrees& trees;
    const DeepPack& pack;
    std::size_t first, last;
  };
  // Whose exact coordinates are asked for.
  struct Source {
    const TreeDeep* walker;
    std::size_t first;  // row of the block
    std::size_t base;
    Sides sides;
  };

  double coordinate(std::size_t row, std::size_t base, std::size_t input) const;
  std::size_t base_of(std::size_t point) const { return steps().shifted ? 1 + point : 0; }
  const TurnSteps& steps() const { return *blocks_->steps; }
  std::int32_t values_of(std::size_t row, std::size_t number) const;
  void find_near(const Part& part, std::size_t base, const float* reach, std::int32_t* leaf,
                 TreeBallSums* sums);
  void turn_off(const Part& part, std::size_t base, const Sides& sides, const std::int32_t* leaf,
                TreeBallSums& sums);
  template <class Place>
  void add_bases(const Part& part, const Place& place, TreeBallSums& sums) const;

  const TreeKernel& kernel_;
  const TreeRowsMaker& rows_;
  const TurnInputs& inputs_;
  const DeepBlocks* blocks_ = nullptr;
  // Of each block, what splits compare: of the rows, of the bases if they are others, of last vertices, and
  // of the points' own inputs.
  std::vector<float> values_;
  std::vector<float> seen_, reach_, nowhere_;
  std::size_t bases_ = 0;  // with the rows themselves and the last vertices
  std::vector<std::int32_t> row_leaf_, base_leaf_, leaf_, begin_, own_;
  std::vector<std::uint32_t> near_slot_, near_who_, slot_, who_;
  DeepNear near_;
};

}  // namespace harmonia
