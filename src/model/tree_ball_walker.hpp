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
  /// Gives the sums of every row, in any order.
  virtual void walk(std::span<const RowBall* const> rows, const Take& take) = 0;
};

}  // namespace harmonia
