#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/model/ball_path.hpp"
#include "tree_link.hpp"

namespace harmonia {

/// Where the sums of leaves of all points of a ball lie, in fixed point. Margins of a point lie together, but
/// those of the row. Points that are not told are as their base.
struct BallSumsView {
  std::size_t margins = 0;
  std::size_t own_points = 0;   ///< that every moved feature has; each has a base
  std::size_t last_points = 0;  ///< of a simplex's last vertex
  const std::int64_t* centre = nullptr;
  std::size_t stride = 1;              ///< margin k of the row is centre[k × stride]
  const std::int64_t* base = nullptr;  ///< of each base, what it has more than the row
  const std::int64_t* last = nullptr;  ///< of each point of the last vertex, what it has more than the row
  const std::int64_t* own = nullptr;   ///< of each point of a column, what it has more than its base
  const std::uint32_t* columns = nullptr;  ///< the columns whose points `own` holds
  std::span<const std::size_t> told;       ///< which of these are told, ascending
};

/// Sums that are kept while trees are added.
class BallSums {
 public:
  /// Adds sums of the same ball in further trees.
  void add(const BallSumsView& more);
  /// Divides the sums of margin k by 2^shifts[k], which has to leave no remainder.
  void shift(std::span<const int> shifts);
  /// Good until the sums or the numbers change, which are 0, 1, 2 …, and made longer if there are too few.
  BallSumsView view(std::vector<std::size_t>& numbers) const;
  /// Memory that it takes.
  std::size_t bytes() const;

 private:
  // Where the points of the column at a place begin, behind the row, the bases and the last vertex.
  std::size_t own(std::size_t place) const {
    return (1 + own_points_ + last_points_ + place * own_points_) * margins_;
  }

  std::size_t margins_ = 0, own_points_ = 0, last_points_ = 0;
  std::vector<std::int64_t> sums_;
  std::vector<std::uint32_t> columns_;  // ascending
};

/// From sums of leaves to what a model answers. Not safe to call from several threads.
class BallAnswerer {
 public:
  /// Keeps a reference. `outputs`: of the model.
  BallAnswerer(const TreeAnswers& answers, std::size_t outputs) : answers_(answers), outputs_(outputs) {}

  void answer(const RowBall& ball, const BallSumsView& sums, BallAnswer& answer);

 private:
  static void add_centre(const BallSumsView& sums, const std::int64_t* more, std::size_t points,
                         std::vector<std::int64_t>& to);
  void answer_taken(std::span<double> out);

  const TreeAnswers& answers_;
  std::size_t outputs_;
  std::vector<double> room_;
  std::vector<std::int64_t> taken_, base_;  // sums of points, and of the bases of a column's points
};

}  // namespace harmonia
