#pragma once

// Deep trees, walked by many rows or points at once; see tree_walk_simd.hpp. Where a value equals a threshold
// in float32 and rows are double, the lane is decided by the exact numbers at once.

#include "tree_deep_walk.hpp"
#include "tree_near_simd.hpp"

namespace harmonia {
namespace {

// A mask whose tied lanes are as `decide` says of them.
template <class V, class Decide>
[[gnu::noinline]] typename V::Mask decided(typename V::Mask mask, typename V::Mask tie,
                                           const Decide& decide) {
  std::int32_t out[V::kLanes];
  V::store(out, V::blend(mask, V::broadcast(-1), V::broadcast(0)));
  for (std::size_t lane = 0; lane < V::kLanes; ++lane)
    if (V::lane(tie, lane)) out[lane] = decide(lane) ? -1 : 0;
  return V::negative(V::load(out));
}

// What lanes meet at their slots, and where they go.
template <class V>
struct DeepStep {
  typename V::Floats value, threshold;
  typename V::Ints input, child;
  typename V::Mask right;
};

// `value_of` says what lanes compare of their inputs, `exact` the same of one lane in double.
template <class V, bool Missing, bool Exact, class Value, class ExactValue>
[[gnu::always_inline]] inline DeepStep<V> step_down(const DeepTrees& trees, typename V::Ints at,
                                                    const Value& value_of, const ExactValue& exact) {
  const float* const slots = &trees.slots->threshold;
  const auto* const numbers = reinterpret_cast<const std::int32_t*>(slots);
  const auto split = V::gather_pairs(slots, V::add(at, at));
  const auto place = V::template shift_left<2>(at);
  DeepStep<V> step{.value = value_of(split.second),
                   .threshold = split.first,
                   .input = split.second,
                   .child = V::gather(numbers + 2, place),
                   .right = V::none()};
  auto missing_left = V::broadcast(0);
  if constexpr (Missing) missing_left = V::gather(numbers + 3, place);
  auto tie = V::none();
  step.right = right_of<V, Missing, Exact>(step.value, step.threshold, missing_left, tie);
  if constexpr (Exact) {
    if (V::any(tie)) {
      std::int32_t slot[V::kLanes];
      V::store(slot, at);
      step.right = decided<V>(step.right, tie, [&](std::size_t lane) {
        const auto of = static_cast<std::size_t>(slot[lane]);
        return !(exact(lane, static_cast<std::size_t>(trees.slots[of].input) / V::kLanes) < trees.exact[of]);
      });
    }
  }
  return step;
}

// The leaves that lanes have come to.
template <class V>
typename V::Ints deep_leaf(const DeepTrees& trees, typename V::Ints at) {
  return V::gather(&trees.slots->missing, V::template shift_left<2>(at));
}

template <class V, bool Missing, bool Exact, std::size_t N>
[[gnu::flatten]] void near_deep_trees(const DeepTrees& trees, std::size_t from, std::size_t first,
                                      const DeepRows& rows, typename V::Sums& total, DeepNear& near) {
  const auto meant = first_lanes<V>(rows.count);
  const auto value_of = [&](typename V::Ints input) {
    return V::gather(rows.x, V::add(input, V::lane_numbers()));
  };
  const auto exact = [&](std::size_t lane, std::size_t input) {
    return rows.exact(rows.source, lane < rows.count ? lane : rows.count - 1, input);
  };
  typename V::Ints at[N], who[N];
  bool arrived[N];
  for (std::size_t c = 0; c < N; ++c) {
    at[c] = V::broadcast(static_cast<std::int32_t>(trees.first[first + c]));
    const std::size_t tree = first + c - from;
    const auto number = static_cast<std::uint32_t>(tree << DeepNear::kTree) + (rows.first << DeepNear::kRow);
    who[c] = V::add(V::broadcast(static_cast<std::int32_t>(number)),
                    V::template shift_left<DeepNear::kRow>(V::lane_numbers()));
    arrived[c] = false;
  }
  for (std::size_t walking = N; walking > 0;) {
    for (std::size_t c = 0; c < N; ++c) {
      if (arrived[c]) continue;
      const auto step = step_down<V, Missing, Exact>(trees, at[c], value_of, exact);
      const auto reach = V::gather(rows.reach, V::add(step.input, V::lane_numbers()));
      const auto listed = V::both(meant, V::within(step.value, step.threshold, reach));
      const auto other = V::next(step.child, V::and_not(step.right, V::fill(-1)));
      V::append(near.slot + near.count, listed, other);
      near.count += V::append(near.who + near.count, listed, V::with_bit(who[c], step.right, 1));
      const auto next = V::next(step.child, step.right);
      if (V::all(V::same(next, at[c]))) {
        arrived[c] = true;
        --walking;
      }
      at[c] = next;
    }
  }
  for (std::size_t c = 0; c < N; ++c) {
    const auto leaf = deep_leaf<V>(trees, at[c]);
    V::store(rows.leaf + (first + c - from) * DeepNear::kMostRows + rows.first, leaf);
    if (rows.sums == nullptr) continue;
    if (trees.leaf_width == 1) {
      V::accumulate(total, trees.leaf, leaf);
      continue;
    }
    const auto place = V::multiply(leaf, V::broadcast(static_cast<std::int32_t>(trees.leaf_width)));
    for (std::size_t k = 0; k < trees.leaf_width; ++k) {
      auto sum = V::load_sums(rows.sums + k * V::kLanes);
      V::accumulate(sum, trees.leaf + k, place);
      V::store(rows.sums + k * V::kLanes, sum);
    }
  }
}

template <class V, bool Missing, bool Exact>
void find_near_deep_of(const DeepTrees& trees, std::size_t first, std::size_t last, const DeepRows& rows,
                       DeepNear& near) {
  const bool single = rows.sums != nullptr && trees.leaf_width == 1;
  auto total = single ? V::load_sums(rows.sums + trees.output * V::kLanes) : V::zero_sums();
  std::size_t tree = first;
  for (; tree + kChains <= last; tree += kChains)
    near_deep_trees<V, Missing, Exact, kChains>(trees, first, tree, rows, total, near);
  for (; tree < last; ++tree) near_deep_trees<V, Missing, Exact, 1>(trees, first, tree, rows, total, near);
  if (single) V::store(rows.sums + trees.output * V::kLanes, total);
  _mm256_zeroupper();
}

template <class V>
void find_near_deep(const DeepTrees& trees, std::size_t first, std::size_t last, const DeepRows& rows,
                    DeepNear& near) {
  if (trees.exact == nullptr) {
    rows.missing ? find_near_deep_of<V, true, false>(trees, first, last, rows, near)
                 : find_near_deep_of<V, false, false>(trees, first, last, rows, near);
  } else {
    rows.missing ? find_near_deep_of<V, true, true>(trees, first, last, rows, near)
                 : find_near_deep_of<V, false, true>(trees, first, last, rows, near);
  }
}

// Points that may turn off, a lane each.
template <class V>
struct DeepLanes {
  typename V::Ints slot, who, input;
  typename V::Ints begin, own;  // where values of the base begin, and of the point
};

// Of a list; what fills up the last vector is its first point again.
template <class V>
[[gnu::always_inline]] inline DeepLanes<V> deep_lanes(const DeepTrees& trees, const DeepPoints& points,
                                                      const std::uint32_t* slot, const std::uint32_t* who,
                                                      typename V::Mask meant) {
  const auto* const slots = reinterpret_cast<const std::int32_t*>(slot);
  const auto* const whose = reinterpret_cast<const std::int32_t*>(who);
  DeepLanes<V> lanes;
  lanes.slot = V::blend(meant, V::load(slots), V::broadcast(*slots));
  lanes.who = V::blend(meant, V::load(whose), V::broadcast(*whose));
  const auto row =
      V::both_bits(lanes.who, V::broadcast(static_cast<std::int32_t>(2 * DeepNear::kMostRows - 1)));
  lanes.begin = V::gather(points.begin, V::template shift_right<DeepNear::kRow>(row));
  lanes.input = V::gather(&trees.turns->input, V::template shift_left<2>(lanes.slot));
  lanes.own = V::gather(points.own, row);
  return lanes;
}

// Keeps those that turn off.
template <class V, bool Exact>
[[gnu::flatten]] void keep_turned(const DeepTrees& trees, DeepPoints& points) {
  const DeepNear& near = *points.near;
  const float* const turns = trees.turns->bound;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < near.count; i += V::kLanes) {
    const auto meant = first_lanes<V>(near.count - i);
    const auto lanes = deep_lanes<V>(trees, points, near.slot + i, near.who + i, meant);
    const auto bounds = V::gather_pairs(turns, V::add(lanes.slot, lanes.slot));
    const auto upper = V::as_floats(bounds.second);
    const auto value = V::gather(points.values, V::add(lanes.own, lanes.input));
    auto inside = V::and_not(V::not_less(value, upper), V::not_less(value, bounds.first));
    if constexpr (Exact) {
      const auto tie = V::either(V::equal(value, bounds.first), V::equal(value, upper));
      if (V::any(tie)) {
        std::int32_t slot[V::kLanes], who[V::kLanes];
        V::store(slot, lanes.slot);
        V::store(who, lanes.who);
        inside = decided<V>(inside, tie, [&](std::size_t lane) {
          const auto of = static_cast<std::size_t>(slot[lane]);
          const double own = points.exact(points.source, static_cast<std::uint32_t>(who[lane]), true,
                                          static_cast<std::size_t>(trees.turns[of].input) / V::kLanes);
          return own >= trees.exact_bounds[2 * of] && own < trees.exact_bounds[2 * of + 1];
        });
      }
    }
    const auto turned = V::both(meant, inside);
    V::append(points.slot + kept, turned, lanes.slot);
    kept += V::append(points.who + kept, turned, lanes.who);
  }
  points.count = kept;
}

// Lanes whose input is of the point's own column.
template <class V>
[[gnu::always_inline]] inline typename V::Mask own_inputs(const DeepTrees& trees, typename V::Ints input,
                                                          typename V::Ints own) {
  constexpr unsigned kBlockBits = V::kLanes == 16 ? 4 : 3;
  if (trees.column == nullptr) return V::same(input, own);
  return V::same(V::gather(trees.column, V::template shift_right<kBlockBits>(input)),
                 V::gather(trees.column, V::template shift_right<kBlockBits>(own)));
}

// N vectors of points that turn off, from the i-th on, to their leaves.
template <class V, bool Missing, bool Exact, std::size_t N>
[[gnu::flatten]] void lead_to_leaves(const DeepTrees& trees, const DeepPoints& points, std::size_t i) {
  DeepLanes<V> lanes[N];
  bool arrived[N];
  for (std::size_t c = 0; c < N; ++c) {
    const std::size_t at = i + c * V::kLanes;
    lanes[c] =
        deep_lanes<V>(trees, points, points.slot + at, points.who + at, first_lanes<V>(points.count - at));
    arrived[c] = false;
  }
  for (std::size_t walking = N; walking > 0;) {
    for (std::size_t c = 0; c < N; ++c) {
      if (arrived[c]) continue;
      DeepLanes<V>& lane = lanes[c];
      const auto step = step_down<V, Missing, Exact>(
          trees, lane.slot,
          [&](typename V::Ints input) {
            const auto own = own_inputs<V>(trees, input, lane.input);
            return V::gather(points.values, V::add(input, V::blend(own, lane.own, lane.begin)));
          },
          [&](std::size_t number, std::size_t input) {
            std::int32_t who[V::kLanes], turned[V::kLanes];
            V::store(who, lane.who);
            V::store(turned, lane.input);
            const std::size_t of = static_cast<std::size_t>(turned[number]) / V::kLanes;
            const bool own = trees.column == nullptr ? of == input : trees.column[of] == trees.column[input];
            return points.exact(points.source, static_cast<std::uint32_t>(who[number]), own, input);
          });
      const auto next = V::next(step.child, step.right);
      if (V::all(V::same(next, lane.slot))) {
        arrived[c] = true;
        --walking;
      }
      lane.slot = next;
    }
  }
  for (std::size_t c = 0; c < N; ++c)
    V::store(points.leaf + i + c * V::kLanes, deep_leaf<V>(trees, lanes[c].slot));
}

template <class V, bool Missing, bool Exact>
void turn_off_deep_of(const DeepTrees& trees, DeepPoints& points) {
  keep_turned<V, Exact>(trees, points);
  std::size_t i = 0;
  for (; i + kChains * V::kLanes <= points.count; i += kChains * V::kLanes)
    lead_to_leaves<V, Missing, Exact, kChains>(trees, points, i);
  for (; i < points.count; i += V::kLanes) lead_to_leaves<V, Missing, Exact, 1>(trees, points, i);
  _mm256_zeroupper();
}

template <class V>
void turn_off_deep(const DeepTrees& trees, DeepPoints& points) {
  if (trees.exact == nullptr) {
    points.missing ? turn_off_deep_of<V, true, false>(trees, points)
                   : turn_off_deep_of<V, false, false>(trees, points);
  } else {
    points.missing ? turn_off_deep_of<V, true, true>(trees, points)
                   : turn_off_deep_of<V, false, true>(trees, points);
  }
}

}  // namespace
}  // namespace harmonia
