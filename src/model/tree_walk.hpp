#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

#include "tree_deep_walk.hpp"

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
  std::uint32_t* found = nullptr;  ///< room beyond `count` for trees × rows, and a block
  std::size_t count = 0;
  std::uint32_t first_row = 0;  ///< number of the first block's first row
  std::size_t first_tree = 0;   ///< from which trees are counted
};

/// Blocks of rows that go through trees together.
struct NearBlocks {
  TreeRows rows;
  std::size_t values = 0;        ///< from where a block begins in `rows` to where the next does
  std::int64_t* sums = nullptr;  ///< margin k of lane i of block b: at (b × margins + k) × block + i
  std::size_t margins = 1;
};

/// One point of each of some rows: that of its own side, where the row goes left or where it goes right at
/// its split of one level of complete trees. The point's own input is what that split compares. Trees are
/// counted from a first one.
struct TurnedPoints {
  const std::uint32_t* found =
      nullptr;  ///< where rows are near, as NearRows has it; there is room for a block
  std::size_t count = 0;
  unsigned below = 1;  ///< levels from the split to the leaves
  /// Four numbers a slot: threshold, the bits of `input`, and two bounds: a point turns off here if it is on
  /// the other side of the threshold than its row, and below the first bound where the row goes left, not
  /// below the second where it goes right.
  const float* splits = nullptr;
  const std::int32_t* missing_left = nullptr;
  const std::int64_t* leaves = nullptr;
  const double* x = nullptr;  ///< the rows, one after another
  std::int32_t row_step = 0;  ///< from one to the next
  /// Two numbers an input: its column in x, and that column's place; null: the number of the input is both.
  const std::int32_t* inputs = nullptr;
  const double* shifts = nullptr;   ///< of each point and input, the way from a row to its base; null: none
  const double* steps = nullptr;    ///< and from there to the point
  std::int32_t step_begin[2] = {};  ///< where those of the point of either side begin
  bool alike = false;               ///< they are the same of all inputs
  const float* values = nullptr;    ///< what splits compare of the bases; see TurnRows
  std::int32_t base_begin[2] = {};  ///< where those of the first row's bases begin
  std::int32_t block_values = 0;    ///< that a block has
  bool missing = false;             ///< some value is NaN
  std::int64_t* sums = nullptr;     ///< of the points of the first row and place
  std::int32_t sum_begin[2] = {};   ///< of the point of either side
  std::int32_t place_sums = 0;      ///< from one place to the next
  unsigned char* marks = nullptr;   ///< of each place: 1, its points have sums of their own
  std::int32_t row_places = 0;      ///< that a row has
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
  /// Walks rows through complete trees first … last − 1, NearRows::kMostTrees at most from near.first_tree
  /// on, adds to their sums, and lists the trees where |x − threshold| <= reach, which has a slot a split:
  /// the leaf counted from the tree's first. A level may be listed for no reason.
  void (*find_near)(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                    const NearBlocks& blocks, NearRows& near);
  /// Puts those side by side, with as much room, whose bits at `mask` are as wanted; says how many they are.
  std::size_t (*pick)(const NearRows& near, std::uint32_t mask, std::uint32_t wanted, std::uint32_t* picked);
  /// Takes points that turn off to their leaves, and adds what these are more than the rows'. Where
  /// thresholds are double, those that meet a number as large as its float are left out and listed, as many
  /// as it says (room for all, and a block). Null: it has no better way than one by one.
  std::size_t (*turn_off)(const PackedTrees& trees, const TurnedPoints& points, std::uint32_t* tied);
  /// Lists the rows whose base, that of the left side, goes another way at their split, or might in double;
  /// says how many they are. Null as well.
  std::size_t (*find_apart)(const PackedTrees& trees, const TurnedPoints& points, std::uint32_t* found);
  /// As find_near(), for deep trees first … last − 1: one block of rows, whose splits within reach are listed
  /// in the order of their way.
  void (*find_near_deep)(const DeepTrees& trees, std::size_t first, std::size_t last, const DeepRows& rows,
                         DeepNear& near);
  /// Finds the points that turn off, and takes them to their leaves.
  void (*turn_off_deep)(const DeepTrees& trees, DeepPoints& points);
  /// Walks points that mostly go the same way through trees first … last − 1, all lanes together. A leaf is
  /// added where a run of lanes that reach it begins and subtracted behind it: changes[margin × (kRayLanes +
  /// 1) + lane], of which the sum up to a lane is that of its leaves. Null: this kernel has none.
  void (*walk_rays)(const PackedTrees& trees, std::size_t first, std::size_t last, const RayPoints& points,
                    std::uint64_t* changes);
};

extern const TreeKernel kScalarTrees, kAvx2Trees, kAvx512Trees;

}  // namespace harmonia
