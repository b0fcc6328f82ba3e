#pragma once

// What balls around rows need of the walk (see tree_walk_simd.hpp): the splits near which a row passes.

#include "tree_walk_simd.hpp"

namespace harmonia {
namespace {

// The lanes of a vector that are meant, of `left` that are left.
template <class V>
typename V::Mask first_lanes(std::size_t left) {
  return left >= V::kLanes
             ? V::fill(-1)
             : V::negative(V::subtract(V::lane_numbers(), V::broadcast(static_cast<std::int32_t>(left))));
}

// A vector of rows on its way through a tree, and the levels where it passes near a threshold, a bit each.
template <class V>
struct NearChain : Chain<V> {
  typename V::Ints levels;
};

template <class V, unsigned Level, unsigned Depth, bool Missing, bool Exact, std::size_t N>
void descend_near(const PackedTrees& trees, const float* reach, NearChain<V> (&chains)[N]) {
  if constexpr (Level < Depth) {
    for (NearChain<V>& chain : chains) {
      const std::size_t slot = chain.tree << Depth;
      const auto value = value_at<V, Level, Depth>(trees, chain);
      const auto threshold = V::template slot<Level>(trees.threshold + slot, chain.at);
      const auto near = V::within(value, threshold, V::template slot<Level>(reach + slot, chain.at));
      chain.levels = V::with_bit(chain.levels, near, 1 << Level);
      step<V, Level, Depth, Missing, Exact>(trees, chain, value, threshold);
    }
    descend_near<V, Level + 1, Depth, Missing, Exact>(trees, reach, chains);
  }
}

template <class V, unsigned Depth, bool Missing, bool Exact, std::size_t N>
[[gnu::flatten]] void near_trees(const PackedTrees& trees, const float* reach, std::size_t first,
                                 const TreeRows& rows, typename V::Sums& total, std::int64_t* sums,
                                 NearRows& near) {
  NearChain<V> chains[N];
  for (std::size_t c = 0; c < N; ++c) {
    chains[c].lanes = rows.x;
    chains[c].row = 0;
    chains[c].tree = first + c;
    chains[c].tie = V::none();
    chains[c].at = V::broadcast(1);
    chains[c].levels = V::broadcast(0);
  }
  descend_near<V, 0, Depth, Missing, Exact>(trees, reach, chains);
  for (NearChain<V>& chain : chains) {
    if constexpr (Exact) {
      // A row that turns out to go another way may be near to anything there.
      if (V::any(chain.tie)) settle<V>(trees, rows, chain);
      chain.levels = V::with_bit(chain.levels, chain.tie, (1 << Depth) - 1);
    }
    chain.at = V::add(chain.at, V::broadcast(-(1 << Depth)));
    const std::int64_t* leaf = trees.leaf + (chain.tree << Depth) * trees.leaf_width;
    if (trees.leaf_width == 1) {
      V::accumulate(total, leaf, chain.at);
    } else {
      const auto place = V::multiply(chain.at, V::broadcast(static_cast<std::int32_t>(trees.leaf_width)));
      for (std::size_t k = 0; k < trees.leaf_width; ++k) {
        auto sum = V::load_sums(sums + k * V::kLanes);
        V::accumulate(sum, leaf + k, place);
        V::store(sums + k * V::kLanes, sum);
      }
    }
    const std::uint32_t which =
        static_cast<std::uint32_t>((chain.tree - near.first_tree) << NearRows::kTree) |
        (near.first_row << NearRows::kRow);
    const auto rows_of_tree = V::add(V::broadcast(static_cast<std::int32_t>(which)),
                                     V::template shift_left<NearRows::kRow>(V::lane_numbers()));
    const auto entry =
        V::add(V::add(rows_of_tree, V::template shift_left<NearRows::kLeaf>(chain.at)), chain.levels);
    const auto meant = V::both(V::positive(chain.levels), first_lanes<V>(rows.count));
    near.count += V::append(near.found + near.count, meant, entry);
  }
}

template <class V, unsigned Depth, bool Missing, bool Exact>
void find_near_of(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                  const TreeRows& rows, std::int64_t* sums, NearRows& near) {
  std::int64_t* const own = sums + trees.output * V::kLanes;
  auto total = V::load_sums(own);
  std::size_t tree = first;
  for (; tree + kChains <= last; tree += kChains)
    near_trees<V, Depth, Missing, Exact, kChains>(trees, reach, tree, rows, total, sums, near);
  for (; tree < last; ++tree)
    near_trees<V, Depth, Missing, Exact, 1>(trees, reach, tree, rows, total, sums, near);
  if (trees.leaf_width == 1) V::store(own, total);
  _mm256_zeroupper();
}

template <class V, unsigned Depth = 0>
void find_near_any_depth(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                         const TreeRows& rows, std::int64_t* sums, NearRows& near) {
  if constexpr (Depth < kCompleteDepth) {
    if (trees.depth != Depth)
      return find_near_any_depth<V, Depth + 1>(trees, reach, first, last, rows, sums, near);
  }
  if (trees.exact == nullptr) {
    rows.missing ? find_near_of<V, Depth, true, false>(trees, reach, first, last, rows, sums, near)
                 : find_near_of<V, Depth, false, false>(trees, reach, first, last, rows, sums, near);
  } else {
    rows.missing ? find_near_of<V, Depth, true, true>(trees, reach, first, last, rows, sums, near)
                 : find_near_of<V, Depth, false, true>(trees, reach, first, last, rows, sums, near);
  }
}

template <class V>
std::size_t pick_of(const NearRows& near, std::uint32_t mask, std::uint32_t wanted, std::uint32_t* picked) {
  const auto bits = V::broadcast(static_cast<std::int32_t>(mask)),
             as = V::broadcast(static_cast<std::int32_t>(wanted));
  std::size_t count = 0;
  for (std::size_t i = 0; i < near.count; i += V::kLanes) {
    const auto entry = V::load(reinterpret_cast<const std::int32_t*>(near.found) + i);
    const auto meant = V::both(V::same(V::both_bits(entry, bits), as), first_lanes<V>(near.count - i));
    count += V::append(picked + count, meant, entry);
  }
  _mm256_zeroupper();
  return count;
}

}  // namespace
}  // namespace harmonia
