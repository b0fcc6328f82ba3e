#include "tree_alone.hpp"

#include <algorithm>
#include <cmath>

namespace harmonia {

// Whether a coordinate of a split's column goes right there.
bool TreeAlone::right(const PackedTrees& trees, std::size_t slot, double coordinate) const {
  const double value = rows_.seen(input_of(trees, slot), coordinate);
  if (std::isnan(value)) return trees.missing_left[slot] == 0;
  return !(value < (trees.exact == nullptr ? static_cast<double>(trees.threshold[slot]) : trees.exact[slot]));
}
std::size_t TreeAlone::input_of(const PackedTrees& trees, std::size_t slot) const {
  return static_cast<std::size_t>(trees.input[slot]) / block_;
}
std::size_t TreeAlone::column_of(const PackedTrees& trees, std::size_t slot) const {
  return rows_.column(input_of(trees, slot));
}

TreeAlone::Step TreeAlone::root(const TreeAt& at) {
  if (at.trees.child == nullptr) return complete(at, 1);
  return deep(at.trees, at.trees.first[at.tree]);
}
TreeAlone::Step TreeAlone::child(const TreeAt& at, std::size_t slot, bool right) {
  if (at.trees.child == nullptr) {
    const std::size_t heap = slot - (at.tree << at.trees.depth);
    return complete(at, 2 * heap + (right ? 1 : 0));
  }
  return deep(at.trees, static_cast<std::size_t>(at.trees.child[slot]) + (right ? 1 : 0));
}
TreeAlone::Step TreeAlone::complete(const TreeAt& at, std::size_t heap) {
  const std::size_t slots = std::size_t{1} << at.trees.depth, first = at.tree << at.trees.depth;
  return {first + heap, heap < slots ? -1 : static_cast<std::int64_t>(first + heap - slots)};
}
TreeAlone::Step TreeAlone::deep(const PackedTrees& trees, std::size_t slot) {
  return {slot, trees.child[slot] >= 0 ? -1 : ~static_cast<std::int64_t>(trees.child[slot])};
}

template <class Coordinate>
std::size_t TreeAlone::leaf_from(const TreeAt& at, Step step, const Coordinate& coordinate) const {
  while (step.leaf < 0)
    step = child(at, step.slot, right(at.trees, step.slot, coordinate(column_of(at.trees, step.slot))));
  return static_cast<std::size_t>(step.leaf);
}

void TreeAlone::walk(const PackedTrees& trees, std::size_t tree, const RowBall& ball,
                     const TreeBallPoints& points, std::size_t row, TreeBallSums& sums) {
  const TreeAt at{trees, tree};
  const std::span<const double> x = ball.x();
  const std::size_t leaf = leaf_from(at, root(at), [&](std::size_t column) { return x[column]; });
  for (std::size_t k = 0; k < trees.leaf_width; ++k) {
    const std::size_t margin = trees.leaf_width == 1 ? trees.output : k;
    sums.centre(row)[margin * sums.stride()] += trees.leaf[leaf * trees.leaf_width + k];
  }
  for (std::size_t p = 0; p < points.own.size(); ++p)
    walk_points(at, ball, points.own[p], p, row, leaf, sums);
  for (std::size_t p = 0; p < points.last.size(); ++p) {
    const std::size_t reached = leaf_from(
        at, root(at), [&](std::size_t column) { return ball.base_coordinate(points.last[p], column); });
    sums.add(trees, reached, leaf, sums.last(row, p));
  }
}

// The points of this place of all features: their base's way, and where they turn off it. `centre`: the
// row's leaf.
void TreeAlone::walk_points(const TreeAt& at, const RowBall& ball, RowBall::Place place, std::size_t point,
                            std::size_t row, std::size_t centre, TreeBallSums& sums) {
  const auto base = [&](std::size_t column) { return ball.base_coordinate(place, column); };
  turned_.clear();
  Step step = root(at);
  while (step.leaf < 0) {
    const std::size_t column = column_of(at.trees, step.slot);
    const bool goes_right = right(at.trees, step.slot, base(column));
    if (ball.moves(column) &&
        std::ranges::none_of(turned_, [&](const Turned& other) { return other.column == column; })) {
      place.own = column;
      const double own = ball.own_coordinate(place);
      if (right(at.trees, step.slot, own) != goes_right) {
        const std::size_t leaf = leaf_from(at, child(at, step.slot, !goes_right), [&](std::size_t other) {
          return other == column ? own : base(other);
        });
        turned_.push_back({column, static_cast<std::size_t>(columns_[input_of(at.trees, step.slot)]), leaf});
      }
    }
    step = child(at, step.slot, goes_right);
  }
  for (const Turned& turned : turned_) {
    sums.add(at.trees, turned.leaf, static_cast<std::size_t>(step.leaf), sums.own(row, turned.place, point));
    sums.marks(row)[turned.place] = 1;
  }
  sums.add(at.trees, static_cast<std::size_t>(step.leaf), centre, sums.base(row, point));
}

}  // namespace harmonia
