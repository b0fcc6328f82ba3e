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

// Rows and the points around them. T: what splits compare. What the loops need is copied where they begin, so
// that nothing is read again because something was written.
template <class T, bool Missing>
struct TreeTurns::Turner {
  PackedTrees trees;
  const TurnSplit<T>* splits;
  std::uint32_t first, slots, inputs, block_bits, bases;
  const double* const* x;
  const std::uint32_t* column;
  const std::int32_t* place;
  const float* values;
  bool shifted;
  std::uint32_t points, last;
  const double *to_base, *to_own;
  std::uint32_t columns;

  Turner(const PackedTrees& of, const std::vector<TurnSplit<T>>& slot_splits, std::size_t first_tree,
         const TurnInputs& in, const TurnRows& rows, const TreeBallSums& sums)
      : trees(of),
        splits(slot_splits.data()),
        first(static_cast<std::uint32_t>(first_tree)),
        slots(1U << of.depth),
        inputs(static_cast<std::uint32_t>(in.column.size())),
        block_bits(static_cast<std::uint32_t>(std::countr_zero(in.block))),
        bases(static_cast<std::uint32_t>((rows.steps->shifted ? rows.steps->points : 0) + rows.steps->last)),
        x(rows.x),
        column(in.column.data()),
        place(in.place.data()),
        values(rows.values),
        shifted(rows.steps->shifted),
        points(static_cast<std::uint32_t>(rows.steps->points)),
        last(static_cast<std::uint32_t>(rows.steps->last)),
        to_base(rows.steps->to_base.data()),
        to_own(rows.steps->to_own.data()),
        columns(static_cast<std::uint32_t>(sums.columns())) {}

  // Where a base's values begin, with the lane; 0: the row itself, then as in TurnRows::values.
  std::uint32_t values_of(std::uint32_t row, std::uint32_t base) const {
    const std::uint32_t block = row >> block_bits, lane = row & ((1U << block_bits) - 1);
    return (((block * (1 + bases) + base) * inputs) << block_bits) + lane;
  }
  std::uint32_t base_of(std::uint32_t point) const { return shifted ? 1 + point : 0; }
  std::uint32_t base_of_last(std::uint32_t point) const { return 1 + (shifted ? points : 0) + point; }

  // What a split compares of a turn's base.
  T at_base(const Turn<T>& turn, std::int32_t input) const {
    if constexpr (std::is_same_v<T, float>) {
      return values[turn.values + static_cast<std::uint32_t>(input)];
    } else {
      const std::uint32_t i = static_cast<std::uint32_t>(input) >> block_bits;
      const double row = x[turn.row][column[i]];
      // Points of the last vertex are numbered after the others.
      return turn.point >= points || shifted ? row + to_base[turn.point * inputs + i] : row;
    }
  }

  std::uint32_t goes_right(const TurnSplit<T>& split, T value, std::uint32_t slot) const {
    std::uint32_t right = value < split.threshold ? 0 : 1;
    if constexpr (Missing)
      right = value != value ? static_cast<std::uint32_t>(1 + trees.missing_left[slot]) : right;
    return right;
  }

  // One step down.
  void step(Turn<T>& turn) const {
    const std::uint32_t slot = turn.tree + turn.at;
    const TurnSplit<T>& split = splits[slot];
    const T seen[2] = {at_base(turn, split.input), turn.value};
    turn.at = 2 * turn.at + goes_right(split, seen[split.input == turn.own ? 1 : 0], slot);
  }

  // All steps from the root on.
  void walk(Turn<T>& turn) const {
    turn.at = 1;
    while (turn.at < slots) step(turn);
    turn.at -= slots;
  }

  // A base, or a point of the last vertex, with no value of its own.
  Turn<T> base_turn(const Near& near, std::uint32_t base, std::uint32_t point) const {
    Turn<T> turn{};
    turn.tree = (first + near.tree) * slots;
    turn.from = near.leaf;
    turn.values = values_of(near.row, base);
    turn.own = -1;
    turn.row = near.row;
    turn.point = point;
    return turn;
  }

