#pragma once

// The walk over many rows at once, written once for every width. A source that includes it is compiled for
// one instruction set and gives the operations as V; all is in an unnamed namespace, so that nothing compiled
// for one processor is linked into what runs on another.

#include <immintrin.h>

#include "tree_walk.hpp"

namespace harmonia {
namespace {

// Vectors of rows walked in turn: one waits for memory while others compute.
constexpr std::size_t kGroups = 4;

template <class V>
constexpr std::size_t kBlock = kGroups* V::kLanes;

// Whether a lane goes right at one split that all lanes are at.
template <class V, bool Missing, bool Exact>
typename V::Mask right_at(const PackedTrees& trees, std::size_t slot, const float* lanes,
                          typename V::Mask& tie) {
  const auto value = V::load(lanes + trees.input[slot]), threshold = V::broadcast(trees.threshold[slot]);
  auto right = V::not_less(value, threshold);
  if constexpr (Missing)
    right = V::and_not(V::both(V::fill(trees.missing_left[slot]), V::is_nan(value)), right);
  if constexpr (Exact) tie = V::either(tie, V::equal(value, threshold));
  return right;
}

// The first levels: every split of them is compared with all lanes, and the lanes choose. Costs more
// comparisons than there are steps, and no look-up. A tie (a value that is the threshold, rounded) may be at
// a split that its lane does not come to.
template <class V, unsigned Levels, bool Missing, bool Exact>
typename V::Ints descend_together(const PackedTrees& trees, std::size_t tree_slot, const float* lanes,
                                  typename V::Mask& tie) {
  using Mask = typename V::Mask;
  const auto at = [&](std::size_t heap) {
    return right_at<V, Missing, Exact>(trees, tree_slot + heap, lanes, tie);
  };
  auto position = V::broadcast(1);
  if constexpr (Levels > 0) {
    const Mask root = at(1);
    position = V::child(position, root);
    if constexpr (Levels > 1) {
      const Mask second = V::choose(root, at(3), at(2));
      position = V::child(position, second);
      if constexpr (Levels > 2) {
        const Mask third = V::choose(second, V::choose(root, at(7), at(5)), V::choose(root, at(6), at(4)));
        position = V::child(position, third);
        if constexpr (Levels > 3) {
          const Mask low = V::choose(second, V::choose(root, at(14), at(10)), V::choose(root, at(12), at(8)));
          const Mask high =
              V::choose(second, V::choose(root, at(15), at(11)), V::choose(root, at(13), at(9)));
          position = V::child(position, V::choose(third, high, low));
        }
      }
    }
  }
  return position;
}

// All ones in lanes that go right, of lanes at different splits.
template <class V, bool Missing, bool Exact>
typename V::Mask right_of(const float* lanes, typename V::Floats threshold, typename V::Ints input,
                          typename V::Ints missing_left, typename V::Mask& tie) {
  const auto value = V::gather(lanes, V::add(input, V::lane_numbers()));
  auto right = V::not_less(value, threshold);
  if constexpr (Missing) right = V::and_not(V::both(V::negative(missing_left), V::is_nan(value)), right);
  if constexpr (Exact) tie = V::either(tie, V::equal(value, threshold));
  return right;
}

template <class V, unsigned Level, unsigned Depth, bool Missing, bool Exact>
void descend_apart(const PackedTrees& trees, std::size_t tree_slot, const float* block,
                   typename V::Ints* position, typename V::Mask* tie) {
  if constexpr (Level < Depth) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      auto missing_left = V::broadcast(0);
      if constexpr (Missing)
        missing_left = V::template at<Level>(trees.missing_left + tree_slot, position[g]);
      const auto right = right_of<V, Missing, Exact>(
          block + g * V::kLanes, V::template at<Level>(trees.threshold + tree_slot, position[g]),
          V::template at<Level>(trees.input + tree_slot, position[g]), missing_left, tie[g]);
      position[g] = V::child(position[g], right);
    }
    descend_apart<V, Level + 1, Depth, Missing, Exact>(trees, tree_slot, block, position, tie);
  }
}

// Whether one row goes right, by the exact values.
template <class V>
bool exactly_right(const PackedTrees& trees, std::size_t slot, const TreeRows& rows, std::size_t row) {
  const std::size_t input = static_cast<std::size_t>(trees.input[slot]) / kBlock<V>;
  const double value = rows.exact(rows.source, row, input);
  return value != value ? trees.missing_left[slot] == 0 : !(value < trees.exact[slot]);
}

