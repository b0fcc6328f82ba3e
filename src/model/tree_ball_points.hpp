#pragma once

#include <vector>

#include "harmonia/ball/ball.hpp"
#include "tree_rows.hpp"

namespace harmonia {

/// The points that every feature has, and those of a simplex's last vertex.
struct TreeBallPoints {
  std::vector<RowBall::Place> own, last;
  bool shifted = false;  ///< the base of own points is not the row itself
};
TreeBallPoints tree_ball_points(const RowBall& ball);

/// Whether steps are the same around every row that moves as many features.
bool fixed_steps(const Ball& ball);

/// Of every input, how far points go, in the coordinates' units: all steps of a place are alike but for this.
std::vector<double> step_scales(const Ball& ball, const TreeRowsMaker& rows);

}  // namespace harmonia
