#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// Deepest trees that are packed as complete ones.
constexpr unsigned kCompleteDepth = 8;

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
  const double* exact = nullptr;               ///< thresholds in double where rows are double; else null
  const std::int32_t* input = nullptr;         ///< what is compared, times the rows of a block
  const std::int32_t* missing_left = nullptr;  ///< −1: a missing value goes left; 0: right
  const std::int32_t* child = nullptr;         ///< slot of the left child, or ~leaf; null: complete trees
  const std::size_t* first = nullptr;          ///< of each deep tree, its first slot
  const std::int64_t* leaf = nullptr;          ///< fixed point; complete: 2^depth a tree, deep: of all trees
  std::size_t leaf_width = 1;
};

/// Rows as trees see them, in blocks of a kernel's size: input i of row r of a block is x[i × block + r]. The
/// last block is filled up with its last row.
struct TreeRows {
  const float* x = nullptr;
  std::size_t inputs = 0;
  std::size_t count = 0;
  bool missing = false;          ///< some value is NaN
  const void* source = nullptr;  ///< of the exact values, where rows are double
  double (*exact)(const void* source, std::size_t row, std::size_t input) = nullptr;
};

/// Complete trees in which a row passes a split whose threshold is within reach: one number for each row and
/// tree, of the levels of these splits (a bit each, from bit 0), the leaf that the row comes to, the row and
/// the tree.
struct NearRows {
  static constexpr unsigned kLeaf = 8, kRow = 16, kTree = 22;  ///< bits below
  static constexpr std::size_t kMostRows = 64, kMostTrees = 1024;
  std::uint32_t* found = nullptr;  ///< room for as many as trees × rows, and a block more
  std::size_t count = 0;
  std::uint32_t first_row = 0;  ///< number of the block's first row
};

/// Points of one-number values, each of the input that one split on its row's way compares, for complete
/// trees from `first` on.
struct TurnLevel {
  const std::uint32_t* found = nullptr;  ///< of each point: where its row is near, as NearRows has it
  std::size_t count = 0;                 ///< there is room for a block more
  unsigned level = 0;                    ///< of the splits
  std::size_t first = 0;
  const float* splits = nullptr;        ///< four of each slot: threshold, the bits of `input`, two bounds
  const float* values = nullptr;        ///< what splits compare of the points' bases
  const std::int32_t* begin = nullptr;  ///< of each point: where those of its base begin, with the lane
  const float* own = nullptr;           ///< of each point: the value of its own input
  bool missing = false;                 ///< some value is NaN
  /// Out: the leaf that the point comes to, counted from the tree's first; −1: it does not turn off here. It
  /// does if it is on the other side of the threshold than its row, and within the bounds: below the first
  /// where the row goes left, not below the second where it goes right.
  std::int32_t* leaf = nullptr;
};

/// Points that mostly go the same way: along few rays from a row.
constexpr std::size_t kRayLanes = 64;

/// kRayLanes points, in the model's type: input i of lane l lies at i × kRayLanes + l.
struct RayPoints {
  const float* narrow = nullptr;  ///< where trees have no exact thresholds,
  const double* exact = nullptr;  ///< and where they have
  std::uint64_t lanes = 0;        ///< a bit a lane that is meant
  bool missing = false;           ///< some value is NaN
};

/// One way of walking trees.
struct TreeKernel {
  std::size_t block;  ///< rows that lie together
  /// Puts `rows` rows (1 … block) of row-major x, of which input i is column columns[i], into a block; true
  /// if a value is NaN.
  bool (*gather_block)(const float* x, std::size_t stride, std::size_t rows, const std::uint32_t* columns,
                       std::size_t inputs, float* block);
  /// Adds to sums (margin k of row i: sums[k × rows.count + i]) the leaves that rows reach in trees
  /// first … last − 1.
  void (*walk)(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
               std::int64_t* sums);
  /// Walks one block of rows through complete trees first … last − 1, NearRows::kMostTrees at most. Adds to
  /// sums (margin k of lane i: sums[k × block + i]), and lists the trees where |x − threshold| <= reach,
  /// which has a slot a split: the tree counted from `first`, the leaf from the tree's first. A level may be
  /// listed for no reason.
  void (*find_near)(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                    const TreeRows& rows, std::int64_t* sums, NearRows& near);
  /// Puts those that have a near split on this level side by side, with as much room; says how many they are.
  std::size_t (*pick_level)(const NearRows& near, unsigned level, std::uint32_t* picked);
  /// Takes points that turn off to their leaves. Null: it has no better way than one by one.
  void (*turn_off)(const PackedTrees& trees, const TurnLevel& points);
  /// Walks points that mostly go the same way through trees first … last − 1, all lanes together. A leaf is
  /// added where a run of lanes that reach it begins and subtracted behind it: changes[margin × (kRayLanes +
  /// 1) + lane], of which the sum up to a lane is that of its leaves. Null: this kernel has none.
  void (*walk_rays)(const PackedTrees& trees, std::size_t first, std::size_t last, const RayPoints& points,
                    std::uint64_t* changes);
};

extern const TreeKernel kScalarTrees, kAvx2Trees, kAvx512Trees;

}  // namespace harmonia
