#pragma once

#include <functional>
#include <span>

#include "harmonia/ball/ball.hpp"
#include "tree_sums.hpp"

namespace harmonia {

/// Walks trees with all points of balls around many rows. Not safe to call from several threads.
class TreeBallWalker {
 public:
  virtual ~TreeBallWalker() = default;
  /// Takes the sums of one of the rows, which are good while it is called.
  using Take = std::function<void(std::size_t row, const BallSumsView& sums)>;
  /// Gives the sums of rows, in any order: of all, unless it was made without another walker for those that
  /// are left.
  virtual void walk(std::span<const RowBall* const> rows, const Take& take) = 0;
  /// As BallAsker::least_rows().
  virtual std::size_t least_rows() const { return 1; }
};

}  // namespace harmonia
