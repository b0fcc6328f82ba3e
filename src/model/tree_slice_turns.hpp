#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// Two splits of one column in a complete tree, the lower on the left or right of the upper.
struct SlicedKin {
  std::uint8_t upper = 0, lower = 0;  ///< as SlicedSplit::place
  bool right = false;
};

/// What points that turn off need of complete trees of one output.
struct SlicedTurns {
  const std::int64_t* leaves = nullptr;   ///< 2^depth a tree
  const std::uint32_t* places = nullptr;  ///< 2^depth a tree: of each split's column, among those moved
  const SlicedKin* kin = nullptr;  ///< of one tree after another, those of one upper split side by side
  const std::uint32_t* first_kin = nullptr;  ///< of each tree, its first; and how many there are
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
