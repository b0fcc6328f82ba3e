#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// Trees of one shape, packed for walking many rows at once.
///
/// Complete trees (depth <= kCompleteDepth) have 2^depth slots each, the split of heap position i in slot i
/// (the root is 1, the children of i are 2i and 2i + 1); where a leaf lies higher, what is below it repeats
/// it. Deeper trees
/// (`child` is not null) have a slot a node or leaf, the root first, siblings side by side.
struct PackedTrees {
  unsigned depth = 0;        ///< steps from root to leaf, at most
  std::uint32_t output = 0;  ///< that single-valued leaves add to
  std::size_t count = 0;     ///< trees
  const float* threshold = nullptr;
  const double* exact = nullptr;        ///< thresholds in double where rows are; else null
  const std::int32_t* input = nullptr;  ///< what is compared; the sign bit: a missing value goes left
  const std::int32_t* child = nullptr;  ///< slot of the left child, or ~leaf; null: complete trees
  const std::size_t* first = nullptr;   ///< of each deep tree, its first slot
  const std::int64_t* leaf = nullptr;   ///< fixed point; complete: 2^depth a tree, deep: of all trees
  std::size_t leaf_width = 1;
};

/// Rows as trees see them. count × stride; the exact values lie beside the rounded ones where rows are
/// double.
struct TreeRows {
  const float* x = nullptr;
  const double* exact = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
  bool missing = false;  ///< some value is NaN
};

/// Adds to sums (margin k of row i: sums[k × rows.count + i]) the leaves that rows reach in trees
/// first … last − 1.
using WalkTrees = void (*)(const PackedTrees& trees, std::size_t first, std::size_t last,
                           const TreeRows& rows, std::int64_t* sums);

/// Deepest trees that are packed as complete ones.
constexpr unsigned kCompleteDepth = 8;

void walk_trees_scalar(const PackedTrees&, std::size_t first, std::size_t last, const TreeRows&,
                       std::int64_t* sums);
void walk_trees_avx2(const PackedTrees&, std::size_t first, std::size_t last, const TreeRows&,
                     std::int64_t* sums);
void walk_trees_avx512(const PackedTrees&, std::size_t first, std::size_t last, const TreeRows&,
                       std::int64_t* sums);

}  // namespace harmonia
