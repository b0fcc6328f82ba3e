#include "tree_ball_cost.hpp"

#include <algorithm>

namespace harmonia {
namespace {

// Nanoseconds, of an EPYC with AVX-512; bench/tree_choice_bench compares both ways.
// Together: a row, a level of a complete tree that it passes, and a point that may turn off there, around the
// row or around a base, which may go apart from its row the more the fewer features there are.
constexpr double kRow = 300, kLevel = 0.75, kTurned = 3.3;
constexpr double kTurnedApart = 9, kFewFeatures = 150, kMostApart = 16;
// Another tree, a base that goes through it, and a point that may turn off somewhere.
constexpr double kOther = 20, kOtherBase = 35, kOtherTurned = 41, kOtherTurnedApart = 82;
// One by one: a row, and a point besides the model's part.
constexpr double kRowAlone = 900, kPointAlone = 25;
constexpr double kSooner = 1.15;  // all this is known no better

}  // namespace

TreeBallCost::TreeBallCost(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block,
                           double point)
    : rows_(rows), point_(point), thresholds_(thresholds_by_input(trees, rows.inputs(), block)) {
  for (const TreePack& pack : trees.packs) {
    const auto count = static_cast<double>(pack.view.count);
    if (pack.view.child == nullptr) {
      levels_ += count * pack.view.depth;
    } else {
      others_ += count;
    }
  }
}

// How often two thresholds of an input are within a point's reach of each other.
double TreeBallCost::near_share(const Ball& ball) const {
  double near = 0, all = 0;
  for (std::size_t input = 0; input < thresholds_.size(); ++input) {
    const std::vector<double>& sorted = thresholds_[input];
    const double scale = ball.plain() ? 1 : ball.schema()[rows_.column(input)].scale;
    const bool fixed = !ball.plain() && ball.schema()[rows_.column(input)].fixed;
    const double reach = fixed ? 0 : ball.options().radius * scale;
    std::size_t low = 0, high = 0, pairs = 0;
    for (const double threshold : sorted) {
      while (threshold - sorted[low] > reach) ++low;
      while (high < sorted.size() && sorted[high] - threshold <= reach) ++high;
      pairs += high - low;
    }
    const auto count = static_cast<double>(sorted.size());
    if (count > 0) near += static_cast<double>(pairs) / count;
    all += count;
  }
  return all > 0 ? near / all : 0;
}

bool TreeBallCost::points_are_sooner(const Ball& ball, std::size_t features) const {
  if (!ball.plain() && ball.scales().empty()) return false;
  const BallShape shape = ball.shape(features);
  const auto moved = static_cast<double>(features), points = static_cast<double>(shape.points());
  const BallKind kind = ball.options().kind;
  const bool apart = kind != BallKind::cross && kind != BallKind::one_hot;
  const double near = near_share(ball);
  const double turned = apart ? kTurnedApart + std::min(kMostApart, kFewFeatures / moved) : kTurned;
  const double other =
      kOther + (apart ? points * kOtherBase : 0) + near * points * (apart ? kOtherTurnedApart : kOtherTurned);
  const double together = kRow + levels_ * (kLevel + near * points * turned) + others_ * other;
  const double alone = kRowAlone + (1 + static_cast<double>(shape.units) * points) * (kPointAlone + point_);
  return alone * kSooner < together;
}

}  // namespace harmonia
