#pragma once

// Included by a source that is compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

#include "tree_slice_turns.hpp"

namespace harmonia {

/// Rows that go through sliced trees together, and those that are ranked at a time.
constexpr std::size_t kSliceRows = 256, kRankRows = 64;
/// Levels of a search at most, and so 255 thresholds: a rank is a byte.
constexpr unsigned kRankSteps = 8;
/// Bytes of a leaf in fixed point.
constexpr std::size_t kLeafBytes = 8;

/// Where level d of a search begins in its table. A level has 2^d thresholds, and room for a vector.
constexpr std::size_t rank_level(unsigned d) { return d <= 4 ? 16 * d : 48 + (std::size_t{1} << d); }

/// The thresholds of an input, or some of them, as a search: a value's rank is how many it is not below.
struct SlicedInput {
  std::uint32_t input = 0;  ///< of those in use
  std::uint32_t steps = 0;  ///< levels; what is left of the last is +infinity
  std::size_t table = 0;    ///< where it begins among the tables
};

/// Ranks of kSliceRows rows, input after input. Missing values have the highest, or where `left` is meant the
/// lowest; both are the same where nothing is missing.
struct SliceRanks {
  const std::uint8_t* right = nullptr;
  const std::uint8_t* left = nullptr;
};

/// A split: right if a rank is not below its own.
struct SlicedSplit {
  std::uint32_t ranks = 0;  ///< where those of its input begin
  /// Its number times 2^bits of a leaf's number among kSortedTrees, and then, of a complete tree, the heap's,
  /// where the root is 1; else its own.
  std::uint16_t place = 0;
  std::uint8_t rank = 0;
  bool missing_left = false;  ///< by SliceRanks::left
};

/// A step of finding leaves from the ways that rows go at all splits of a tree: a leaf's number is put on a
/// pile, or the two on top give way to the one that a split chooses.
struct SlicedStep {
  bool leaf = false;         ///< the former
  bool left_on_top = false;  ///< of the two
  std::uint8_t number = 0;   ///< of the leaf, or the split
  std::uint8_t level = 0;    ///< splits above it
};

/// Numbers on a pile at most, if of two the one that takes more is made first.
constexpr std::size_t kMostPiled = 10;

/// Trees whose splits are looked at together, input after input, so that ranks stay at hand.
constexpr std::size_t kSortedTrees = 8;

/// Trees of 2 … 256 leaves.
struct SlicedTrees {
  unsigned depth = 0;  ///< of complete ones, 1 … 8: what is below a leaf has no splits, and repeats it
  unsigned bits = 1;   ///< of a leaf's number
  std::size_t count = 0;
  const SlicedSplit* splits = nullptr;
  const std::uint32_t* first = nullptr;  ///< of every kSortedTrees, the first split; and how many there are
  const SlicedStep* steps = nullptr;     ///< of trees that are not complete (depth is 0)
  const std::uint32_t* first_step = nullptr;  ///< of each tree; and how many there are
  /// Of each tree, the lowest bytes of all its leaves, then the next …; 64 leaves at least, or 128, or 256.
  const std::uint8_t* leaves = nullptr;
};

/// One way of walking sliced trees.
struct SliceKernel {
  /// Ranks kRankRows rows, which lie in blocks of 16 of `width` inputs each; those of input i come to
  /// ranks + i × kSliceRows, and likewise to `left`, unless it is null, with a missing value's as the lowest.
  /// `ties`, unless it is null: of each input, a bit a row that met a threshold as large as it is itself.
  void (*rank)(const SlicedInput* inputs, std::size_t count, const float* tables, const float* x,
               std::size_t width, std::uint8_t* ranks, std::uint8_t* left, std::uint64_t* ties);
  /// Adds the leaves of kSliceRows rows to their sums.
  void (*walk)(const SlicedTrees& trees, const SliceRanks& ranks, std::int64_t* sums);
  /// The same, and adds to the sums of points what they have more where they turn off.
  void (*walk_turns)(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                     const SliceReach& reach, const SliceSums& to, std::int64_t* sums);
};

extern const SliceKernel kAvx512Slices;
/// Sources of their own: that kernel's last part, of complete trees and of others.
void walk_turns_avx512(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                       const SliceReach& reach, const SliceSums& to, std::int64_t* sums);
void walk_other_turns_avx512(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                             const SliceReach& reach, const SliceSums& to, std::int64_t* sums);

}  // namespace harmonia
