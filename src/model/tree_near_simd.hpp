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

// One tree or several, and vectors of rows from number `from` on.
template <class V, unsigned Depth, bool Missing, bool Exact, class Turn>
[[gnu::flatten]] void near_trees(const PackedTrees& trees, const float* reach, std::size_t first,
                                 const NearBlocks& blocks, std::size_t from,
                                 typename V::Sums (&total)[Turn::kVectors], NearRows& near) {
  const TreeRows& rows = blocks.rows;
  NearChain<V> chains[Turn::kVectors * Turn::kTrees];
  for (std::size_t c = 0; c < Turn::kVectors * Turn::kTrees; ++c) {
    const std::size_t vector = from + c / Turn::kTrees;
    chains[c].lanes = rows.x + vector * blocks.values;
    chains[c].row = vector * V::kLanes;
    chains[c].tree = first + c % Turn::kTrees;
    chains[c].tie = V::none();
    chains[c].at = V::broadcast(1);
    chains[c].levels = V::broadcast(0);
  }
  descend_near<V, 0, Depth, Missing, Exact>(trees, reach, chains);
  for (std::size_t c = 0; c < Turn::kVectors * Turn::kTrees; ++c) {
    NearChain<V>& chain = chains[c];
    if constexpr (Exact) {
      // A row that turns out to go another way may be near to anything there.
      if (V::any(chain.tie)) settle<V>(trees, rows, chain);
      chain.levels = V::with_bit(chain.levels, chain.tie, (1 << Depth) - 1);
    }
    chain.at = V::add(chain.at, V::broadcast(-(1 << Depth)));
    const std::int64_t* leaf = trees.leaf + (chain.tree << Depth) * trees.leaf_width;
    if (trees.leaf_width == 1) {
      if constexpr (Turn::kVectors > 1) {
        V::template accumulate_leaves<Depth>(total[c / Turn::kTrees], leaf, chain.at);
      } else {
        V::accumulate(total[0], leaf, chain.at);
      }
    } else {
      std::int64_t* const sums = blocks.sums + chain.row * blocks.margins;
      const auto place = V::multiply(chain.at, V::broadcast(static_cast<std::int32_t>(trees.leaf_width)));
      for (std::size_t k = 0; k < trees.leaf_width; ++k) {
        auto sum = V::load_sums(sums + k * V::kLanes);
        V::accumulate(sum, leaf + k, place);
        V::store(sums + k * V::kLanes, sum);
      }
    }
    const std::uint32_t which =
        static_cast<std::uint32_t>((chain.tree - near.first_tree) << NearRows::kTree) |
        static_cast<std::uint32_t>((near.first_row + chain.row) << NearRows::kRow);
    const auto rows_of_tree = V::add(V::broadcast(static_cast<std::int32_t>(which)),
                                     V::template shift_left<NearRows::kRow>(V::lane_numbers()));
    const auto entry =
        V::add(V::add(rows_of_tree, V::template shift_left<NearRows::kLeaf>(chain.at)), chain.levels);
    const auto meant = V::both(V::positive(chain.levels), first_lanes<V>(rows.count - chain.row));
    near.count += V::append(near.found + near.count, meant, entry);
  }
}

// All trees, with as many vectors of rows.
template <class V, unsigned Depth, bool Missing, bool Exact, std::size_t Vectors, std::size_t Trees>
void near_vectors(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                  const NearBlocks& blocks, std::size_t from, NearRows& near) {
  typename V::Sums total[Vectors];
  const auto own = [&](std::size_t v) {
    return blocks.sums + ((from + v) * blocks.margins + trees.output) * V::kLanes;
  };
  for (std::size_t v = 0; v < Vectors; ++v) total[v] = V::load_sums(own(v));
  std::size_t tree = first;
  for (; tree + Trees <= last; tree += Trees)
    near_trees<V, Depth, Missing, Exact, InTurn<Vectors, Trees>>(trees, reach, tree, blocks, from, total,
                                                                 near);
  for (; tree < last; ++tree)
    near_trees<V, Depth, Missing, Exact, InTurn<Vectors, 1>>(trees, reach, tree, blocks, from, total, near);
  if (trees.leaf_width != 1) return;
  for (std::size_t v = 0; v < Vectors; ++v) V::store(own(v), total[v]);
}

template <class V, unsigned Depth, bool Missing, bool Exact>
void find_near_of(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                  const NearBlocks& blocks, NearRows& near) {
  const std::size_t vectors = (blocks.rows.count + V::kLanes - 1) / V::kLanes;
  const bool narrow = kChains * V::kLanes * blocks.rows.inputs * sizeof(float) <= kNearBytes;
  std::size_t from = 0;
  for (; narrow && from + kChains <= vectors; from += kChains)
    near_vectors<V, Depth, Missing, Exact, kChains, 1>(trees, reach, first, last, blocks, from, near);
  for (; from < vectors; ++from)
    near_vectors<V, Depth, Missing, Exact, 1, kChains>(trees, reach, first, last, blocks, from, near);
  _mm256_zeroupper();
}

template <class V, unsigned Depth = 0>
void find_near_any_depth(const PackedTrees& trees, const float* reach, std::size_t first, std::size_t last,
                         const NearBlocks& blocks, NearRows& near) {
  if constexpr (Depth < kCompleteDepth) {
    if (trees.depth != Depth)
      return find_near_any_depth<V, Depth + 1>(trees, reach, first, last, blocks, near);
  }
  if (trees.exact == nullptr) {
    blocks.rows.missing ? find_near_of<V, Depth, true, false>(trees, reach, first, last, blocks, near)
                        : find_near_of<V, Depth, false, false>(trees, reach, first, last, blocks, near);
  } else {
    blocks.rows.missing ? find_near_of<V, Depth, true, true>(trees, reach, first, last, blocks, near)
                        : find_near_of<V, Depth, false, true>(trees, reach, first, last, blocks, near);
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
