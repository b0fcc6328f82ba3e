#include "tree_ball_points.hpp"

namespace harmonia {

TreeBallPoints tree_ball_points(const RowBall& ball) {
  const std::size_t points = ball.shape().points();
  TreeBallPoints found;
  const std::size_t signs = ball.ball().options().kind == BallKind::one_hot ? 2 : 1;
  for (std::size_t sign = 0; sign < signs; ++sign)
    for (std::size_t p = 0; p < points; ++p) found.own.push_back(ball.place(sign, p));
  if (ball.shape().units > signs * ball.moved())
    for (std::size_t p = 0; p < points; ++p) found.last.push_back(ball.place(ball.moved(), p));
  found.shifted = found.own.front().base != 0;
  return found;
}

bool fixed_steps(const Ball& ball) { return ball.plain() || !ball.scales().empty(); }

std::vector<double> step_scales(const Ball& ball, const TreeRowsMaker& rows) {
  std::vector<double> scales(rows.inputs(), 1.0);
  if (ball.plain()) return scales;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const Feature& feature = ball.schema()[rows.column(i)];
    scales[i] = feature.fixed ? 0 : feature.scale;
  }
  return scales;
}

}  // namespace harmonia
