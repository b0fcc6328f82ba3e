#pragma once

// What balls around rows need of the walk (see tree_walk_simd.hpp): the splits near which a row passes, and
// the ways of points that turn off there.

#include "tree_walk_simd.hpp"

namespace harmonia {
namespace {

// Two outcomes of one split for all lanes.
template <class V>
struct NearSplit {
  typename V::Mask right, near;
};

template <class V, bool Missing>
NearSplit<V> near_split(typename V::Floats value, typename V::Floats threshold, typename V::Floats reach,
                        typename V::Mask missing_left) {
  auto right = V::not_less(value, threshold);
  if constexpr (Missing) right = V::and_not(V::both(missing_left, V::is_nan(value)), right);
  return {right, V::within(value, threshold, reach)};
}

// A split that all lanes are compared with.
template <class V, bool Missing>
NearSplit<V> near_split_at(const PackedTrees& trees, const float* reach, std::size_t slot,
                           const float* lanes) {
  return near_split<V, Missing>(V::load(lanes + trees.input[slot]), V::broadcast(trees.threshold[slot]),
                                V::broadcast(reach[slot]), V::fill(trees.missing_left[slot]));
}

template <class V>
NearSplit<V> choose(typename V::Mask mask, const NearSplit<V>& yes, const NearSplit<V>& no) {
  return {V::choose(mask, yes.right, no.right), V::choose(mask, yes.near, no.near)};
}

// The slot tree_slot + position of each lane, with its number.
template <class V>
void list_near(NearSplits& near, unsigned level, typename V::Mask mask, std::size_t tree_slot,
               typename V::Ints position) {
  const auto slot = V::add(position, V::broadcast(static_cast<std::int32_t>(tree_slot)));
  const auto entry =
      V::add(V::multiply(slot, V::broadcast(static_cast<std::int32_t>(V::kLanes))), V::lane_numbers());
  near.count[level] += V::append(near.found[level] + near.count[level], mask, entry);
}

// The first levels of every tree: all their splits are compared with all lanes.
constexpr unsigned kNearTogether = 3;

template <class V, unsigned Depth, bool Missing, std::size_t N>
void near_together(const PackedTrees& trees, const float* reach, const float* lanes, Chain<V> (&chains)[N],
                   NearSplits& near) {
  for (Chain<V>& chain : chains) {
    const std::size_t slot = chain.tree << Depth;
    const auto at = [&](std::size_t heap) {
      return near_split_at<V, Missing>(trees, reach, slot + heap, lanes);
    };
    chain.at = V::broadcast(1);
    if constexpr (Depth > 0) {
      const NearSplit<V> root = at(1);
      list_near<V>(near, 0, root.near, slot, chain.at);
      chain.at = V::child(chain.at, root.right);
      if constexpr (Depth > 1) {
        const NearSplit<V> second = choose<V>(root.right, at(3), at(2));
        list_near<V>(near, 1, second.near, slot, chain.at);
        chain.at = V::child(chain.at, second.right);
        if constexpr (Depth > 2) {
          const NearSplit<V> third = choose<V>(second.right, choose<V>(root.right, at(7), at(5)),
                                               choose<V>(root.right, at(6), at(4)));
          list_near<V>(near, 2, third.near, slot, chain.at);
          chain.at = V::child(chain.at, third.right);
        }
      }
    }
  }
}

template <class V, unsigned Level, unsigned Depth, bool Missing, std::size_t N>
void near_apart(const PackedTrees& trees, const float* reach, const float* lanes, Chain<V> (&chains)[N],
                NearSplits& near) {
  if constexpr (Level < Depth) {
    for (Chain<V>& chain : chains) {
      const std::size_t slot = chain.tree << Depth;
      const auto input = V::template slot<Level>(trees.input + slot, chain.at);
      auto missing_left = V::none();
      if constexpr (Missing)
        missing_left = V::negative(V::template slot<Level>(trees.missing_left + slot, chain.at));
      const NearSplit<V> split =
          near_split<V, Missing>(V::gather(lanes, V::add(input, V::lane_numbers())),
                                 V::template slot<Level>(trees.threshold + slot, chain.at),
                                 V::template slot<Level>(reach + slot, chain.at), missing_left);
      list_near<V>(near, Level, split.near, slot, chain.at);
      chain.at = V::child(chain.at, split.right);
    }
    near_apart<V, Level + 1, Depth, Missing>(trees, reach, lanes, chains, near);
  }
}

template <class V, unsigned Depth, bool Missing, std::size_t N>
void near_trees(const PackedTrees& trees, const float* reach, std::size_t from, std::size_t first,
                const float* lanes, typename V::Sums& total, std::int64_t* sums, std::int32_t* leaves,
                NearSplits& near) {
  Chain<V> chains[N];
  for (std::size_t c = 0; c < N; ++c) chains[c].tree = first + c;
  near_together<V, Depth, Missing>(trees, reach, lanes, chains, near);
  near_apart<V, kNearTogether, Depth, Missing>(trees, reach, lanes, chains, near);
  for (Chain<V>& chain : chains) {
    chain.at = V::add(chain.at, V::broadcast(-(1 << Depth)));
    V::store(leaves + (chain.tree - from) * V::kLanes, chain.at);
    const std::int64_t* leaf = trees.leaf + (chain.tree << Depth) * trees.leaf_width;
    if (trees.leaf_width == 1) {
      V::accumulate(total, leaf, chain.at);
      continue;
    }
    const auto place = V::multiply(chain.at, V::broadcast(static_cast<std::int32_t>(trees.leaf_width)));
    for (std::size_t k = 0; k < trees.leaf_width; ++k) {
      auto sum = V::load_sums(sums + k * V::kLanes);
      V::accumulate(sum, leaf + k, place);
      V::store(sums + k * V::kLanes, sum);
    }
  }
}

template <class V, unsigned Depth, bool Missing>
void find_near_of(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                  const TreeRows& rows, std::int64_t* sums, std::int32_t* leaves, NearSplits& near) {
  std::int64_t* const own = sums + trees.output * V::kLanes;
  auto total = V::load_sums(own);
  std::size_t tree = first;
  for (; tree + kChains <= last; tree += kChains)
    near_trees<V, Depth, Missing, kChains>(trees, reach, first, tree, rows.x, total, sums, leaves, near);
  for (; tree < last; ++tree)
    near_trees<V, Depth, Missing, 1>(trees, reach, first, tree, rows.x, total, sums, leaves, near);
  if (trees.leaf_width == 1) V::store(own, total);
}

template <class V, unsigned Depth = 0>
void find_near_any_depth(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                         const TreeRows& rows, std::int64_t* sums, std::int32_t* leaves, NearSplits& near) {
  if constexpr (Depth < kCompleteDepth) {
    if (trees.depth != Depth)
      return find_near_any_depth<V, Depth + 1>(trees, reach, first, last, rows, sums, leaves, near);
  }
  rows.missing ? find_near_of<V, Depth, true>(trees, reach, first, last, rows, sums, leaves, near)
               : find_near_of<V, Depth, false>(trees, reach, first, last, rows, sums, leaves, near);
}

// The lanes of a vector that are entries, of `left` that are left.
template <class V>
typename V::Mask first_lanes(std::size_t left) {
  return left >= V::kLanes
             ? V::fill(-1)
             : V::negative(V::subtract(V::lane_numbers(), V::broadcast(static_cast<std::int32_t>(left))));
}

// Near splits, each as one row meets it.
template <class V>
struct Met {
  typename V::Ints slot, lane, at;  // at: tree and lane among leaves
  typename V::Ints input;           // of the split, times the rows of a block
  typename V::Floats threshold;
  typename V::Mask right;  // where the row goes
  typename V::Ints leaf;   // that it reaches, counted from the tree's first
  typename V::Mask valid;  // what fills up the last vector is its first entry again, and is not meant

