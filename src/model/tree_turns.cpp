#include "tree_turns.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace harmonia {
namespace {

constexpr unsigned kLastBit = 32;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Where a row is near to a split.
struct Near {
  std::uint32_t tree, row, leaf;

  explicit Near(std::uint32_t found)
      : tree(found >> NearRows::kTree),
        row((found >> NearRows::kRow) % NearRows::kMostRows),
        leaf((found >> NearRows::kLeaf) & 0xFFU) {}
};

// Of a tree and row, where bases that go another way are kept.
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
  if (pack.view.exact == nullptr) {
    fill_splits(pack, splits.single);
  } else {
    fill_splits(pack, splits.exact);
  }
  return splits;
}

TurnSteps turn_steps(const TreeBallPoints& points, const std::vector<double>& scales) {
  TurnSteps steps;
  steps.shifted = points.shifted;
  steps.points = points.own.size();
  steps.last = points.last.size();
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
  return steps;
}

// Rows and the points around them. T: what splits compare.
template <class T, bool Missing>
struct TreeTurns::Turner {
  const PackedTrees& trees;
  const TurnSplit<T>* splits;  // of the first tree that is meant
  const std::int64_t* leaves;  // the same
  std::uint32_t slots, inputs, block_bits, bases;
  const TurnInputs& in;
  const TurnRows& rows;
  const TurnSteps& steps;
  TreeBallSums& sums;
  std::int32_t row_begin[NearRows::kMostRows];  // begin_of() the rows themselves

