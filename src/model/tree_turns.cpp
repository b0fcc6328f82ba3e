#include "tree_turns.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace harmonia {
namespace {

// Where a row is near to a split.
struct Near {
  std::uint32_t tree, row, leaf;

  explicit Near(std::uint32_t found)
      : tree(found >> NearRows::kTree),
        row((found >> NearRows::kRow) % NearRows::kMostRows),
        leaf((found >> NearRows::kLeaf) & 0xFFU) {}
};

// Of a tree and row, where it is kept whether bases go another way.
std::size_t apart_place(const Near& near) { return std::size_t{near.tree} * NearRows::kMostRows + near.row; }

template <class T>
void fill_splits(const TreePack& pack, std::vector<TurnSplit<T>>& splits) {
  constexpr T kFar = std::numeric_limits<T>::infinity();
  const std::size_t slots = std::size_t{1} << pack.view.depth;
  splits.resize(pack.split.size());
  for (std::size_t slot = 0; slot < splits.size(); ++slot) {
    TurnSplit<T>& split = splits[slot];
    if constexpr (std::is_same_v<T, float>) {
      split.threshold = pack.threshold[slot];
    } else {
      split.threshold = pack.exact[slot];
    }
    split.input = pack.input[slot];
    split.bound[0] = kFar;
    split.bound[1] = -kFar;
    const std::size_t tree = slot / slots * slots;
    for (std::size_t heap = slot - tree; heap > 1; heap /= 2) {
      const TurnSplit<T>& above = splits[tree + heap / 2];
      if (above.input != split.input) continue;
      if (heap % 2 == 0) {
        split.bound[0] = std::min(split.bound[0], above.threshold);
      } else {
        split.bound[1] = std::max(split.bound[1], above.threshold);
      }
    }
  }
}

}  // namespace

TurnSplits turn_splits(const TreePack& pack) {
  TurnSplits splits;
  fill_splits(pack, splits.single);
  if (pack.view.exact != nullptr) fill_splits(pack, splits.exact);
  return splits;
}

TurnSteps turn_steps(const TreeBallPoints& points, const std::vector<double>& scales) {
  TurnSteps steps;
  steps.shifted = points.shifted;
  steps.points = points.own.size();
  steps.last = points.last.size();
  steps.alike = std::ranges::adjacent_find(scales, std::not_equal_to{}) == scales.end();
  const auto add = [&](std::vector<double>& to, double radius, double coefficient) {
    for (const double scale : scales) to.push_back((radius * scale) * coefficient);
  };
  for (const RowBall::Place& place : points.own) {
    add(steps.to_base, place.radius, place.base);
    add(steps.to_own, place.radius, place.extra);
  }
  for (const RowBall::Place& place : points.last) add(steps.to_base, place.radius, place.base);
  for (std::uint32_t p = 0; p < points.own.size(); ++p)
    steps.side[points.own[p].extra > 0 ? 0 : 1].push_back(p);
  std::vector<double> ways;  // of the bases
  if (points.shifted)
    for (const RowBall::Place& place : points.own) ways.push_back(place.radius * place.base);
  for (const RowBall::Place& place : points.last) ways.push_back(place.radius * place.base);
  if (!ways.empty()) {
    const auto [least, most] = std::ranges::minmax_element(ways);
    for (const auto at : {least, most})
      steps.outer.push_back(static_cast<std::uint32_t>(at - ways.begin()) + 1);
  }
  return steps;
}

// Rows and the points around them. T: what splits compare.
template <class T, bool Missing>
struct TreeTurns::Turner {
  const PackedTrees& trees;
  const TurnSplit<T>* splits;      // of the first tree that is meant
  const TurnSplit<float>* single;  // the same in float32
  const std::int64_t* leaves;      // the same
  std::uint32_t slots, inputs, block_bits, bases;
  const TurnInputs& in;
  const TurnRows& rows;
  const TurnSteps& steps;
  TreeBallSums& sums;

