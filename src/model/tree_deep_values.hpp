#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "tree_alone.hpp"
#include "tree_rows.hpp"
#include "tree_turns.hpp"

namespace harmonia {

/// What splits compare of rows and of the points around them, whatever inputs make of columns and whatever
/// steps are, in blocks of a kernel's size.
///
/// Bases are numbered: 0 is the row itself, then come those of own points if they are shifted, then last
/// vertices. A point's values are those that its inputs would have if each were its own.
class DeepValues {
 public:
  /// Keeps references. `plain`: inputs are columns of their own, as they are but for missing values.
  DeepValues(const TreeRowsMaker& rows, const TurnInputs& inputs, bool plain);

  /// Makes the values of these rows. `steps`: the same around every row; null: each row has its own.
  void make(std::span<const RowBall* const> rows, const TreeBallPoints& points, const TurnSteps* steps);

  std::size_t rows() const { return balls_.size(); }
  /// Numbers of a block of one base.
  std::size_t size() const { return size_; }
  std::size_t blocks() const { return alone_.size(); }
  const TreeBallPoints& points() const { return *points_; }
  /// Number of the base of a point, and of a last vertex.
  std::size_t base_of(std::size_t point) const { return points_->shifted ? 1 + point : 0; }
  std::size_t base_of_last(std::size_t point) const {
    return 1 + (points_->shifted ? points_->own.size() : 0) + point;
  }

  const float* values() const { return values_.data(); }
  /// Where the values of a row's base begin, with the lane, and those of its point.
  std::int32_t base(std::size_t row, std::size_t base) const { return begin(row, base); }
  std::int32_t point(std::size_t row, std::size_t point) const { return begin(row, bases_ + point); }
  /// Where it begins how far a base's points are from it.
  std::int32_t reach(std::size_t row, std::size_t base) const {
    return begin(row, bases_ + points_->own.size() + (base == 0 ? 0 : base - 1));
  }
  /// Points that are above their base, and those that are below it; both have all: it is not known.
  const std::vector<std::uint32_t>& side(std::size_t of) const { return side_[of]; }

  bool missing() const { return missing_; }
  /// Some of the block's rows or points are too far away, or missing where others are not.
  bool alone(std::size_t block) const { return alone_[block]; }
  /// What splits compare, in the model's own numbers.
  double exact_base(std::size_t row, std::size_t base, std::size_t input) const;
  double exact_point(std::size_t row, std::size_t point, std::size_t input) const;

 private:
  std::int32_t begin(std::size_t row, std::size_t number) const {
    const std::size_t block = inputs_.block;
    return static_cast<std::int32_t>((row / block * numbers_ + number) * size_ + row % block);
  }
  std::span<const RowBall* const> rows_of(std::size_t block) const;
  RowBall::Place place_of_base(std::size_t base) const;
  bool make_plain(std::size_t block);
  void make_each(std::size_t block);
  template <class At>
  void look(std::size_t block, const At& at);
  void put(std::size_t block, std::size_t number, const float* like);
  void find_reach(std::size_t block);

  const TreeRowsMaker& maker_;
  const TurnInputs& inputs_;
  bool plain_, nan_is_zero_ = false;
  std::size_t size_;                  // of a block
  std::vector<std::size_t> columns_;  // that are moved, by their places
  std::vector<const RowBall*> balls_;
  const TreeBallPoints* points_ = nullptr;
  const TurnSteps* steps_ = nullptr;
  std::size_t bases_ = 0, numbers_ = 0;
  std::array<std::vector<std::uint32_t>, 2> side_;
  bool missing_ = false;
  std::vector<bool> alone_;
  std::vector<float> values_, seen_;
  std::vector<const double*> x_;
  // Of each column that is moved, and row of a block: those that are put, and the base's.
  std::vector<TreeRowsMaker::Coordinate> coordinates_, base_coordinates_;
  std::vector<bool> same_;  // of each column: they stand for the same categories
};

}  // namespace harmonia