  Turner(const PackedTrees& of, const std::vector<TurnSplit<T>>& slot_splits, std::size_t first,
         const TurnInputs& of_model, const TurnRows& around, TreeBallSums& to)
      : trees(of),
        splits(slot_splits.data() + (first << of.depth)),
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
    for (std::uint32_t row = 0; row < NearRows::kMostRows; ++row) row_begin[row] = begin_of(row, 0);
  }

  // Bases are numbered: 0 is the row itself, then come those of own points if they are shifted, and last
  // vertices.
  std::uint32_t base_of(std::uint32_t point) const { return steps.shifted ? 1 + point : 0; }
  std::uint32_t base_of_last(std::uint32_t point) const {
    return 1 + (steps.shifted ? static_cast<std::uint32_t>(steps.points) : 0) + point;
  }

  // What stands for a row's base where its coordinates are asked for: in float32 where they begin in
  // TurnRows::values, with the lane.
  std::int32_t begin_of(std::uint32_t row, std::uint32_t base) const {
    if constexpr (std::is_same_v<T, float>) {
      const std::uint32_t block = row >> block_bits, lane = row & ((1U << block_bits) - 1);
      return static_cast<std::int32_t>((((block * (1 + bases) + base) * inputs) << block_bits) + lane);
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
      const double x = rows.x[of % NearRows::kMostRows][in.column[i]];
      return base == 0 ? x : x + steps.to_base[(base - 1 + (steps.shifted ? 0 : steps.points)) * inputs + i];
    }
  }

  std::uint32_t goes_right(std::uint32_t slot, T value) const {
    std::uint32_t right = value < splits[slot].threshold ? 0 : 1;
    if constexpr (Missing) {
      if (value != value) right = missing_left(slot) ? 0 : 1;
    }
    return right;
  }
  bool missing_left(std::uint32_t slot) const {
    const auto first = static_cast<std::size_t>(leaves - trees.leaf) / trees.leaf_width;
    return trees.missing_left[first + slot] != 0;
  }

  // From a heap position to the leaf, counted from the tree's first, of a base with one input replaced.
  std::uint32_t leaf_from(std::uint32_t tree, std::uint32_t heap, std::int32_t begin, std::int32_t own,
                          T value) const {
    while (heap < slots) {
      const std::uint32_t slot = tree * slots + heap;
      const std::int32_t input = splits[slot].input;
      heap = 2 * heap + goes_right(slot, input == own ? value : at_base(begin, input));
    }
    return heap - slots;
  }
  std::uint32_t leaf_of(std::uint32_t tree, std::int32_t begin) const {
    return leaf_from(tree, 1, begin, -1, T{});
  }

  // The coordinate that a point has of its own.
  T own_value(std::uint32_t row, std::uint32_t input, std::uint32_t point) const {
    const std::size_t step = std::size_t{point} * inputs + input;
    double x = rows.x[row][in.column[input]];
    if (steps.shifted) x += steps.to_base[step];
    return static_cast<T>(x + steps.to_own[step]);
  }

  // Whether a point with this value of the split's own input turns off, where its base goes right or not.
  bool turns(const TurnSplit<T>& split, T value, std::uint32_t right) const {
    const std::uint32_t beyond = value >= split.threshold ? 1 : 0;
    const std::uint32_t inside = value >= split.bound[right] ? 1 : 0;
    return ((beyond ^ right) & (inside ^ right ^ 1U)) != 0 && value == value;
  }

  // Lists the points `way` of either side (kNone: that side has none) that rows have at their splits of one
  // level, but of bases that went another way (`apart`; null: none did). Says how many they are.
  std::size_t list(const std::uint32_t* found, std::size_t count, unsigned level,
                   const std::uint32_t (&way)[2], const std::uint64_t* apart, TurnPoints<T>& points) const {
    // All that the loop needs is in variables of its own, which writing does not change.
    const unsigned depth = trees.depth, below = depth - level, bits = block_bits;
    const TurnSplit<T>* const from = splits;
    const auto of_side = [&](const std::vector<double>& of, std::uint32_t side) {
      return of.data() + (way[side] == kNone ? 0 : std::size_t{way[side]} * inputs);
    };
    const double* const own_steps[2] = {of_side(steps.to_own, 0), of_side(steps.to_own, 1)};
    const double* const shifts[2] = {of_side(steps.to_base, 0), of_side(steps.to_base, 1)};
    const std::int32_t* const begin_rows = row_begin;
    const auto to_base = [&](std::uint32_t side) {
      return way[side] == kNone ? 0 : begin_of(0, base_of(way[side])) - row_begin[0];
    };
    const std::int32_t base_begin[2] = {to_base(0), to_base(1)};
    const double* const* const x = rows.x;
    const std::uint32_t *const column = in.column.data(), heap_size = slots;
    const std::int32_t* const place = in.place.data();
    const bool shifted = steps.shifted;
    const auto columns = static_cast<std::uint32_t>(sums.columns()),
               margins = static_cast<std::uint32_t>(sums.margins()),
               each = static_cast<std::uint32_t>(steps.points);
    std::uint32_t *const out_found = points.found.data(), *const out_mark = points.mark.data(),
                         *const out_place = points.place.data();
    std::int32_t* const out_begin = points.begin.data();
    T* const out_own = points.own.data();
    std::size_t listed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Near at(found[i]);
      const std::uint32_t right = (at.leaf >> (below - 1)) & 1U, point = way[right];
      if (point == kNone) continue;
      const std::uint32_t slot = (at.tree << depth) + ((heap_size + at.leaf) >> below);
      const std::uint32_t input = static_cast<std::uint32_t>(from[slot].input) >> bits;
      double own = x[at.row][column[input]];
      if (shifted) own += shifts[right][input];
      const std::uint32_t mark = at.row * columns + static_cast<std::uint32_t>(place[input]);
      out_found[listed] = found[i];
      out_mark[listed] = mark;
      out_place[listed] = (mark * each + point) * margins;
      out_begin[listed] = begin_rows[at.row] + base_begin[right];
      out_own[listed] = static_cast<T>(own + own_steps[right][input]);
      const bool gone = apart != nullptr && ((apart[apart_place(at)] >> point) & 1U) != 0;
      listed += gone ? 0 : 1;
    }
    return listed;
  }

  // What a kernel does, one by one.
  void turn_off(TurnPoints<T>& points, std::size_t count, unsigned level) const {
    const unsigned below = trees.depth - level;
    for (std::size_t i = 0; i < count; ++i) {
      const Near at(points.found[i]);
      const std::uint32_t right = (at.leaf >> (below - 1)) & 1U, heap = (slots + at.leaf) >> below;
      const TurnSplit<T>& split = splits[at.tree * slots + heap];
      points.leaf[i] = -1;
      if (!turns(split, points.own[i], right)) continue;
      points.leaf[i] = static_cast<std::int32_t>(
          leaf_from(at.tree, 2 * heap + (right ^ 1U), points.begin[i], split.input, points.own[i]));
    }
  }

  // Adds what a leaf of a tree is more than another.
  void add(std::uint32_t tree, std::uint32_t leaf, std::uint32_t than, std::int64_t* to) const {
    const std::size_t width = trees.leaf_width;
    const std::int64_t* const of = leaves + std::size_t{tree} * slots * width;
    if (width == 1) to += trees.output;
    for (std::size_t k = 0; k < width; ++k) to[k] += of[leaf * width + k] - of[than * width + k];
  }

  // The same of all points that turned off.
  void add_all(const TurnPoints<T>& points, std::size_t count) const {
    const unsigned depth = trees.depth;
    const std::size_t width = trees.leaf_width;
    const std::int64_t* const first = leaves;
    std::int64_t* const to = sums.at(width == 1 ? trees.output : 0);
    unsigned char* const marks = sums.marks(0);
    for (std::size_t i = 0; i < count; ++i) {
      if (points.leaf[i] < 0) continue;
      const Near near(points.found[i]);
      const std::int64_t* const of = first + (std::size_t{near.tree} << depth) * width;
      const std::size_t leaf = static_cast<std::uint32_t>(points.leaf[i]), than = near.leaf;
      std::int64_t* const sum = to + points.place[i];
      marks[points.mark[i]] = 1;
      sum[0] += of[leaf * width] - of[than * width];
      for (std::size_t k = 1; k < width; ++k) sum[k] += of[leaf * width + k] - of[than * width + k];
    }
  }

  // The bases and last vertices, a bit each, that go another way than the row at its split of this level.
  std::uint64_t apart(const Near& near, unsigned level) const {
    const std::uint32_t slot = near.tree * slots + ((slots + near.leaf) >> (trees.depth - level));
    const std::uint32_t right = (near.leaf >> (trees.depth - 1 - level)) & 1U;
    const std::int32_t input = splits[slot].input;
    std::uint64_t found = 0;
    const auto look = [&](std::uint32_t base, unsigned bit) {
      const T value = at_base(begin_of(near.row, base), input);
      found |= std::uint64_t{goes_right(slot, value) ^ right} << bit;
    };
    if (steps.shifted)
      for (std::uint32_t p = 0; p < steps.points; ++p) look(base_of(p), p);
    for (std::uint32_t p = 0; p < steps.last; ++p) look(base_of_last(p), kLastBit + p);
    return found;
  }

  // All points of a base that goes its own way.
  void walk_base(const Near& near, std::uint32_t point) const {
    const std::int32_t begin = begin_of(near.row, base_of(point));
    const std::uint32_t leaf = leaf_of(near.tree, begin);
    add(near.tree, leaf, near.leaf, sums.at(sums.base(near.row, point)));
    std::uint32_t heap = 1;
    for (unsigned level = 0; level < trees.depth; ++level) {
      const std::uint32_t right = (leaf >> (trees.depth - 1 - level)) & 1U;
      const TurnSplit<T>& split = splits[near.tree * slots + heap];
      const std::uint32_t input = static_cast<std::uint32_t>(split.input) >> block_bits;
      const T own = own_value(near.row, input, point);
      if (turns(split, own, right)) {
        const auto place = static_cast<std::size_t>(in.place[input]);
        add(near.tree, leaf_from(near.tree, 2 * heap + (right ^ 1U), begin, split.input, own), leaf,
            sums.at(sums.own(near.row, place, point)));
        sums.marks(near.row)[place] = 1;
      }
      heap = 2 * heap + right;
    }
  }

  void walk_last(const Near& near, std::uint32_t point) const {
    add(near.tree, leaf_of(near.tree, begin_of(near.row, base_of_last(point))), near.leaf,
        sums.at(sums.last(near.row, point)));
  }
};