  // The point of a split's own input; true if it turns off there. `leaf`: the one that its base comes to.
  bool begin(std::uint32_t tree_slot, std::uint32_t heap, std::uint32_t right, std::uint32_t row,
             std::uint32_t point, std::uint32_t leaf, Turn<T>& turn) const {
    const TurnSplit<T>& split = splits[tree_slot + heap];
    const std::uint32_t input = static_cast<std::uint32_t>(split.input) >> block_bits;
    const std::uint32_t steps = point * inputs + input;
    double moved = x[row][column[input]];
    if (shifted) moved += to_base[steps];
    const T value = static_cast<T>(moved + to_own[steps]);
    turn.tree = tree_slot;
    turn.at = 2 * heap + (right ^ 1U);
    turn.from = leaf;
    turn.values = values_of(row, base_of(point));
    turn.own = split.input;
    turn.mark = row * columns + static_cast<std::uint32_t>(place[input]);
    turn.row = row;
    turn.point = point;
    turn.value = value;
    const std::uint32_t beyond = value >= split.threshold ? 1 : 0;
    const std::uint32_t inside = value >= split.bound[right] ? 1 : 0;
    std::uint32_t turns = (beyond ^ right) & (inside ^ right ^ 1U);
    if constexpr (Missing) turns &= value == value ? 1 : 0;
    return turns != 0;
  }

  // The points `way` of either side that turn off rows at their splits of one level, but of bases that did
  // before (`apart`; null: none did). Says how many they are.
  std::size_t begin_level(const TurnLevel& near, const std::uint32_t (&way)[2], const std::uint64_t* apart,
                          Turn<T>* turns) const {
    const Turner self = *this;
    const unsigned below = trees.depth - near.level;
    std::size_t begun = 0;
    for (std::size_t i = 0; i < near.count; ++i) {
      const Near at(near.found[i]);
      const std::uint32_t right = (at.leaf >> (below - 1)) & 1U, point = way[right];
      if (point == kNone) continue;
      bool turned = self.begin((self.first + at.tree) * self.slots, (self.slots + at.leaf) >> below, right,
                               at.row, point, at.leaf, turns[begun]);
      if (apart != nullptr) turned &= ((apart[at.tree * NearRows::kMostRows + at.row] >> point) & 1U) == 0;
      begun += turned ? 1 : 0;
    }
    return begun;
  }

  // Where the parts of TurnLevel's points are written, and those of their sums.
  struct OwnPoints {
    std::uint32_t *found, *mark, *place;
    std::int32_t* begin;
    float* own;
  };

  // The points `way` of either side, for a kernel that finds out which of them turn off; kNone: that side has
  // no such point.
  std::size_t own_points(const TurnLevel& near, const std::uint32_t (&way)[2], const std::uint64_t* apart,
                         const TreeBallSums& sums, const OwnPoints& out) const {
    const auto margins = static_cast<std::uint32_t>(sums.margins());
    const unsigned depth = trees.depth, below = depth - near.level, bits = block_bits;
    const TurnSplit<T>* const from = splits + (std::size_t{first} << depth);
    const double* const steps[2] = {to_own + (way[0] == kNone ? 0 : way[0]) * inputs,
                                    to_own + (way[1] == kNone ? 0 : way[1]) * inputs};
    const double* const shifts[2] = {to_base + (way[0] == kNone ? 0 : way[0]) * inputs,
                                     to_base + (way[1] == kNone ? 0 : way[1]) * inputs};
    std::uint32_t begins[2][NearRows::kMostRows];
    for (std::uint32_t row = 0; row < NearRows::kMostRows; ++row)
      for (const std::size_t side : {0, 1}) begins[side][row] = values_of(row, base_of(way[side]));
    const double* const* const rows = x;
    const std::uint32_t *const row_column = column, slots_of = slots, all = columns, each = points;
    const std::int32_t* const places = place;
    const bool moved = shifted;
    std::size_t count = 0;
    for (std::size_t i = 0; i < near.count; ++i) {
      const Near at(near.found[i]);
      const std::uint32_t right = (at.leaf >> (below - 1)) & 1U, point = way[right];
      if (point == kNone) continue;
      const std::uint32_t input =
          static_cast<std::uint32_t>(from[(at.tree << depth) + ((slots_of + at.leaf) >> below)].input) >>
          bits;
      double own = rows[at.row][row_column[input]];
      if (moved) own += shifts[right][input];
      const std::uint32_t mark = at.row * all + static_cast<std::uint32_t>(places[input]);
      out.found[count] = near.found[i];
      out.mark[count] = mark;
      out.place[count] = (mark * each + point) * margins;
      out.begin[count] = static_cast<std::int32_t>(begins[right][at.row]);
      out.own[count] = static_cast<float>(own + steps[right][input]);
      const bool gone =
          apart != nullptr && ((apart[at.tree * NearRows::kMostRows + at.row] >> point) & 1U) != 0;
      count += gone ? 0 : 1;
    }
    return count;
  }

