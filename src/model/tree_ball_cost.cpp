#include "tree_ball_cost.hpp"

#include <algorithm>
#include <cstdint>

#include "tree_slice_walk.hpp"

namespace harmonia {
namespace {

// Nanoseconds, of an EPYC with AVX-512; bench/tree_choice_bench compares both ways.
// By a walk: a row, an input of it, a level of a complete tree that it passes, and a point that may turn off
// there, around the row or around a base, which may go apart from its row the more the fewer features there
// are.
constexpr double kRow = 300, kInput = 1.4, kLevel = 0.5, kTurned = 3.3;
constexpr double kTurnedApart = 9, kFewFeatures = 150, kMostApart = 16;
// Another tree, a base that goes through it, and a point that may turn off somewhere.
constexpr double kOther = 20, kOtherBase = 35, kOtherTurned = 41, kOtherTurnedApart = 82;
// By slices: an input's ranks, a tree and a split of it, looked at for a base alone or with its points, and a
// point that may turn off, whose sum is in the cache or not.
constexpr double kRanked = 1.05, kBase = 0.2, kBaseSplit = 0.006, kTurning = 0.2, kTurningSplit = 0.026;
constexpr double kKin = 0.25;  // of a split, as often as another of its column is above it
constexpr double kTurningOther = 3.5, kOtherLevels = 7;
constexpr double kListed = 1.0, kListedFar = 2.3, kNear = 1 << 20;
// One by one: a row, and a point besides the model's part.
constexpr double kRowAlone = 500, kPointAlone = 25;

bool has_bases(const Ball& ball) {
  const BallKind kind = ball.options().kind;
  return kind != BallKind::cross && kind != BallKind::one_hot;
}

}  // namespace

TreeBallCost::TreeBallCost(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block,
                           double point)
    : rows_(rows), point_(point), thresholds_(thresholds_by_input(trees, rows.inputs(), block)) {
  for (const TreePack& pack : trees.packs) {
    const auto count = static_cast<double>(pack.view.count);
    if (pack.view.child == nullptr) {
      levels_ += count * pack.view.depth;
      complete_ += count;
      splits_ += static_cast<double>(pack.split.size()) - count;
    } else {
      others_ += count;
      other_splits_ += (static_cast<double>(pack.child.size()) - count) / 2;
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

TreeBallCost::Ways TreeBallCost::weigh(const Ball& ball, std::size_t features) const {
  const BallShape shape = ball.shape(features);
  const auto points = static_cast<double>(shape.units) * static_cast<double>(shape.points());
  const double near = near_share(ball);
  return {.walked = walked(ball, static_cast<double>(features), near),
          .sliced = sliced(ball, near),
          .alone = kRowAlone + (1 + points) * (kPointAlone + point_)};
}

double TreeBallCost::walked(const Ball& ball, double features, double near) const {
  const auto points = static_cast<double>(ball.shape(1).points());
  const bool apart = has_bases(ball);
  const double turned = apart ? kTurnedApart + std::min(kMostApart, kFewFeatures / features) : kTurned;
  const double other =
      kOther + (apart ? points * kOtherBase : 0) + near * points * (apart ? kOtherTurnedApart : kOtherTurned);
  return kRow + kInput * static_cast<double>(rows_.inputs()) + levels_ * (kLevel + near * points * turned) +
         others_ * other;
}

double TreeBallCost::sliced(const Ball& ball, double near) const {
  const auto inputs = static_cast<double>(std::max<std::size_t>(1, rows_.inputs()));
  const auto points = static_cast<double>(ball.shape(1).points());
  const bool bases = has_bases(ball);
  // Of points of either sign around one base, or each of its own; and bases alone: the row, last vertices.
  const double turning = bases ? points : std::max(1.0, points / 2), plain = bases ? 1 + points : 0;
  const double ranks = bases ? plain + 2 * turning : 1 + 2 * turning;
  const double sums = static_cast<double>(kSliceRows) * inputs * std::max(2.0, points) * sizeof(std::int64_t);
  const double trees = complete_ + others_, splits = splits_ + other_splits_;
  const double turned = near * points * (levels_ + kOtherLevels * others_);
  return kRow + kRanked * inputs * ranks + plain * (kBase * trees + kBaseSplit * splits) +
         turning *
             (kTurning * complete_ + kTurningOther * others_ + (kTurningSplit + kKin / inputs) * splits) +
         (sums < kNear ? kListed : kListedFar) * turned;
}

}  // namespace harmonia