  Met(const PackedTrees& trees, const NearLevel& near, std::size_t first) {
    constexpr auto kLanes = static_cast<std::int32_t>(V::kLanes);
    valid = first_lanes<V>(near.count - first);
    const auto* found = reinterpret_cast<const std::int32_t*>(near.found) + first;
    const auto entry = V::blend(valid, V::load(found), V::broadcast(*found));
    slot = V::template shift_right<V::kLaneBits>(entry);
    lane = V::both_bits(entry, V::broadcast(kLanes - 1));
    const auto tree = V::subtract(V::shift_right_by(slot, trees.depth),
                                  V::broadcast(static_cast<std::int32_t>(near.first)));
    at = V::add(V::multiply(tree, V::broadcast(kLanes)), lane);
    input = V::gather(trees.input, slot);
    threshold = V::gather(trees.threshold, slot);
    leaf = V::gather(near.leaves, at);
    right = V::has_bit(leaf, 1 << (trees.depth - 1 - near.level));
  }
};

// Sets a bit of entries that are meant.
template <class V>
void set_bits(std::uint32_t* bits, typename V::Mask mask, typename V::Ints at, std::size_t bit) {
  if (!V::any(mask)) return;
  std::int32_t place[V::kLanes];
  V::store(place, at);
  for (std::size_t i = 0; i < V::kLanes; ++i)
    if (V::lane(mask, i)) bits[place[i]] |= 1U << bit;
}

template <class V>
void find_apart_of(const PackedTrees& trees, const BallRows& rows, const NearLevel& near) {
  const std::size_t size = rows.inputs * V::kLanes;
  for (std::size_t e = 0; e < near.count; e += V::kLanes) {
    const Met<V> met(trees, near, e);
    const auto value = V::add(met.input, met.lane);
    for (std::size_t p = 0; p < rows.points; ++p) {
      const auto right = V::not_less(V::gather(rows.values + (1 + p) * size, value), met.threshold);
      set_bits<V>(near.apart, V::both(met.valid, V::differ(right, met.right)), met.at, p);
    }
  }
}

// From heap positions on `level` to leaves, counted from the pack's first: rows or bases whose values begin
// at `row`, with one input replaced. Lanes are in different trees.
template <class V, bool Missing>
typename V::Ints leaves_from(const PackedTrees& trees, unsigned level, const float* values,
                             typename V::Ints tree, typename V::Ints at, typename V::Ints row,
                             typename V::Ints own, typename V::Floats value) {
  for (unsigned l = level; l < trees.depth; ++l) {
    const auto slot = V::add(tree, at);
    const auto input = V::gather(trees.input, slot);
    const auto seen = V::blend(V::same(input, own), value, V::gather(values, V::add(input, row)));
    auto right = V::not_less(seen, V::gather(trees.threshold, slot));
    if constexpr (Missing)
      right = V::and_not(V::both(V::negative(V::gather(trees.missing_left, slot)), V::is_nan(seen)), right);
    at = V::child(at, right);
  }
  return V::add(V::add(tree, at), V::broadcast(-(1 << trees.depth)));
}

// The own points of entries, one above or one below each row.
template <class V, bool Missing, bool Even>
void turn_own(const PackedTrees& trees, const BallRows& rows, const NearLevel& near, const Met<V>& met,
              typename V::Mask valid, std::size_t way, Branches& out) {
  const auto number = [](std::size_t n) { return V::broadcast(static_cast<std::int32_t>(n)); };
  const auto input = V::template shift_right<V::kLaneBits>(met.input);
  const auto point = V::blend(met.right, V::broadcast(rows.down[way]), V::broadcast(rows.up[way]));
  const auto there = V::and_not(V::negative(point), valid);
  const auto safe = V::blend(there, point, V::broadcast(0));
  const auto step = V::add(V::multiply(safe, number(rows.inputs)), input);
  const auto add_steps = [&](typename V::Doubles to, const double* steps) {
    if constexpr (!Even) return V::add(to, V::gather(steps, step));
    const auto of = [&](std::int32_t p) {
      return steps[p < 0 ? 0 : static_cast<std::size_t>(p) * rows.inputs];
    };
    return V::add(to, V::choose(met.right, of(rows.down[way]), of(rows.up[way])));
  };
  auto moved = V::gather(rows.exact, V::add(met.input, met.lane));
  if (rows.shifted) moved = add_steps(moved, rows.base_step);
  const auto value = V::single(add_steps(moved, rows.own_step));
  const auto bound = V::gather(near.bounds, V::child(met.slot, met.right));
  auto turned = V::both(there, V::differ(V::not_less(value, met.threshold), met.right));
  // Below the first bound if the row goes left, not below the second if it goes right.
  turned = V::and_not(V::differ(V::not_less(value, bound), met.right), turned);
  if (rows.shifted) {
    const auto apart = V::gather(reinterpret_cast<const std::int32_t*>(near.apart), met.at);
    turned = V::both(turned, V::no_bits(apart, V::power_of_two(safe)));
  }
  if (!V::any(turned)) return;
  const auto slots = static_cast<std::int32_t>(1U << trees.depth);
  const auto heap = V::both_bits(met.slot, V::broadcast(slots - 1)), tree = V::subtract(met.slot, heap);
  auto row = met.lane;
  if (rows.shifted)
    row = V::add(row, V::multiply(V::add(safe, V::broadcast(1)), number(rows.inputs * V::kLanes)));
  const auto from = V::add(tree, met.leaf);
  const auto leaf =
      leaves_from<V, Missing>(trees, near.level + 1, rows.values, tree,
                              V::child(heap, V::and_not(met.right, V::fill(-1))), row, met.input, value);
  const auto group = Even ? input : V::gather(rows.group, input);
  const auto mark = V::add(V::multiply(met.lane, number(rows.groups)), group);
  const auto place = V::multiply(V::add(V::multiply(mark, number(rows.points)), safe), number(rows.margins));
  V::store(out.position + out.count, V::blend(turned, leaf, from));
  V::store(out.leaf + out.count, from);
  V::store(out.mark + out.count, V::blend(turned, mark, number(V::kLanes * rows.groups)));
  V::store(out.place + out.count, V::blend(turned, place, V::broadcast(0)));
  out.count += V::kLanes;
}

// A point of the last vertex, of the entries where it turns off. They are few, and are put side by side.
template <class V>
void turn_last(const PackedTrees& trees, const BallRows& rows, const NearLevel& near, const Met<V>& met,
               typename V::Mask valid, std::size_t point, Branches& out) {
  const auto number = [](std::size_t n) { return V::broadcast(static_cast<std::int32_t>(n)); };
  const std::size_t from = (1 + (rows.shifted ? rows.points : 0) + point) * rows.inputs * V::kLanes;
  const auto value = V::gather(rows.values + from, V::add(met.input, met.lane));
  auto turned = V::both(valid, V::differ(V::not_less(value, met.threshold), met.right));
  if (!V::any(turned)) return;
  const auto gone = V::gather(reinterpret_cast<const std::int32_t*>(near.gone), met.at);
  turned = V::both(turned, V::no_bits(gone, V::broadcast(static_cast<std::int32_t>(1U << point))));
  set_bits<V>(near.gone, turned, met.at, point);
  const auto slots = static_cast<std::int32_t>(1U << trees.depth);
  const auto heap = V::both_bits(met.slot, V::broadcast(slots - 1)), tree = V::subtract(met.slot, heap);
  const auto place = V::add(
      V::multiply(V::add(V::multiply(met.lane, number(rows.last)), number(point)), number(rows.margins)),
      number(V::kLanes * rows.groups * rows.points * rows.margins));
  const std::size_t c = out.count;
  V::compress(out.tree + c, turned, tree);
  V::compress(out.position + c, turned, V::child(heap, V::and_not(met.right, V::fill(-1))));
  V::compress(out.row + c, turned, V::add(met.lane, number(from)));
  V::compress(out.leaf + c, turned, V::add(tree, met.leaf));
  V::compress(out.mark + c, turned, number(V::kLanes * rows.groups));
  V::compress(out.place + c, turned, place);
  out.count += V::count(turned);
}

template <class V, bool Missing, bool Even>
void turn_off_all(const PackedTrees& trees, const BallRows& rows, const NearLevel& near, Branches& arrived,
                  Branches& last) {
  for (std::size_t e = 0; e < near.count; e += V::kLanes) {
    const Met<V> met(trees, near, e);
    const auto inside =
        V::negative(V::subtract(met.lane, V::broadcast(static_cast<std::int32_t>(rows.lanes))));
    const auto valid = V::both(met.valid, inside);
    for (std::size_t way = 0; way < rows.ways; ++way)
      turn_own<V, Missing, Even>(trees, rows, near, met, valid, way, arrived);
    for (std::size_t p = 0; p < rows.last; ++p) turn_last<V>(trees, rows, near, met, valid, p, last);
  }
}

template <class V>
void turn_off_of(const PackedTrees& trees, const BallRows& rows, const NearLevel& near, Branches& arrived,
                 Branches& last) {
  if (rows.missing) {
    rows.even ? turn_off_all<V, true, true>(trees, rows, near, arrived, last)
              : turn_off_all<V, true, false>(trees, rows, near, arrived, last);
  } else {
    rows.even ? turn_off_all<V, false, true>(trees, rows, near, arrived, last)
              : turn_off_all<V, false, false>(trees, rows, near, arrived, last);
  }
}

template <class V, bool Missing>
void descend_of(const PackedTrees& trees, unsigned level, const float* values, const Branches& branches) {
  for (std::size_t b = 0; b < branches.count; b += V::kLanes) {
    V::store(branches.position + b,
             leaves_from<V, Missing>(trees, level, values, V::load(branches.tree + b),
                                     V::load(branches.position + b), V::load(branches.row + b),
                                     V::broadcast(-1), V::broadcast(0.0F)));
  }
}

template <class V>
void descend_any_depth(const PackedTrees& trees, unsigned level, const float* values, bool missing,
                       const Branches& branches) {
  missing ? descend_of<V, true>(trees, level, values, branches)
          : descend_of<V, false>(trees, level, values, branches);
}

}  // namespace
}  // namespace harmonia
