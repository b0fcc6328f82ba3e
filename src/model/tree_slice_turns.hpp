#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// Levels of a tree that is not complete, at most, for points that turn off.
constexpr std::size_t kMostTurnLevels = 32;

/// Two splits of one column in a tree, the lower on the left or right of the upper.
struct SlicedKin {
  std::uint8_t upper = 0, lower = 0;  ///< as SlicedSplit::place
  bool right = false;
};

/// Splits of a tree that is not complete: one that others of its column lie below. Its steps, and those of
/// all below it, follow each other.
struct SlicedBend {
  std::uint32_t first_kin = 0, last_kin = 0;
  std::uint32_t first_step = 0, own_step = 0;
};

/// What points that turn off need of trees of one output.
struct SlicedTurns {
  const std::int64_t* leaves = nullptr;  ///< 2^bits a tree, by their numbers
  const SlicedKin* kin = nullptr;        ///< of one tree after another, those of one upper split side by side
  // Of complete trees:
  const std::uint32_t* places = nullptr;     ///< 2^depth a tree: of each split's column, among those moved
  const std::uint32_t* first_kin = nullptr;  ///< of each tree, its first; and how many there are
  // Of others:
  unsigned levels = 0;  ///< of the deepest, at most kMostTurnLevels
  /// Of every leaf and level, the place of the column of the split above the leaf, times 2, and 1 if the leaf
  /// is on the right of it.
  const std::uint32_t* above = nullptr;
  const SlicedBend* bends = nullptr;          ///< in the order of steps
  const std::uint32_t* first_bend = nullptr;  ///< of each tree, its first; and how many there are
};

/// How far the points of every input go from their row, in ranks: from that of the one below it, or its own,
/// to that of the one above it, or its own. Nowhere where a value is missing.
struct SliceReach {
  const std::uint8_t* low = nullptr;      ///< as SliceRanks::right
  const std::uint8_t* further = nullptr;  ///< from there to the highest
};

/// Where the sums of points are that turn off, as what they have more than their base.
struct SliceSums {
  std::size_t rows = 0;                      ///< that are meant
  std::int64_t* sums = nullptr;              ///< of the first row and place
  std::size_t row_sums = 0, place_sums = 0;  ///< from one to the next
  std::size_t side_sums[2] = {};             ///< of the point above its base, and below it
  unsigned char* marks = nullptr;            ///< of each place: 1, its points have sums of their own
  std::size_t row_marks = 0;                 ///< from one row to the next
};

}  // namespace harmonia