template <class T>
TurnPoints<T>& TreeTurns::points() {
  if constexpr (std::is_same_v<T, float>) {
    return single_;
  } else {
    return exact_;
  }
}

template <class T, bool Missing>
void TreeTurns::walk_level(const Turner<T, Missing>& turner, std::size_t first, std::size_t found,
                           unsigned level, const std::uint64_t* apart) {
  const TurnSteps& steps = turner.steps;
  TurnPoints<T>& points = this->points<T>();
  for (std::size_t w = 0; w < std::max(steps.side[0].size(), steps.side[1].size()); ++w) {
    const auto point = [&](std::size_t side) {
      return w < steps.side[side].size() ? steps.side[side][w] : kNone;
    };
    const std::uint32_t way[2] = {point(0), point(1)};
    const std::size_t count = turner.list(picked_.data(), found, level, way, apart, points);
    bool done = false;
    if constexpr (std::is_same_v<T, float>) {
      if (kernel_.turn_off != nullptr) {
        kernel_.turn_off(turner.trees, {.found = points.found.data(),
                                        .count = count,
                                        .level = level,
                                        .first = first,
                                        .splits = &(turner.splits - (first << turner.trees.depth))->threshold,
                                        .values = turner.rows.values,
                                        .begin = points.begin.data(),
                                        .own = points.own.data(),
                                        .missing = Missing,
                                        .leaf = points.leaf.data()});
        done = true;
      }
    }
    if (!done) turner.turn_off(points, count, level);
    turner.add_all(points, count);
  }
}

