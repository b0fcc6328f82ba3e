#pragma once

// Where the points around rows turn off, and what they find there (see tree_near_simd.hpp).

#include <algorithm>
#include <bit>

#include "tree_near_simd.hpp"

namespace harmonia {
namespace {

// What the numbers of NearRows stand for, a vector at a time.
template <class V>
struct TurnPlaces {
  using Ints = typename V::Ints;
  static constexpr auto kBits = static_cast<unsigned>(std::countr_zero(V::kLanes));
  const PackedTrees& trees;
  const TurnedPoints& points;
  Ints slots;

  TurnPlaces(const PackedTrees& of, const TurnedPoints& around)
      : trees(of), points(around), slots(V::broadcast(static_cast<std::int32_t>(1U << of.depth))) {}

  // What fills up the last vector is its first point again.
  Ints entry(typename V::Mask meant, std::size_t i) const {
    const auto* found = reinterpret_cast<const std::int32_t*>(points.found) + i;
    return V::blend(meant, V::load(found), V::broadcast(*found));
  }
  Ints tree(Ints entry) const {
    return V::shift_left_by(V::template shift_right<NearRows::kTree>(entry), trees.depth);
  }
  Ints row(Ints entry) const {
    return V::both_bits(V::template shift_right<NearRows::kRow>(entry),
                        V::broadcast(static_cast<std::int32_t>(NearRows::kMostRows - 1)));
  }
  Ints leaf(Ints entry) const {
    return V::both_bits(V::template shift_right<NearRows::kLeaf>(entry), V::broadcast(0xFF));
  }
  // The heap position of the split on the way to a leaf, and whether that way goes right there.
  Ints split(Ints leaf) const { return V::shift_right_by(V::add(leaf, slots), points.below); }
  typename V::Mask right(Ints leaf) const { return V::has_bit(leaf, 1 << (points.below - 1)); }
  // Where the values begin of a row's base, from where those of the first row's do.
  Ints begin(Ints row, Ints first) const {
    const auto lane = V::both_bits(row, V::broadcast(static_cast<std::int32_t>(V::kLanes - 1)));
    const auto block = V::template shift_right<kBits>(row);
    return V::add(V::add(lane, first), V::multiply(block, V::broadcast(points.block_values)));
  }
};

template <class V, bool Missing>
typename V::Mask goes_right_at(const TurnedPoints& points, typename V::Ints slot, typename V::Floats value,
                               typename V::Floats threshold) {
  const auto right = V::not_less(value, threshold);
  if constexpr (!Missing) return right;
  const auto left = V::negative(V::gather(points.missing_left, slot));
  return V::and_not(V::both(left, V::is_nan(value)), right);
}

// A vector of points that turn off on their way to their leaves.
template <class V>
struct TurnChain {
  typename V::Ints tree, leaf, at, begin, turned_input, sum, mark;
  typename V::Floats own;
  typename V::Mask right, turned;
  typename V::Mask tie;  // some number is a threshold, which in double it may not be
};

// The points from `first` on, several vectors side by side so that one goes on while another waits. Says how
// many are tied.
template <class V, bool Missing, bool Exact, std::size_t N>
[[gnu::flatten]] std::size_t turn_chains(const PackedTrees& trees, const TurnedPoints& points,
                                         std::size_t first, std::uint32_t* tied) {
  const TurnPlaces<V> places(trees, points);
  const auto of_side = [](typename V::Mask right, const std::int32_t(&each)[2]) {
    return V::blend(right, V::broadcast(each[1]), V::broadcast(each[0]));
  };
  TurnChain<V> chains[N];
  typename V::Pairs splits[N];
  typename V::Ints rows[N];
  for (std::size_t c = 0; c < N; ++c) {
    TurnChain<V>& chain = chains[c];
    const std::size_t i = first + c * V::kLanes;
    chain.turned = first_lanes<V>(points.count - i);
    const auto entry = places.entry(chain.turned, i);
    chain.tree = places.tree(entry);
    chain.leaf = places.leaf(entry);
    chain.right = places.right(chain.leaf);
    chain.at = places.split(chain.leaf);
    rows[c] = places.row(entry);
    const auto slot = V::add(chain.tree, chain.at);
    splits[c] = V::gather_pairs(points.splits, V::add(slot, slot));
    chain.turned_input = splits[c].second;
  }
  for (std::size_t c = 0; c < N; ++c) {
    TurnChain<V>& chain = chains[c];
    const auto input = V::template shift_right<TurnPlaces<V>::kBits>(chain.turned_input);
    auto column = input, place = input;
    if (points.inputs != nullptr) {
      const auto both = V::gather_pairs(reinterpret_cast<const float*>(points.inputs), input);
      column = V::bits(both.first);
      place = both.second;
    }
    const auto along = [&](const double* steps) {
      const std::int32_t(&begin)[2] = points.step_begin;
      return points.alike ? V::blend_doubles(chain.right, steps[begin[1]], steps[begin[0]])
                          : V::gather_doubles(steps, V::add(input, of_side(chain.right, begin)));
    };
    // In double, and cast once.
    const auto at = V::add(column, V::multiply(rows[c], V::broadcast(points.row_step)));
    auto own = V::gather_doubles(points.x, at);
    if (points.shifts != nullptr) own = V::add(own, along(points.shifts));
    chain.own = V::to_floats(V::add(own, along(points.steps)));
    chain.mark = V::add(place, V::multiply(rows[c], V::broadcast(points.row_places)));
    chain.sum = V::add(of_side(chain.right, points.sum_begin),
                       V::multiply(chain.mark, V::broadcast(points.place_sums)));
    chain.begin = places.begin(rows[c], of_side(chain.right, points.base_begin));
  }
  for (std::size_t c = 0; c < N; ++c) {
    TurnChain<V>& chain = chains[c];
    const auto slot = V::add(chain.tree, chain.at);
    // The bound after threshold and input.
    const auto bound = V::gather(points.splits + 2, V::child(V::add(slot, slot), chain.right));
    const auto beyond = V::differ(V::not_less(chain.own, splits[c].first), chain.right);
    const auto inside = V::differ(V::not_less(chain.own, bound), chain.right);
    chain.turned = V::both(chain.turned, V::and_not(inside, beyond));
    if constexpr (Missing) chain.turned = V::and_not(V::is_nan(chain.own), chain.turned);
    if constexpr (Exact)
      chain.tie = V::either(V::equal(chain.own, splits[c].first), V::equal(chain.own, bound));
    chain.at = V::child(chain.at, V::and_not(chain.right, V::fill(-1)));
  }
  for (unsigned level = 1; level < points.below; ++level) {
    for (std::size_t c = 0; c < N; ++c) {
      const auto slot = V::add(chains[c].tree, chains[c].at);
      splits[c] = V::gather_pairs(points.splits, V::add(slot, slot));
    }
    for (std::size_t c = 0; c < N; ++c) {
      TurnChain<V>& chain = chains[c];
      const auto value = V::blend(V::same(splits[c].second, chain.turned_input), chain.own,
                                  V::gather(points.values, V::add(splits[c].second, chain.begin)));
      if constexpr (Exact) chain.tie = V::either(chain.tie, V::equal(value, splits[c].first));
      const auto slot = V::add(chain.tree, chain.at);
      chain.at = V::child(chain.at, goes_right_at<V, Missing>(points, slot, value, splits[c].first));
    }
  }
  alignas(64) std::int32_t leaves[N * V::kLanes], others[N * V::kLanes], sums[N * V::kLanes],
      marks[N * V::kLanes], counted[N * V::kLanes];
  std::size_t ties = 0;
  for (std::size_t c = 0; c < N; ++c) {
    TurnChain<V>& chain = chains[c];
    if constexpr (Exact) {
      const std::size_t i = first + c * V::kLanes;
      const auto meant = first_lanes<V>(points.count - i);
      ties += V::append(tied + ties, V::both(meant, chain.tie), places.entry(meant, i));
      chain.turned = V::and_not(chain.tie, chain.turned);
    }
    const std::size_t at = c * V::kLanes;
    V::store(leaves + at, V::add(chain.tree, V::subtract(chain.at, places.slots)));
    V::store(others + at, V::add(chain.tree, chain.leaf));
    V::store(sums + at, chain.sum);
    V::store(marks + at, chain.mark);
    V::store(counted + at, V::blend(chain.turned, V::broadcast(-1), V::broadcast(0)));
  }
  const std::size_t width = trees.leaf_width, count = std::min(N * V::kLanes, points.count - first);
  const auto add_all = [&](std::size_t each) {
    for (std::size_t j = 0; j < count; ++j) {
      const std::int64_t* const to = points.leaves + static_cast<std::size_t>(leaves[j]) * each;
      const std::int64_t* const than = points.leaves + static_cast<std::size_t>(others[j]) * each;
      std::int64_t* const sum = points.sums + sums[j];
      points.marks[marks[j]] |= static_cast<unsigned char>(counted[j] & 1);
      for (std::size_t k = 0; k < each; ++k) sum[k] += (to[k] - than[k]) & counted[j];
    }
  };
  width == 1 ? add_all(1) : add_all(width);
  return ties;
}

template <class V, bool Missing, bool Exact>
std::size_t turn_off_of(const PackedTrees& trees, const TurnedPoints& points, std::uint32_t* tied) {
  constexpr std::size_t kTogether = 4 * V::kLanes;
  std::size_t i = 0, ties = 0;
  for (; i + kTogether <= points.count; i += kTogether)
    ties += turn_chains<V, Missing, Exact, 4>(trees, points, i, tied + ties);
  for (; i < points.count; i += V::kLanes)
    ties += turn_chains<V, Missing, Exact, 1>(trees, points, i, tied + ties);
  _mm256_zeroupper();
  return ties;
}

template <class V>
std::size_t turn_off_any(const PackedTrees& trees, const TurnedPoints& points, std::uint32_t* tied) {
  if (trees.exact == nullptr)
    return points.missing ? turn_off_of<V, true, false>(trees, points, tied)
                          : turn_off_of<V, false, false>(trees, points, tied);
  return points.missing ? turn_off_of<V, true, true>(trees, points, tied)
                        : turn_off_of<V, false, true>(trees, points, tied);
}

template <class V, bool Missing>
std::size_t find_apart_of(const PackedTrees& trees, const TurnedPoints& points, std::uint32_t* found) {
  const TurnPlaces<V> places(trees, points);
  std::size_t count = 0;
  for (std::size_t i = 0; i < points.count; i += V::kLanes) {
    const auto meant = first_lanes<V>(points.count - i);
    const auto entry = places.entry(meant, i);
    const auto leaf = places.leaf(entry);
    const auto slot = V::add(places.tree(entry), places.split(leaf));
    const auto split = V::gather_pairs(points.splits, V::add(slot, slot));
    const auto begin = places.begin(places.row(entry), V::broadcast(points.base_begin[0]));
    const auto value = V::gather(points.values, V::add(split.second, begin));
    const auto right = goes_right_at<V, Missing>(points, slot, value, split.first);
    auto apart = V::differ(right, places.right(leaf));
    if (trees.exact != nullptr) apart = V::either(apart, V::equal(value, split.first));
    count += V::append(found + count, V::both(meant, apart), entry);
  }
  _mm256_zeroupper();
  return count;
}

template <class V>
std::size_t find_apart_any(const PackedTrees& trees, const TurnedPoints& points, std::uint32_t* found) {
  return points.missing ? find_apart_of<V, true>(trees, points, found)
                        : find_apart_of<V, false>(trees, points, found);
}

}  // namespace
}  // namespace harmonia