  Turner(const PackedTrees& of, const TurnSplits& of_pack, std::size_t first, const TurnInputs& of_model,
         const TurnRows& around, TreeBallSums& to)
      : trees(of),
        single(of_pack.single.data() + (first << of.depth)),
        leaves(of.leaf + (first << of.depth) * of.leaf_width),
        slots(1U << of.depth),
        inputs(static_cast<std::uint32_t>(of_model.column.size())),
        block_bits(static_cast<std::uint32_t>(std::countr_zero(of_model.block))),
        bases(static_cast<std::uint32_t>((around.steps->shifted ? around.steps->points : 0) +
                                         around.steps->last)),
        in(of_model),
        rows(around),
        steps(*around.steps),
        sums(to) {
    if constexpr (std::is_same_v<T, float>) {
      splits = single;
    } else {
      splits = of_pack.exact.data() + (first << of.depth);
    }
  }

  // Bases are numbered: 0 is the row itself, then come those of own points if they are shifted, and last
  // vertices.
  std::uint32_t base_of(std::uint32_t point) const { return steps.shifted ? 1 + point : 0; }
  std::uint32_t base_of_last(std::uint32_t point) const {
    return 1 + (steps.shifted ? static_cast<std::uint32_t>(steps.points) : 0) + point;
  }

  // Where a base's values begin in TurnRows::values, with the lane.
  std::int32_t values_begin(std::uint32_t row, std::uint32_t base) const {
    const std::uint32_t block = row >> block_bits, lane = row & ((1U << block_bits) - 1);
    return static_cast<std::int32_t>((((block * (1 + bases) + base) * inputs) << block_bits) + lane);
  }

  // What stands for a row's base where its coordinates are asked for: in float32 where they begin in
  // TurnRows::values, with the lane.
  std::int32_t begin_of(std::uint32_t row, std::uint32_t base) const {
    if constexpr (std::is_same_v<T, float>) {
      return values_begin(row, base);
    } else {
      return static_cast<std::int32_t>(base * NearRows::kMostRows + row);
    }
  }

  // What a split compares of a base.
  T at_base(std::int32_t begin, std::int32_t input) const {
    if constexpr (std::is_same_v<T, float>) {
      return rows.values[begin + input];
    } else {
      const std::size_t of = static_cast<std::uint32_t>(begin), base = of / NearRows::kMostRows;
      const std::size_t i = static_cast<std::uint32_t>(input) >> block_bits;
      const double x = rows.x[of % NearRows::kMostRows * rows.row_step + in.column[i]];
      return base == 0 ? x : x + steps.to_base[(base - 1 + (steps.shifted ? 0 : steps.points)) * inputs + i];
    }
  }

  std::uint32_t goes_right(const TurnSplit<T>& split, T value) const {
    std::uint32_t right = value < split.threshold ? 0 : 1;
    if constexpr (Missing) {
      if (value != value) right = missing_left(split) ? 0 : 1;
    }
    return right;
  }
  bool missing_left(const TurnSplit<T>& split) const {
    const auto first = static_cast<std::size_t>(leaves - trees.leaf) / trees.leaf_width;
    return trees.missing_left[first + static_cast<std::size_t>(&split - splits)] != 0;
  }

  // From a heap position to the leaf, counted from the tree's first, of a base with one input replaced.
  std::uint32_t leaf_from(std::uint32_t tree, std::uint32_t heap, std::int32_t begin, std::int32_t own,
                          T value) const {
    while (heap < slots) {
      const TurnSplit<T>& split = splits[tree * slots + heap];
      heap = 2 * heap + goes_right(split, split.input == own ? value : at_base(begin, split.input));
    }
    return heap - slots;
  }
  std::uint32_t leaf_of(std::uint32_t tree, std::int32_t begin) const {
    return leaf_from(tree, 1, begin, -1, T{});
  }