template <class T, bool Missing>
void TreeTurns::walk_by(const PackedTrees& trees, const std::vector<TurnSplit<T>>& splits, std::size_t first,
                        const NearRows& near, const TurnRows& rows, TreeBallSums& sums) {
  const Turner<T, Missing> turner(trees, splits, first, inputs_, rows, sums);
  const TurnSteps& steps = *rows.steps;
  picked_.resize(near.count + kernel_.block);
  points<T>().make_room(near.count + kernel_.block);
  apart_rows_.clear();
  const bool bases = steps.shifted || steps.last > 0;
  if (bases) {
    apart_.resize(NearRows::kMostTrees * NearRows::kMostRows);
    for (std::size_t i = 0; i < near.count; ++i) {
      const Near at(near.found[i]);
      std::uint64_t ways = 0;
      for (std::uint32_t levels = near.found[i] & 0xFFU; levels != 0; levels &= levels - 1)
        ways |= turner.apart(at, static_cast<unsigned>(std::countr_zero(levels)));
      apart_[apart_place(at)] = ways;
      if (ways != 0) apart_rows_.push_back(near.found[i]);
    }
  }
  for (unsigned level = 0; level < trees.depth; ++level) {
    const std::size_t found = kernel_.pick_level(near, level, picked_.data());
    walk_level(turner, first, found, level, bases ? apart_.data() : nullptr);
  }
  for (const std::uint32_t found : apart_rows_) {
    const Near at(found);
    for (std::uint64_t ways = apart_[apart_place(at)]; ways != 0; ways &= ways - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(ways));
      if (bit < kLastBit) {
        turner.walk_base(at, bit);
      } else {
        turner.walk_last(at, bit - kLastBit);
      }
    }
  }
}

void TreeTurns::walk(const PackedTrees& trees, const TurnSplits& splits, std::size_t first,
                     const NearRows& near, const TurnRows& rows, TreeBallSums& sums) {
  if (trees.exact == nullptr) {
    rows.missing ? walk_by<float, true>(trees, splits.single, first, near, rows, sums)
                 : walk_by<float, false>(trees, splits.single, first, near, rows, sums);
  } else {
    rows.missing ? walk_by<double, true>(trees, splits.exact, first, near, rows, sums)
                 : walk_by<double, false>(trees, splits.exact, first, near, rows, sums);
  }
}

}  // namespace harmonia
