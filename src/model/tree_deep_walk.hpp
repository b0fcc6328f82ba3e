#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// A slot of a deep tree (see PackedTrees), a split or a leaf. What comes to a leaf stays there: nothing is
/// less than its threshold, and its right child is itself.
struct DeepSlot {
  float threshold;       ///< of a leaf NaN
  std::int32_t input;    ///< what is compared, times the rows of a block
  std::int32_t child;    ///< slot of the left child; of a leaf, the one before its own
  std::int32_t missing;  ///< −1: a missing value goes left; 0: right; of a leaf, its number
};

/// How points come to a slot from the split above it, if they go another way than their row there.
struct DeepTurn {
  /// A point whose own input that split compares comes here if its value is not below the first and below the
  /// second: else it turns off to somewhere else, there or higher up.
  float bound[2];
  std::int32_t input;  ///< that the split above compares, times the rows of a block
  std::int32_t place;  ///< of its column among those that are moved; ~place: bounds do not say all
};

/// Trees of a pack that are linked, for rows and the points around them.
struct DeepTrees {
  const DeepSlot* slots = nullptr;
  const DeepTurn* turns = nullptr;
  const double* exact = nullptr;         ///< thresholds in double where rows are double; else null
  const double* exact_bounds = nullptr;  ///< the same of DeepTurn, two a slot
  const std::size_t* first = nullptr;    ///< of each tree, its first slot
  const std::int32_t* column = nullptr;  ///< of each input, where some share a column; null: none do
  const std::int64_t* leaf = nullptr;
  std::size_t leaf_width = 1;
  std::uint32_t output = 0;  ///< that single-valued leaves add to
};

/// Where rows pass a threshold that is within reach: the child that they do not go to, and who it is.
struct DeepNear {
  /// Bits of `who` below the row and the tree, which is counted from the first that is walked; bit 0: the row
  /// goes right.
  static constexpr unsigned kRow = 1, kTree = 7;
  static constexpr std::size_t kMostRows = 64;
  std::uint32_t* slot = nullptr;  ///< room for as many as trees × rows × depth, and a block more
  std::uint32_t* who = nullptr;   ///< the same
  std::size_t count = 0;
};

/// One block of rows.
struct DeepRows {
  const float* x = nullptr;  ///< as TreeRows has them
  std::size_t count = 0;
  std::uint32_t first = 0;       ///< number of the first
  bool missing = false;          ///< some value is NaN
  const float* reach = nullptr;  ///< as x: how near a threshold is listed
  const void* source = nullptr;  ///< of the exact values, where rows are double
  double (*exact)(const void* source, std::size_t row, std::size_t input) = nullptr;
  std::int64_t* sums = nullptr;  ///< to add leaves to, margin k of lane i at k × block + i; null: nowhere
  /// Out: the leaf of each row and tree, at tree × kMostRows + the row's number.
  std::int32_t* leaf = nullptr;
};

/// Points of rows that pass near to splits, one of each, and those that turn off there.
struct DeepPoints {
  const DeepNear* near = nullptr;
  const float* values = nullptr;        ///< what splits compare, of bases and of points
  const std::int32_t* begin = nullptr;  ///< of each row: where those of its base begin, with the lane
  /// The same of its points, two a row: if it goes left, and if it goes right; those of the base: it has
  /// none.
  const std::int32_t* own = nullptr;
  bool missing = false;
  const void* source = nullptr;  ///< of the exact values of points and of their bases, where rows are double
  double (*exact)(const void* source, std::uint32_t who, bool own, std::size_t input) = nullptr;
  /// Out: those that turn off, with as much room, and the leaves that they come to.
  std::uint32_t* slot = nullptr;
  std::uint32_t* who = nullptr;
  std::int32_t* leaf = nullptr;
  std::size_t count = 0;
};

/// See TreeKernel: one row, and one point after another.
void find_near_deep_scalar(const DeepTrees& trees, std::size_t first, std::size_t last, const DeepRows& rows,
                           DeepNear& near);
void turn_off_deep_scalar(const DeepTrees& trees, DeepPoints& points);

}  // namespace harmonia