// Walks the tied lanes again, by the exact values. `leaf` holds what complete trees have as heap positions
// and deep ones as ~leaf.
template <class V>
typename V::Ints settle(const PackedTrees& trees, std::size_t tree, const TreeRows& rows,
                        std::size_t first_row, typename V::Ints leaf, typename V::Mask tie) {
  std::int32_t at[V::kLanes];
  V::store(at, leaf);
  for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
    if (!V::lane(tie, lane)) continue;
    const std::size_t row = first_row + lane < rows.count ? first_row + lane : rows.count - 1;
    if (trees.child == nullptr) {
      const std::size_t slots = std::size_t{1} << trees.depth;
      std::size_t heap = 1;
      while (heap < slots)
        heap = 2 * heap + (exactly_right<V>(trees, tree * slots + heap, rows, row) ? 1 : 0);
      at[lane] = static_cast<std::int32_t>(heap);
    } else {
      std::size_t slot = trees.first[tree];
      while (trees.child[slot] >= 0) {
        slot =
            static_cast<std::size_t>(trees.child[slot]) + (exactly_right<V>(trees, slot, rows, row) ? 1 : 0);
      }
      at[lane] = trees.child[slot];
    }
  }
  return V::load(at);
}

// Leaves that a block's rows reach in a complete tree, counted from the tree's first.
template <class V, unsigned Depth, bool Missing, bool Exact>
void complete_leaves(const PackedTrees& trees, std::size_t tree, const TreeRows& rows, std::size_t row,
                     typename V::Ints* leaf) {
  constexpr unsigned kTogether = Depth < V::kLevelsTogether ? Depth : V::kLevelsTogether;
  const float* block = rows.x + row * rows.inputs;
  typename V::Mask tie[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) {
    tie[g] = V::none();
    leaf[g] =
        descend_together<V, kTogether, Missing, Exact>(trees, tree << Depth, block + g * V::kLanes, tie[g]);
  }
  descend_apart<V, kTogether, Depth, Missing, Exact>(trees, tree << Depth, block, leaf, tie);
  for (std::size_t g = 0; g < kGroups; ++g) {
    if constexpr (Exact) {
      if (V::any(tie[g])) leaf[g] = settle<V>(trees, tree, rows, row + g * V::kLanes, leaf[g], tie[g]);
    }
    leaf[g] = V::add(leaf[g], V::broadcast(-(1 << Depth)));
  }
}

// Leaves that a block's rows reach in a deep tree, counted from the first of all trees.
template <class V, bool Missing, bool Exact>
void deep_leaves(const PackedTrees& trees, std::size_t tree, const TreeRows& rows, std::size_t row,
                 typename V::Ints* leaf) {
  const float* block = rows.x + row * rows.inputs;
  typename V::Ints slot[kGroups], child[kGroups];
  typename V::Mask tie[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) {
    slot[g] = V::broadcast(static_cast<std::int32_t>(trees.first[tree]));
    child[g] = V::gather(trees.child, slot[g]);
    tie[g] = V::none();
  }
  for (bool walking = true; walking;) {
    walking = false;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const auto arrived = V::negative(child[g]);
      if (V::all(arrived)) continue;
      walking = true;
      auto equal = V::none();
      auto missing_left = V::broadcast(0);
      if constexpr (Missing) missing_left = V::gather(trees.missing_left, slot[g]);
      const auto right =
          right_of<V, Missing, Exact>(block + g * V::kLanes, V::gather(trees.threshold, slot[g]),
                                      V::gather(trees.input, slot[g]), missing_left, equal);
      if constexpr (Exact) tie[g] = V::either(tie[g], V::and_not(arrived, equal));
      slot[g] = V::blend(arrived, slot[g], V::next(child[g], right));
      child[g] = V::gather(trees.child, slot[g]);
    }
  }
  for (std::size_t g = 0; g < kGroups; ++g) {
    if constexpr (Exact) {
      if (V::any(tie[g])) child[g] = settle<V>(trees, tree, rows, row + g * V::kLanes, child[g], tie[g]);
    }
    leaf[g] = V::inverse(child[g]);
  }
}

