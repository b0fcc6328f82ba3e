#pragma once

#include <cstdint>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "tree_walk.hpp"

namespace harmonia {

/// The memory behind one PackedTrees.
struct TreePack {
  PackedTrees view;
  std::vector<float> threshold;
  std::vector<double> exact;
  std::vector<std::int32_t> input, missing_left, child;
  std::vector<std::size_t> first;
  std::vector<std::int64_t> leaf;
  std::vector<bool> split;  ///< of complete trees: the slot is one, and not below a leaf
};

/// An ensemble's trees, grouped by output and depth, with their leaves in fixed point.
struct PackedEnsemble {
  std::vector<TreePack> packs;
  std::vector<std::uint32_t> used;  ///< inputs of the ensemble that splits compare, and some between them
  std::vector<double> unit;         ///< of each margin: what 1 in the sum stands for
};

/// For a kernel that walks this many rows together.
PackedEnsemble pack_trees(const TreeEnsemble& ensemble, std::size_t block);

}  // namespace harmonia