  // The coordinate that a point has of its own.
  T own_value(std::uint32_t row, std::uint32_t input, std::uint32_t point) const {
    const std::size_t step = std::size_t{point} * inputs + input;
    double x = rows.x[row * rows.row_step + in.column[input]];
    if (steps.shifted) x += steps.to_base[step];
    return static_cast<T>(x + steps.to_own[step]);
  }

  // Whether a point with this value of the split's own input turns off, where its base goes right or not.
  bool turns(const TurnSplit<T>& split, T value, std::uint32_t right) const {
    const std::uint32_t beyond = value >= split.threshold ? 1 : 0;
    const std::uint32_t inside = value >= split.bound[right] ? 1 : 0;
    return ((beyond ^ right) & (inside ^ right ^ 1U)) != 0 && value == value;
  }

  // The points `way` of either side that rows have at their splits `below` levels above the leaves.
  TurnedPoints turned(const std::uint32_t* found, std::size_t count, unsigned below,
                      const std::uint32_t (&way)[2]) const {
    const std::size_t before = static_cast<std::size_t>(leaves - trees.leaf) / trees.leaf_width;
    TurnedPoints points;
    points.found = found;
    points.count = count;
    points.below = below;
    points.splits = reinterpret_cast<const float*>(single);
    points.missing_left = trees.missing_left + before;
    points.leaves = leaves;
    points.x = rows.x;
    points.row_step = static_cast<std::int32_t>(rows.row_step);
    points.inputs = in.both.empty() ? nullptr : in.both.data();
    points.alike = steps.alike;
    points.shifts = steps.shifted ? steps.to_base.data() : nullptr;
    points.steps = steps.to_own.data();
    points.values = rows.values;
    points.block_values = static_cast<std::int32_t>(((1 + bases) * inputs) << block_bits);
    points.missing = Missing;
    points.sums = sums.at(trees.leaf_width == 1 ? trees.output : 0);
    points.place_sums = static_cast<std::int32_t>(steps.points * sums.margins());
    points.marks = sums.marks(0);
    points.row_places = static_cast<std::int32_t>(sums.columns());
    for (std::size_t side = 0; side < 2; ++side) {
      points.step_begin[side] = static_cast<std::int32_t>(way[side] * inputs);
      points.base_begin[side] = values_begin(0, base_of(way[side]));
      points.sum_begin[side] = static_cast<std::int32_t>(way[side] * sums.margins());
    }
    return points;
  }

  // The same of rows' bases: of their own points, or last vertices.
  TurnedPoints bases_of(const std::uint32_t* found, std::size_t count, unsigned below,
                        std::uint32_t base) const {
    TurnedPoints points = turned(found, count, below, {0, 0});
    points.base_begin[0] = points.base_begin[1] = values_begin(0, base);
    return points;
  }

  // What a kernel does, of one point.
  void turn_off(const Near& at, unsigned below, const std::uint32_t (&way)[2]) const {
    const std::uint32_t right = (at.leaf >> (below - 1)) & 1U, heap = (slots + at.leaf) >> below;
    turn_off_at(at, at.leaf, heap, right, begin_of(at.row, base_of(way[right])), way[right]);
  }

  // One that goes to a leaf with its base, by a split where the base goes right or not.
  void turn_off_at(const Near& near, std::uint32_t leaf, std::uint32_t heap, std::uint32_t right,
                   std::int32_t begin, std::uint32_t point) const {
    const TurnSplit<T>& split = splits[near.tree * slots + heap];
    const std::uint32_t input = static_cast<std::uint32_t>(split.input) >> block_bits;
    const T own = own_value(near.row, input, point);
    if (!turns(split, own, right)) return;
    const auto place = static_cast<std::size_t>(in.place[input]);
    add(near.tree, leaf_from(near.tree, 2 * heap + (right ^ 1U), begin, split.input, own), leaf,
        sums.at(sums.own(near.row, place, point)));
    sums.marks(near.row)[place] = 1;
  }