// Depth above kCompleteDepth: deep trees.
template <class V, unsigned Depth, bool Missing, bool Exact>
void walk_block(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                std::size_t row, std::int64_t* sums) {
  constexpr bool kComplete = Depth <= kCompleteDepth;
  const std::size_t valid = rows.count - row < kBlock<V> ? rows.count - row : kBlock<V>;
  const auto add = [&](const std::int64_t* block, std::size_t output) {
    std::int64_t* to = sums + output * rows.count + row;
    for (std::size_t i = 0; i < valid; ++i) to[i] += block[i];
  };
  typename V::Sums total[kGroups];
  for (auto& t : total) t = V::zero_sums();
  std::int64_t block[kBlock<V>];
  for (std::size_t tree = first; tree < last; ++tree) {
    typename V::Ints leaf[kGroups];
    const std::int64_t* leaves = trees.leaf;
    if constexpr (kComplete) {
      complete_leaves<V, Depth, Missing, Exact>(trees, tree, rows, row, leaf);
      leaves += (tree << Depth) * trees.leaf_width;
    } else {
      deep_leaves<V, Missing, Exact>(trees, tree, rows, row, leaf);
    }
    if (trees.leaf_width == 1) {
      for (std::size_t g = 0; g < kGroups; ++g) V::accumulate(total[g], leaves, leaf[g]);
      continue;
    }
    const auto width = V::broadcast(static_cast<std::int32_t>(trees.leaf_width));
    for (std::size_t k = 0; k < trees.leaf_width; ++k) {
      for (std::size_t g = 0; g < kGroups; ++g) {
        auto sum = V::zero_sums();
        V::accumulate(sum, leaves + k, V::multiply(leaf[g], width));
        V::store(block + g * V::kLanes, sum);
      }
      add(block, k);
    }
  }
  if (trees.leaf_width > 1) return;
  for (std::size_t g = 0; g < kGroups; ++g) V::store(block + g * V::kLanes, total[g]);
  add(block, trees.output);
}

template <class V, unsigned Depth>
void walk_depth(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                std::int64_t* sums) {
  for (std::size_t row = 0; row < rows.count; row += kBlock<V>) {
    if (trees.exact == nullptr) {
      rows.missing ? walk_block<V, Depth, true, false>(trees, first, last, rows, row, sums)
                   : walk_block<V, Depth, false, false>(trees, first, last, rows, row, sums);
    } else {
      rows.missing ? walk_block<V, Depth, true, true>(trees, first, last, rows, row, sums)
                   : walk_block<V, Depth, false, true>(trees, first, last, rows, row, sums);
    }
  }
}

template <class V, unsigned Depth = 0>
void walk_any_depth(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                    std::int64_t* sums) {
  if constexpr (Depth <= kCompleteDepth) {
    if (trees.child != nullptr || trees.depth != Depth) {
      return walk_any_depth<V, Depth + 1>(trees, first, last, rows, sums);
    }
  }
  walk_depth<V, Depth>(trees, first, last, rows, sums);
}

// Turns 8 rows × 8 columns into 8 columns × 8 rows.
void transpose(__m256* r) {
  __m256 t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
    t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
  }
  for (int i = 0; i < 8; ++i) r[i] = t[i];
}

// Eight inputs of all rows before the next eight: what is written lies together.
template <class V>
bool gather_block(const float* x, std::size_t stride, std::size_t rows, const std::uint32_t* columns,
                  std::size_t inputs, float* block) {
  const float* from[kBlock<V>];
  for (std::size_t row = 0; row < kBlock<V>; ++row) from[row] = x + (row < rows ? row : rows - 1) * stride;
  __m256 missing = _mm256_setzero_ps();
  bool one_missing = false;
  std::size_t input = 0;
  while (input < inputs) {
    float* to = block + input * kBlock<V>;
    const std::size_t column = columns[input];
    if (input + 8 <= inputs && columns[input + 7] == column + 7) {
      for (std::size_t row = 0; row < kBlock<V>; row += 8) {
        __m256 r[8];
        for (std::size_t i = 0; i < 8; ++i) {
          r[i] = _mm256_loadu_ps(from[row + i] + column);
          missing = _mm256_or_ps(missing, _mm256_cmp_ps(r[i], r[i], _CMP_UNORD_Q));
        }
        transpose(r);
        for (std::size_t i = 0; i < 8; ++i) _mm256_storeu_ps(to + i * kBlock<V> + row, r[i]);
      }
      input += 8;
    } else {
      for (std::size_t row = 0; row < kBlock<V>; ++row) {
        to[row] = from[row][column];
        one_missing |= to[row] != to[row];
      }
      ++input;
    }
  }
  return one_missing || _mm256_movemask_ps(missing) != 0;
}

}  // namespace
}  // namespace harmonia
