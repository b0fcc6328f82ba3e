#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_walk.hpp"

namespace harmonia {

/// Sums of leaves in fixed point, of rows and of the points around them: a point's is told by what it is more
/// than that of its base, and a base's by what it is more than that of the row. Nearly all are zero.
class TreeBallSums {
 public:
  /// For this many rows, which a kernel walks `block` at a time, and columns that are moved.
  TreeBallSums(std::size_t rows, std::size_t block, std::size_t columns, std::size_t margins)
      : rows_(rows),
        block_(block),
        columns_((columns + 7) / 8 * 8),
        margins_(margins),
        marks_(rows * columns_) {
    centre_.resize((rows + block - 1) / block * block * margins);
  }

  /// Begins anew, with as many points of a column and of a simplex's last vertex. What was marked has been
  /// taken.
  void begin(std::size_t points, std::size_t last) {
    if (points != points_) sums_.clear();
    points_ = points;
    last_ = last;
    sums_.resize(base(rows_, 0), 0);
    std::fill(sums_.begin() + static_cast<std::ptrdiff_t>(this->last(0, 0)), sums_.end(), 0);
    std::ranges::fill(centre_, 0);
  }

  std::size_t margins() const { return margins_; }
  std::size_t points() const { return points_; }
  /// A multiple of eight.
  std::size_t columns() const { return columns_; }

  /// Margin k of a row is at k × stride() from here.
  std::int64_t* centre(std::size_t row) {
    return centre_.data() + row / block_ * block_ * margins_ + row % block_;
  }
  std::size_t stride() const { return block_; }

  /// Where the margins are of a point that moves a column,
  std::size_t own(std::size_t row, std::size_t column, std::size_t point) const {
    return ((row * columns_ + column) * points_ + point) * margins_;
  }
  /// of one of the last vertex,
  std::size_t last(std::size_t row, std::size_t point) const {
    return own(rows_, 0, 0) + (row * last_ + point) * margins_;
  }
  /// and of the base of the former.
  std::size_t base(std::size_t row, std::size_t point) const {
    return last(rows_, 0) + (row * points_ + point) * margins_;
  }
  std::int64_t* at(std::size_t place) { return sums_.data() + place; }

  /// Of each column of a row, 1: its points have sums of their own; else 0.
  unsigned char* marks(std::size_t row) { return marks_.data() + row * columns_; }
  /// Takes a row's marks off, and lists the columns, ascending.
  void take_marked(std::size_t row, std::vector<std::size_t>& marked);
  /// Sets the sums of a row's points of these columns to zero again.
  void clear(std::size_t row, const std::vector<std::size_t>& marked) {
    const std::size_t each = points_ * margins_;
    if (4 * marked.size() >= columns_) {
      std::fill_n(at(own(row, 0, 0)), columns_ * each, std::int64_t{0});
    } else {
      for (const std::size_t column : marked)
        for (std::int64_t *sum = at(own(row, column, 0)), *const end = sum + each; sum != end; ++sum)
          *sum = 0;
    }
  }

  /// Adds what a leaf is more than another, both counted from the pack's first.
  void add(const PackedTrees& trees, std::size_t leaf, std::size_t than, std::size_t place) {
    const std::int64_t* to = trees.leaf + leaf * trees.leaf_width;
    const std::int64_t* from = trees.leaf + than * trees.leaf_width;
    if (trees.leaf_width == 1) {
      sums_[place + trees.output] += *to - *from;
    } else {
      for (std::size_t k = 0; k < trees.leaf_width; ++k) sums_[place + k] += to[k] - from[k];
    }
  }

 private:
  std::size_t rows_, block_, columns_, margins_, points_ = 0, last_ = 0;
  std::vector<std::int64_t> centre_, sums_;
  std::vector<unsigned char> marks_;
};

}  // namespace harmonia