  // Adds what a leaf of a tree is more than another.
  void add(std::uint32_t tree, std::uint32_t leaf, std::uint32_t than, std::int64_t* to) const {
    const std::size_t width = trees.leaf_width;
    const std::int64_t* const of = leaves + std::size_t{tree} * slots * width;
    if (width == 1) to += trees.output;
    for (std::size_t k = 0; k < width; ++k) to[k] += of[leaf * width + k] - of[than * width + k];
  }

  // Whether a base goes another way than the row at its split of this level.
  bool goes_apart(const Near& near, unsigned level, std::uint32_t base) const {
    const std::uint32_t slot = near.tree * slots + ((slots + near.leaf) >> (trees.depth - level));
    const std::uint32_t right = (near.leaf >> (trees.depth - 1 - level)) & 1U;
    const T value = at_base(begin_of(near.row, base), splits[slot].input);
    return goes_right(splits[slot], value) != right;
  }

  bool goes_apart_on(const Near& near, std::uint32_t levels, std::uint32_t base) const {
    for (; levels != 0; levels &= levels - 1)
      if (goes_apart(near, static_cast<unsigned>(std::countr_zero(levels)), base)) return true;
    return false;
  }

  // All points of a base that goes its own way.
  void walk_base(const Near& near, std::uint32_t point) const {
    const std::int32_t begin = begin_of(near.row, base_of(point));
    const std::uint32_t leaf = leaf_of(near.tree, begin);
    add(near.tree, leaf, near.leaf, sums.at(sums.base(near.row, point)));
    for (unsigned level = 0; level < trees.depth; ++level) {
      const std::uint32_t right = (leaf >> (trees.depth - 1 - level)) & 1U;
      turn_off_at(near, leaf, (slots + leaf) >> (trees.depth - level), right, begin, point);
    }
  }

  // The points of a base that goes with its row, which is near on these levels.
  void walk_row(const Near& near, std::uint32_t levels, std::uint32_t side, std::uint32_t point) const {
    const std::uint32_t way[2] = {point, point};
    for (; levels != 0; levels &= levels - 1) {
      const unsigned below = trees.depth - static_cast<unsigned>(std::countr_zero(levels));
      if (((near.leaf >> (below - 1)) & 1U) == side) turn_off(near, below, way);
    }
  }

  void walk_last(const Near& near, std::uint32_t point) const {
    add(near.tree, leaf_of(near.tree, begin_of(near.row, base_of_last(point))), near.leaf,
        sums.at(sums.last(near.row, point)));
  }
};

template <class T, bool Missing>
void TreeTurns::walk_by(const PackedTrees& trees, const TurnSplits& splits, NearRows near,
                        const TurnRows& rows, TreeBallSums& sums) {
  const Turner<T, Missing> turner(trees, splits, near.first_tree, inputs_, rows, sums);
  const TurnSteps& steps = *rows.steps;
  picked_.resize(near.count + kernel_.block);
  tied_.resize(picked_.size());
  if (turner.bases > 0) {
    take_apart(turner, near);
    walk_apart(turner, near);
  }
  for (unsigned level = 0; level < trees.depth; ++level) {
    const unsigned below = trees.depth - level;
    for (std::size_t w = 0; w < std::max(steps.side[0].size(), steps.side[1].size()); ++w) {
      const bool sides[2] = {w < steps.side[0].size(), w < steps.side[1].size()};
      const std::uint32_t way[2] = {sides[0] ? steps.side[0][w] : 0, sides[1] ? steps.side[1][w] : 0};
      // Of one side alone if the other has no such point.
      const std::uint32_t near_here = 1U << level, right = 1U << (NearRows::kLeaf + below - 1);
      const std::size_t found = kernel_.pick(near, sides[0] && sides[1] ? near_here : near_here | right,
                                             sides[0] ? near_here : near_here | right, picked_.data());
      std::size_t left = found;
      if (kernel_.turn_off != nullptr) {
        left = kernel_.turn_off(trees, turner.turned(picked_.data(), found, below, way), tied_.data());
        std::swap(picked_, tied_);
      }
      for (std::size_t i = 0; i < left; ++i) turner.turn_off(Near(picked_[i]), below, way);
    }
  }
}