  void arrive(const TurnLevel& turned, const std::uint32_t* mark, const std::uint32_t* to_place,
              TreeBallSums& sums) const {
    const unsigned depth = trees.depth;
    const std::size_t width = trees.leaf_width;
    const std::int64_t* const leaves = trees.leaf + (std::size_t{first} << depth) * width;
    std::int64_t* const to = sums.at(width == 1 ? trees.output : 0);
    unsigned char* const marks = sums.marks(0);
    for (std::size_t i = 0; i < turned.count; ++i) {
      if (turned.leaf[i] < 0) continue;
      const Near near(turned.found[i]);
      const std::int64_t* const of = leaves + (std::size_t{near.tree} << depth) * width;
      const std::size_t leaf = static_cast<std::uint32_t>(turned.leaf[i]), than = near.leaf;
      std::int64_t* const sum = to + to_place[i];
      marks[mark[i]] = 1;
      sum[0] += of[leaf * width] - of[than * width];
      for (std::size_t k = 1; k < width; ++k) sum[k] += of[leaf * width + k] - of[than * width + k];
    }
  }

  // From a level to the leaves, step by step in turn.
  void descend(unsigned level, Turn<T>* turns, std::size_t count) const {
    const Turner own = *this;
    for (unsigned l = level; l < trees.depth; ++l)
      for (std::size_t i = 0; i < count; ++i) own.step(turns[i]);
    for (std::size_t i = 0; i < count; ++i) turns[i].at -= own.slots;
  }

  // Adds what a leaf is more than that of the base.
  void add(const Turn<T>& turn, std::int64_t* to) const {
    const std::int64_t* const leaves = trees.leaf + std::size_t{turn.tree} * trees.leaf_width;
    if (trees.leaf_width == 1) {
      to[trees.output] += leaves[turn.at] - leaves[turn.from];
    } else {
      for (std::size_t k = 0; k < trees.leaf_width; ++k)
        to[k] += leaves[turn.at * trees.leaf_width + k] - leaves[turn.from * trees.leaf_width + k];
    }
  }

  void arrive(const Turn<T>* turns, std::size_t count, TreeBallSums& sums) const {
    const Turner own = *this;
    const std::size_t margins = sums.margins();
    std::int64_t* const to = sums.at(0);
    unsigned char* const marks = sums.marks(0);
    for (std::size_t i = 0; i < count; ++i) {
      const Turn<T> turn = turns[i];
      own.add(turn, to + (std::size_t{turn.mark} * own.points + turn.point) * margins);
      marks[turn.mark] = 1;
    }
  }

  // The bases and last vertices, a bit each, that go another way than the row at its split of this level.
  std::uint64_t apart(const Near& near, unsigned level) const {
    const std::uint32_t slot = (first + near.tree) * slots + ((slots + near.leaf) >> (trees.depth - level));
    const std::uint32_t right = (near.leaf >> (trees.depth - 1 - level)) & 1U;
    const TurnSplit<T>& split = splits[slot];
    const std::uint32_t begin_of_row = values_of(near.row, 0), stride = inputs << block_bits;
    std::uint64_t found = 0;
    const auto look = [&](std::uint32_t base, std::uint32_t point, unsigned bit) {
      T value{};
      if constexpr (std::is_same_v<T, float>) {
        value = values[begin_of_row + base * stride + static_cast<std::uint32_t>(split.input)];
      } else {
        value = at_base(base_turn(near, base, point), split.input);
      }
      found |= std::uint64_t{goes_right(split, value, slot) ^ right} << bit;
    };
    if (shifted)
      for (std::uint32_t p = 0; p < points; ++p) look(base_of(p), p, p);
    for (std::uint32_t p = 0; p < last; ++p) look(base_of_last(p), points + p, kLastBit + p);
    return found;
  }

  // All points of a base that goes its own way.
  void walk_base(const Near& near, std::uint32_t point, std::vector<Turn<T>>& turns,
                 TreeBallSums& sums) const {
    Turn<T> base = base_turn(near, base_of(point), point);
    walk(base);
    add(base, sums.at(sums.base(near.row, point)));
    std::uint32_t heap = 1;
    for (unsigned level = 0; level < trees.depth; ++level) {
      const std::uint32_t right = (base.at >> (trees.depth - 1 - level)) & 1U;
      if (begin(base.tree, heap, right, near.row, point, base.at, turns[0])) {
        descend(level + 1, turns.data(), 1);
        arrive(turns.data(), 1, sums);
      }
      heap = 2 * heap + right;
    }
  }

