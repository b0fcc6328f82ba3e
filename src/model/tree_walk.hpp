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

/// Splits of complete trees whose threshold is within reach of a row that comes to them, level by level:
/// slot × block + the row's place in the block.
struct NearSplits {
  std::uint32_t* found[kCompleteDepth];  ///< room for as many as trees × block rows, and a block more
  std::size_t count[kCompleteDepth];
};

/// A block of rows, and the points around them that differ from a base in one input, for near splits. Inputs
/// of a row, a base or a last vertex lie at input × block + lane.
struct BallRows {
  const double* exact = nullptr;  ///< the rows' coordinates
  const float* values = nullptr;  ///< the same in the model's type; then of the bases, then of last vertices
  std::size_t inputs = 0;
  std::size_t lanes = 0;               ///< rows that are meant; the rest fills up the block
  std::size_t points = 0;              ///< that every input has
  std::size_t last = 0;                ///< points of the last vertex
  bool shifted = false;                ///< every point has a base of its own; else it is the row
  bool missing = false;                ///< some value is NaN
  std::size_t ways = 0;                ///< points on either side of the row, at most
  const std::int32_t* up = nullptr;    ///< numbers of the points above the row, then −1
  const std::int32_t* down = nullptr;  ///< of those below it
  bool even = false;  ///< steps are the same for every input, and an input's group is its number
  const double* base_step = nullptr;    ///< points × inputs: from the row to the base,
  const double* own_step = nullptr;     ///< and from there to the point
  const std::int32_t* group = nullptr;  ///< of each input
  std::size_t groups = 0;
  std::size_t margins = 0;
};

/// Points on their way through complete trees. There is room for whole vectors. Points of the group g of lane
/// l have the sums from ((l × groups + g) × points + point) × margins on, and after those of a block there
/// are the last vertices'.
struct Branches {
  std::size_t count = 0;
  std::int32_t* tree = nullptr;      ///< first slot of the tree
  std::int32_t* position = nullptr;  ///< heap position of the child to begin at; then the pack's leaf
  std::int32_t* row = nullptr;       ///< where its inputs begin in BallRows::values, and the lane
  std::int32_t* leaf = nullptr;      ///< the pack's leaf that the row is at
  std::int32_t* mark = nullptr;      ///< lane × groups + group; block × groups for a last vertex
  std::int32_t* place = nullptr;     ///< of its sum
};

/// Near splits of one level of the trees from `first` on, and what is known of trees and lanes so far: tree
/// and lane t − first, l at (t − first) × block + l.
struct NearLevel {
  const std::uint32_t* found = nullptr;
  std::size_t count = 0;
  unsigned level = 0;
  std::size_t first = 0;
  const std::int32_t* leaves = nullptr;  ///< from find_near()
  /// Two of each slot: a point above the row whose own input is the split's has not turned off before if it
  /// is below the first, one below the row if it is not below the second.
  const float* bounds = nullptr;
  std::uint32_t* apart = nullptr;  ///< a bit a point: its base goes another way than the row
  std::uint32_t* gone = nullptr;   ///< a bit a point of the last vertex: it turned off before
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
  /// Walks one block of rows through complete trees first … last − 1 of one-number thresholds. Adds to sums
  /// (margin k of lane i: sums[k × block + i]), puts the leaf that lane i reaches in a tree, counted from the
  /// tree's first, to leaves[(tree − first) × block + i], and lists splits with |x − threshold| <= reach,
  /// which has a slot a split. Null: this kernel has none, nor the next ones.
  void (*find_near)(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                    const TreeRows& rows, std::int64_t* sums, std::int32_t* leaves, NearSplits& near);
  /// Marks in NearLevel::apart the bases that turn off at near splits.
  void (*find_apart)(const PackedTrees& trees, const BallRows& rows, const NearLevel& near);
  /// Takes the points that turn off at near splits, but those whose base did, to their leaves; what is listed
  /// with the row's own leaf is none. Lists those of last vertices, which are still at the split's child.
  void (*turn_off)(const PackedTrees& trees, const BallRows& rows, const NearLevel& near, Branches& arrived,
                   Branches& last);
  /// Takes points of last vertices from a level to their leaves.
  void (*descend)(const PackedTrees& trees, unsigned level, const float* values, bool missing,
                  const Branches& branches);
};

extern const TreeKernel kScalarTrees, kAvx2Trees, kAvx512Trees;

}  // namespace harmonia