// Takes those out of the list that have a base that goes another way, and lists them apart.
template <class T, bool Missing>
void TreeTurns::take_apart(const Turner<T, Missing>& turner, NearRows& near) {
  apart_.resize(NearRows::kMostTrees * NearRows::kMostRows, 0);
  for (unsigned level = 0; level < turner.trees.depth; ++level) {
    const std::uint32_t here = 1U << level;
    const std::size_t found = kernel_.pick(near, here, here, picked_.data());
    // Where the outermost go with their row, all others do.
    for (const std::uint32_t base : turner.steps.outer) {
      const std::size_t count = list_apart(turner, found, level, base);
      for (std::size_t i = 0; i < count; ++i) apart_[apart_place(Near(apart_rows_[i]))] = 1;
    }
  }
  const std::size_t count = std::exchange(near.count, 0);
  std::size_t listed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t found = near.found[i];
    const unsigned apart = std::exchange(apart_[apart_place(Near(found))], 0);
    near.found[near.count] = apart_rows_[listed] = found;
    listed += apart;
    near.count += 1 - apart;
  }
  apart_rows_.resize(listed);
}

// Of the rows that were picked on this level, those where the base goes another way.
template <class T, bool Missing>
std::size_t TreeTurns::list_apart(const Turner<T, Missing>& turner, std::size_t count, unsigned level,
                                  std::uint32_t base) {
  apart_rows_.resize(picked_.size());
  if (kernel_.find_apart != nullptr)
    return kernel_.find_apart(turner.trees,
                              turner.bases_of(picked_.data(), count, turner.trees.depth - level, base),
                              apart_rows_.data());
  std::size_t listed = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (turner.goes_apart(Near(picked_[i]), level, base)) apart_rows_[listed++] = picked_[i];
  return listed;
}

// Walks the points of bases that go another way, and all points of rows where those of some column do. The
// other rows go back to the list.
template <class T, bool Missing>
void TreeTurns::walk_apart(const Turner<T, Missing>& turner, NearRows& near) {
  const TurnSteps& steps = turner.steps;
  for (const std::uint32_t found : apart_rows_) {
    const Near at(found);
    const std::uint32_t levels = found & 0xFFU;
    const auto apart = [&](std::uint32_t base) { return turner.goes_apart_on(at, levels, base); };
    for (std::uint32_t p = 0; p < steps.last; ++p)
      if (apart(turner.base_of_last(p))) turner.walk_last(at, p);
    bool some = false;
    for (std::uint32_t p = 0; p < steps.points && steps.shifted; ++p) some |= apart(turner.base_of(p));
    if (!some) {
      near.found[near.count++] = found;
      continue;
    }
    for (std::uint32_t side = 0; side < 2; ++side) {
      for (const std::uint32_t point : steps.side[side]) {
        if (apart(turner.base_of(point))) {
          turner.walk_base(at, point);
        } else {
          turner.walk_row(at, levels, side, point);
        }
      }
    }
  }
}

void TreeTurns::walk(const PackedTrees& trees, const TurnSplits& splits, NearRows near, const TurnRows& rows,
                     TreeBallSums& sums) {
  if (trees.exact == nullptr) {
    rows.missing ? walk_by<float, true>(trees, splits, near, rows, sums)
                 : walk_by<float, false>(trees, splits, near, rows, sums);
  } else {
    rows.missing ? walk_by<double, true>(trees, splits, near, rows, sums)
                 : walk_by<double, false>(trees, splits, near, rows, sums);
  }
}

}  // namespace harmonia
