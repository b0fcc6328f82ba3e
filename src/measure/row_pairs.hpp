#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Rows of one side, with what is carried.
struct PairSide {
  Matrix<double> values;
  std::vector<std::size_t> numbers;
  std::vector<std::string> ids;  ///< one a row, or empty
};

/// Row i of A with row i of B, a block at a time; a side of one row goes with every row of the other.
class RowPairs {
 public:
  /// Throws Error(input) if the sides are of different widths, or name their columns otherwise.
  RowPairs(RowSource& a, RowSource& b);

  /// Takes up to `limit` further pairs; false when there are none left. Throws Error(input) if one side ends
  /// before the other.
  bool read(std::size_t limit);
  void rewind();
  std::size_t size() const { return size_; }
  const PairSide& a() const { return a_; }
  const PairSide& b() const { return b_; }
  /// The places in a() and b() of pair i.
  std::size_t place_a(std::size_t i) const { return one_a_ ? 0 : i; }
  std::size_t place_b(std::size_t i) const { return one_b_ ? 0 : i; }

 private:
  RowSource& source_a_;
  RowSource& source_b_;
  bool one_a_ = false, one_b_ = false, begun_ = false;
  PairSide a_, b_;
  std::size_t size_ = 0;
};

}  // namespace harmonia
