#include "tree_walk.hpp"

namespace harmonia {
namespace {

// Whether a row goes right at a slot. `x < threshold` is false for a missing value.
bool goes_right(const PackedTrees& trees, std::size_t slot, const TreeRows& rows, std::size_t row) {
  const std::int32_t input = trees.input[slot];
  const std::size_t at = row * rows.stride + static_cast<std::size_t>(input & INT32_MAX);
  const bool less =
      trees.exact != nullptr ? rows.exact[at] < trees.exact[slot] : rows.x[at] < trees.threshold[slot];
  const bool missing = rows.x[at] != rows.x[at];
  return missing ? input >= 0 : !less;
}

// Number of the leaf that a row reaches.
std::size_t leaf_of(const PackedTrees& trees, std::size_t tree, const TreeRows& rows, std::size_t row) {
  if (trees.child == nullptr) {
    const std::size_t slots = std::size_t{1} << trees.depth;
    std::size_t position = 1;
    while (position < slots) {
      position = 2 * position + (goes_right(trees, tree * slots + position, rows, row) ? 1 : 0);
    }
    return tree * slots + position - slots;
  }
  std::size_t slot = trees.first[tree];
  while (trees.child[slot] >= 0) {
    slot = static_cast<std::size_t>(trees.child[slot]) + (goes_right(trees, slot, rows, row) ? 1 : 0);
  }
  return static_cast<std::size_t>(~trees.child[slot]);
}

}  // namespace

void walk_trees_scalar(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                       std::int64_t* sums) {
  for (std::size_t row = 0; row < rows.count; ++row) {
    for (std::size_t tree = first; tree < last; ++tree) {
      const std::int64_t* leaf = trees.leaf + leaf_of(trees, tree, rows, row) * trees.leaf_width;
      if (trees.leaf_width == 1) {
        sums[trees.output * rows.count + row] += *leaf;
      } else {
        for (std::size_t k = 0; k < trees.leaf_width; ++k) sums[k * rows.count + row] += leaf[k];
      }
    }
  }
}

}  // namespace harmonia