  void walk_last(const Near& near, std::uint32_t point, TreeBallSums& sums) const {
    Turn<T> turn = base_turn(near, base_of_last(point), points + point);
    walk(turn);
    add(turn, sums.at(sums.last(near.row, point)));
  }
};

template <class T>
std::vector<Turn<T>>& TreeTurns::turns() {
  if constexpr (std::is_same_v<T, float>) {
    return single_;
  } else {
    return exact_;
  }
}

template <bool Missing>
void TreeTurns::walk_level(const Turner<float, Missing>& turner, const TurnLevel& near,
                           const std::uint32_t (&way)[2], const std::uint64_t* apart, TreeBallSums& sums) {
  const std::size_t room = near.count + kernel_.block;
  if (found_.size() < room) {
    for (auto* each : {&found_, &mark_, &place_}) each->resize(room);
    begin_.resize(room);
    leaf_.resize(room);
    own_.resize(room);
  }
  TurnLevel points{.found = found_.data(),
                   .count = 0,
                   .level = near.level,
                   .first = turner.first,
                   .splits = &turner.splits->threshold,
                   .values = turner.values,
                   .begin = begin_.data(),
                   .own = own_.data(),
                   .missing = Missing,
                   .leaf = leaf_.data()};
  points.count = turner.own_points(near, way, apart, sums,
                                   {found_.data(), mark_.data(), place_.data(), begin_.data(), own_.data()});
  kernel_.turn_off(turner.trees, points);
  turner.arrive(points, mark_.data(), place_.data(), sums);
}

template <class T, bool Missing>
void TreeTurns::walk_by(const PackedTrees& trees, const std::vector<TurnSplit<T>>& splits, std::size_t first,
                        const NearRows& near, const TurnRows& rows, TreeBallSums& sums) {
  const Turner<T, Missing> turner(trees, splits, first, inputs_, rows, sums);
  const TurnSteps& steps = *rows.steps;
  const std::size_t most = std::max(steps.side[0].size(), steps.side[1].size());
  picked_.resize(near.count + kernel_.block);
  std::vector<Turn<T>>& turns = this->turns<T>();
  if (turns.size() < near.count + 1) turns.resize(near.count + 1);
  const bool bases = steps.shifted || steps.last > 0;
  apart_rows_.clear();
  const auto apart_at = [&](const Near& at) -> std::uint64_t& {
    return apart_[at.tree * NearRows::kMostRows + at.row];
  };
  if (bases) {
    apart_.resize(NearRows::kMostTrees * NearRows::kMostRows);
    for (std::size_t i = 0; i < near.count; ++i) {
      const Near at(near.found[i]);
      std::uint64_t ways = 0;
      for (std::uint32_t levels = near.found[i] & 0xFFU; levels != 0; levels &= levels - 1)
        ways |= turner.apart(at, static_cast<unsigned>(std::countr_zero(levels)));
      apart_at(at) = ways;
      if (ways != 0) apart_rows_.push_back(near.found[i]);
    }
  }
  const std::uint64_t* const apart = bases ? apart_.data() : nullptr;
  for (unsigned level = 0; level < trees.depth; ++level) {
    TurnLevel picked{.found = picked_.data(), .level = level};
    picked.count = kernel_.pick_level(near, level, picked_.data());
    for (std::size_t w = 0; w < most; ++w) {
      const auto point = [&](std::size_t side) {
        return w < steps.side[side].size() ? steps.side[side][w] : kNone;
      };
      const std::uint32_t way[2] = {point(0), point(1)};
      if constexpr (std::is_same_v<T, float>) {
        if (kernel_.turn_off != nullptr) {
          walk_level(turner, picked, way, apart, sums);
          continue;
        }
      }
      const std::size_t count = turner.begin_level(picked, way, apart, turns.data());
      turner.descend(level + 1, turns.data(), count);
      turner.arrive(turns.data(), count, sums);
    }
  }
  for (const std::uint32_t found : apart_rows_) {
    const Near at(found);
    for (std::uint64_t ways = apart_at(at); ways != 0; ways &= ways - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(ways));
      if (bit < kLastBit) {
        turner.walk_base(at, bit, turns, sums);
      } else {
        turner.walk_last(at, bit - kLastBit, sums);
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
