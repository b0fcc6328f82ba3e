#include "tree_walk.hpp"

namespace harmonia {
namespace {

// Whether a row goes right at a slot. Floats that are equal may stand for doubles that are not.
bool goes_right(const PackedTrees& trees, std::size_t slot, const TreeRows& rows, const float* x,
                std::size_t row) {
  const auto input = static_cast<std::size_t>(trees.input[slot]);
  const float value = x[input], threshold = trees.threshold[slot];
  if (value != value) return trees.missing_left[slot] == 0;
  if (value == threshold && trees.exact != nullptr) {
    return !(rows.exact(rows.source, row, input) < trees.exact[slot]);
  }
  return !(value < threshold);
}

// Number of the leaf that a row reaches.
std::size_t leaf_of(const PackedTrees& trees, std::size_t tree, const TreeRows& rows, std::size_t row) {
  const float* const x = rows.x + row * rows.inputs;
  if (trees.child == nullptr) {
    const std::size_t slots = std::size_t{1} << trees.depth;
    std::size_t position = 1;
    while (position < slots) {
      position = 2 * position + (goes_right(trees, tree * slots + position, rows, x, row) ? 1 : 0);
    }
    return tree * slots + position - slots;
  }
  std::size_t slot = trees.first[tree];
  while (trees.child[slot] >= 0) {
    slot = static_cast<std::size_t>(trees.child[slot]) + (goes_right(trees, slot, rows, x, row) ? 1 : 0);
  }
  const std::int32_t leaf = ~trees.child[slot];
  return static_cast<std::size_t>(leaf);
}

bool gather_block(const float* x, std::size_t, std::size_t, const std::uint32_t* columns, std::size_t inputs,
                  float* block) {
  bool missing = false;
  for (std::size_t i = 0; i < inputs; ++i) {
    block[i] = x[columns[i]];
    missing |= block[i] != block[i];
  }
  return missing;
}

void walk(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
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

void find_near_of(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                  const TreeRows& rows, std::size_t row, const float* x, std::int64_t* sums, NearRows& near) {
  const std::size_t slots = std::size_t{1} << trees.depth;
  for (std::size_t tree = first; tree < last; ++tree) {
    std::uint32_t levels = 0;
    std::size_t position = 1;
    for (unsigned level = 0; level < trees.depth; ++level) {
      const std::size_t slot = tree * slots + position;
      const float distance = x[trees.input[slot]] - trees.threshold[slot];
      if ((distance < 0 ? -distance : distance) <= reach[slot]) levels |= 1U << level;
      position = 2 * position + (goes_right(trees, slot, rows, x, row) ? 1 : 0);
    }
    const std::size_t leaf = position - slots;
    const std::int64_t* value = trees.leaf + (tree * slots + leaf) * trees.leaf_width;
    for (std::size_t k = 0; k < trees.leaf_width; ++k)
      sums[trees.leaf_width == 1 ? trees.output : k] += value[k];
    near.found[near.count] = static_cast<std::uint32_t>((tree - near.first_tree) << NearRows::kTree) |
                             static_cast<std::uint32_t>((near.first_row + row) << NearRows::kRow) |
                             static_cast<std::uint32_t>(leaf << NearRows::kLeaf) | levels;
    if (levels != 0) ++near.count;
  }
}

void find_near(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
               const NearBlocks& blocks, NearRows& near) {
  for (std::size_t row = 0; row < blocks.rows.count; ++row)
    find_near_of(trees, reach, first, last, blocks.rows, row, blocks.rows.x + row * blocks.values,
                 blocks.sums + row * blocks.margins, near);
}

std::size_t pick(const NearRows& near, std::uint32_t mask, std::uint32_t wanted, std::uint32_t* picked) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < near.count; ++i) {
    picked[count] = near.found[i];
    count += (near.found[i] & mask) == wanted ? 1 : 0;
  }
  return count;
}

}  // namespace

const TreeKernel kScalarTrees{1,
                              gather_block,
                              walk,
                              find_near,
                              pick,
                              nullptr,
                              nullptr,
                              find_near_deep_scalar,
                              turn_off_deep_scalar,
                              nullptr};

}  // namespace harmonia
