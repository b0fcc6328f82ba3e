#pragma once

// The walk over many rows at once, written once for every width. A source that includes it is compiled for
// one instruction set and gives the operations as V, with two choices: kLevelsTogether (see
// values_on) and kSingleFrom (see step_singly). All is in an unnamed namespace, so that nothing
// compiled for one processor is linked into what runs on another.

#include <immintrin.h>

#include "tree_walk.hpp"

namespace harmonia {
namespace {

// Walks done in turn: one waits for memory while others compute. They are of several vectors of rows through
// one tree, or, where so many rows are too wide for the nearest cache, of one vector through several trees.
constexpr std::size_t kChains = 4;
constexpr std::size_t kNearBytes = 64 * 1024;  // of rows walked in turn

// A vector of rows on its way through a tree.
template <class V>
struct Chain {
  const float* lanes;                          // the rows' values
  std::size_t row, tree;                       // the first of the rows
  typename V::Ints at;                         // heap positions, slots, at last leaves
  typename V::Mask tie;                        // lanes that met a value equal to the rounded threshold
  typename V::Mask right[V::kLevelsTogether];  // where lanes went on the first levels
};

// The values that lanes compare on a level: every split of it is looked at for all lanes, and the lanes
// choose by the ways they went, which costs more loads than there are steps, and no look-up. Of the first
// `Known` of these ways; `path` says the rest.
template <class V, unsigned Level, unsigned Known = Level>
[[gnu::always_inline]] inline typename V::Floats values_on(const std::int32_t* inputs, const float* lanes,
                                                           const typename V::Mask* went_right,
                                                           std::size_t path = 0) {
  if constexpr (Known == 0) {
    return V::load(lanes + inputs[(std::size_t{1} << Level) + path]);
  } else {
    constexpr std::size_t kRight = std::size_t{1} << (Level - Known);
    return V::blend(went_right[Known - 1],
                    values_on<V, Level, Known - 1>(inputs, lanes, went_right, path + kRight),
                    values_on<V, Level, Known - 1>(inputs, lanes, went_right, path));
  }
}

// All ones in lanes that go right.
template <class V, bool Missing, bool Exact>
typename V::Mask right_of(typename V::Floats value, typename V::Floats threshold,
                          typename V::Ints missing_left, typename V::Mask& tie) {
  auto right = V::not_less(value, threshold);
  if constexpr (Missing) right = V::and_not(V::both(V::negative(missing_left), V::is_nan(value)), right);
  if constexpr (Exact) tie = V::either(tie, V::equal(value, threshold));
  return right;
}

// What lanes compare on a level.
template <class V, unsigned Level, unsigned Depth>
typename V::Floats value_at(const PackedTrees& trees, const Chain<V>& chain) {
  const std::int32_t* inputs = trees.input + (chain.tree << Depth);
  if constexpr (Level < V::kLevelsTogether) {
    return values_on<V, Level>(inputs, chain.lanes, chain.right);
  } else {
    return V::gather(chain.lanes, V::add(V::template slot<Level>(inputs, chain.at), V::lane_numbers()));
  }
}

// One step down.
template <class V, unsigned Level, unsigned Depth, bool Missing, bool Exact>
void step(const PackedTrees& trees, Chain<V>& chain, typename V::Floats value, typename V::Floats threshold) {
  auto missing_left = V::broadcast(0);
  if constexpr (Missing)
    missing_left = V::template slot<Level>(trees.missing_left + (chain.tree << Depth), chain.at);
  const auto right = right_of<V, Missing, Exact>(value, threshold, missing_left, chain.tie);
  if constexpr (Level + 1 < V::kLevelsTogether) chain.right[Level] = right;
  chain.at = V::child(chain.at, right);
}

template <class V, unsigned Level, unsigned Depth, bool Missing, bool Exact>
void step(const PackedTrees& trees, Chain<V>& chain) {
  const auto threshold = V::template slot<Level>(trees.threshold + (chain.tree << Depth), chain.at);
  step<V, Level, Depth, Missing, Exact>(trees, chain, value_at<V, Level, Depth>(trees, chain), threshold);
}

// The last levels, lane by lane: cheaper than to look up three vectors where look-ups are done one by one.
template <class V, unsigned Level, unsigned Depth, bool Missing, bool Exact>
void step_singly(const PackedTrees& trees, Chain<V>& chain) {
  const std::size_t slot = chain.tree << Depth;
  std::int32_t at[V::kLanes], tie[V::kLanes] = {};
  V::store(at, chain.at);
  for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
    auto heap = static_cast<std::size_t>(at[lane]);
    for (unsigned level = Level; level < Depth; ++level) {
      const float value = chain.lanes[static_cast<std::size_t>(trees.input[slot + heap]) + lane];
      const float threshold = trees.threshold[slot + heap];
      std::size_t right = value < threshold ? 0 : 1;
      if constexpr (Missing) right &= value != value ? 1 + trees.missing_left[slot + heap] : 1;
      if constexpr (Exact) tie[lane] |= value == threshold ? -1 : 0;
      heap = 2 * heap + right;
    }
    at[lane] = static_cast<std::int32_t>(heap);
  }
  chain.at = V::load(at);
  if constexpr (Exact) chain.tie = V::either(chain.tie, V::negative(V::load(tie)));
}

// All of them, step by step in turn.
template <class V, unsigned Level, unsigned Depth, bool Missing, bool Exact, std::size_t N>
void descend(const PackedTrees& trees, Chain<V> (&chains)[N]) {
  if constexpr (Level < Depth) {
    if constexpr (Level >= V::kSingleFrom) {
      for (Chain<V>& chain : chains) step_singly<V, Level, Depth, Missing, Exact>(trees, chain);
    } else {
      for (Chain<V>& chain : chains) step<V, Level, Depth, Missing, Exact>(trees, chain);
      descend<V, Level + 1, Depth, Missing, Exact>(trees, chains);
    }
  }
}

// Whether one row goes right, by the exact values.
template <class V>
bool exactly_right(const PackedTrees& trees, std::size_t slot, const TreeRows& rows, std::size_t row) {
  const std::size_t input = static_cast<std::size_t>(trees.input[slot]) / V::kLanes;
  const double value = rows.exact(rows.source, row, input);
  return value != value ? trees.missing_left[slot] == 0 : !(value < trees.exact[slot]);
}

// Walks the tied lanes again, by the exact values: to heap positions of complete trees, ~leaf of deep ones.
template <class V>
void settle(const PackedTrees& trees, const TreeRows& rows, Chain<V>& chain) {
  std::int32_t at[V::kLanes];
  V::store(at, chain.at);
  for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
    if (!V::lane(chain.tie, lane)) continue;
    const std::size_t row = chain.row + lane < rows.count ? chain.row + lane : rows.count - 1;
    if (trees.child == nullptr) {
      const std::size_t slots = std::size_t{1} << trees.depth;
      std::size_t heap = 1;
      while (heap < slots)
        heap = 2 * heap + (exactly_right<V>(trees, chain.tree * slots + heap, rows, row) ? 1 : 0);
      at[lane] = static_cast<std::int32_t>(heap);
    } else {
      std::size_t slot = trees.first[chain.tree];
      while (trees.child[slot] >= 0) {
        slot =
            static_cast<std::size_t>(trees.child[slot]) + (exactly_right<V>(trees, slot, rows, row) ? 1 : 0);
      }
      at[lane] = trees.child[slot];
    }
  }
  chain.at = V::load(at);
}

// To the leaves of complete trees, counted from the tree's first.
template <class V, unsigned Depth, bool Missing, bool Exact, std::size_t N>
void complete_leaves(const PackedTrees& trees, const TreeRows& rows, Chain<V> (&chains)[N]) {
  for (Chain<V>& chain : chains) chain.at = V::broadcast(1);
  descend<V, 0, Depth, Missing, Exact>(trees, chains);
  for (Chain<V>& chain : chains) {
    if constexpr (Exact) {
      if (V::any(chain.tie)) settle<V>(trees, rows, chain);
    }
    chain.at = V::add(chain.at, V::broadcast(-(1 << Depth)));
  }
}

// To the leaves of deep trees, counted from the first of all trees.
template <class V, bool Missing, bool Exact, std::size_t N>
void deep_leaves(const PackedTrees& trees, const TreeRows& rows, Chain<V> (&chains)[N]) {
  typename V::Ints child[N];
  for (std::size_t c = 0; c < N; ++c) {
    chains[c].at = V::broadcast(static_cast<std::int32_t>(trees.first[chains[c].tree]));
    child[c] = V::gather(trees.child, chains[c].at);
  }
  for (bool walking = true; walking;) {
    walking = false;
    for (std::size_t c = 0; c < N; ++c) {
      Chain<V>& chain = chains[c];
      const auto arrived = V::negative(child[c]);
      if (V::all(arrived)) continue;
      walking = true;
      auto equal = V::none();
      auto missing_left = V::broadcast(0);
      if constexpr (Missing) missing_left = V::gather(trees.missing_left, chain.at);
      const auto right = right_of<V, Missing, Exact>(
          V::gather(chain.lanes, V::add(V::gather(trees.input, chain.at), V::lane_numbers())),
          V::gather(trees.threshold, chain.at), missing_left, equal);
      if constexpr (Exact) chain.tie = V::either(chain.tie, V::and_not(arrived, equal));
      chain.at = V::blend(arrived, chain.at, V::next(child[c], right));
      child[c] = V::gather(trees.child, chain.at);
    }
  }
  for (std::size_t c = 0; c < N; ++c) {
    chains[c].at = child[c];
    if constexpr (Exact) {
      if (V::any(chains[c].tie)) settle<V>(trees, rows, chains[c]);
    }
    chains[c].at = V::inverse(chains[c].at);
  }
}

// How many vectors of rows are walked in turn, through how many trees.
template <std::size_t Vectors, std::size_t Trees>
struct InTurn {
  static constexpr std::size_t kVectors = Vectors, kTrees = Trees;
};

// Walks kVectors vectors of rows from `row` on. Depth above kCompleteDepth: deep trees.
template <class V, unsigned Depth, bool Missing, bool Exact, class Turn>
void walk_vectors(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                  std::size_t row, std::int64_t* sums) {
  constexpr bool kComplete = Depth <= kCompleteDepth;
  const auto add = [&](std::size_t vector, const typename V::Sums& sum, std::size_t output) {
    const std::size_t from = row + vector * V::kLanes;
    const std::size_t valid = rows.count - from < V::kLanes ? rows.count - from : V::kLanes;
    std::int64_t each[V::kLanes];
    V::store(each, sum);
    for (std::size_t i = 0; i < valid; ++i) sums[output * rows.count + from + i] += each[i];
  };
  typename V::Sums total[Turn::kVectors];
  for (auto& t : total) t = V::zero_sums();
  Chain<V> chains[Turn::kVectors * Turn::kTrees];
  for (std::size_t c = 0; c < Turn::kVectors * Turn::kTrees; ++c) {
    chains[c].row = row + c / Turn::kTrees * V::kLanes;
    chains[c].lanes = rows.x + chains[c].row * rows.inputs;
  }
  std::size_t tree = first;
  for (; tree + Turn::kTrees <= last; tree += Turn::kTrees) {
    for (std::size_t c = 0; c < Turn::kVectors * Turn::kTrees; ++c) {
      chains[c].tree = tree + c % Turn::kTrees;
      chains[c].tie = V::none();
    }
    if constexpr (kComplete) {
      complete_leaves<V, Depth, Missing, Exact>(trees, rows, chains);
    } else {
      deep_leaves<V, Missing, Exact>(trees, rows, chains);
    }
    for (std::size_t c = 0; c < Turn::kVectors * Turn::kTrees; ++c) {
      const Chain<V>& chain = chains[c];
      const std::int64_t* leaves = trees.leaf;
      if constexpr (kComplete) leaves += (chain.tree << Depth) * trees.leaf_width;
      if (trees.leaf_width == 1) {
        V::template accumulate_leaves<Depth>(total[c / Turn::kTrees], leaves, chain.at);
        continue;
      }
      const auto place = V::multiply(chain.at, V::broadcast(static_cast<std::int32_t>(trees.leaf_width)));
      for (std::size_t k = 0; k < trees.leaf_width; ++k) {
        auto sum = V::zero_sums();
        V::accumulate(sum, leaves + k, place);
        add(c / Turn::kTrees, sum, k);
      }
    }
  }
  if (trees.leaf_width == 1) {
    for (std::size_t v = 0; v < Turn::kVectors; ++v) add(v, total[v], trees.output);
  }
  if constexpr (Turn::kTrees > 1) {
    if (tree < last) {
      walk_vectors<V, Depth, Missing, Exact, InTurn<Turn::kVectors, 1>>(trees, tree, last, rows, row, sums);
    }
  }
}

template <class V, unsigned Depth, bool Missing, bool Exact>
void walk_rows(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
               std::int64_t* sums) {
  constexpr std::size_t kManyRows = kChains * V::kLanes;
  std::size_t row = 0;
  if (kManyRows * rows.inputs * sizeof(float) <= kNearBytes) {
    for (; row + kManyRows - V::kLanes < rows.count; row += kManyRows) {
      walk_vectors<V, Depth, Missing, Exact, InTurn<kChains, 1>>(trees, first, last, rows, row, sums);
    }
  }
  for (; row < rows.count; row += V::kLanes) {
    walk_vectors<V, Depth, Missing, Exact, InTurn<1, kChains>>(trees, first, last, rows, row, sums);
  }
}

template <class V, unsigned Depth>
void walk_depth(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                std::int64_t* sums) {
  if (trees.exact == nullptr) {
    rows.missing ? walk_rows<V, Depth, true, false>(trees, first, last, rows, sums)
                 : walk_rows<V, Depth, false, false>(trees, first, last, rows, sums);
  } else {
    rows.missing ? walk_rows<V, Depth, true, true>(trees, first, last, rows, sums)
                 : walk_rows<V, Depth, false, true>(trees, first, last, rows, sums);
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

// V::kTurned neighbours are turned by V::turn(), where it has that: a row's line of memory is read at once.
template <class V>
bool gather_block(const float* x, std::size_t stride, std::size_t rows, const std::uint32_t* columns,
                  std::size_t inputs, float* block) {
  const float* from[V::kLanes];
  for (std::size_t row = 0; row < V::kLanes; ++row) from[row] = x + (row < rows ? row : rows - 1) * stride;
  __m256 missing = _mm256_setzero_ps();
  bool one_missing = false;
  std::size_t input = 0;
  while (input < inputs) {
    float* to = block + input * V::kLanes;
    const std::size_t column = columns[input];
    if constexpr (V::kTurned > 0) {
      if (input + V::kTurned <= inputs && columns[input + V::kTurned - 1] == column + V::kTurned - 1) {
        one_missing |= V::turn(from, column, to);
        input += V::kTurned;
        continue;
      }
    }
    if (input + 8 <= inputs && columns[input + 7] == column + 7) {
      for (std::size_t row = 0; row < V::kLanes; row += 8) {
        __m256 r[8];
        for (std::size_t i = 0; i < 8; ++i) {
          r[i] = _mm256_loadu_ps(from[row + i] + column);
          missing = _mm256_or_ps(missing, _mm256_cmp_ps(r[i], r[i], _CMP_UNORD_Q));
        }
        transpose(r);
        for (std::size_t i = 0; i < 8; ++i) _mm256_storeu_ps(to + i * V::kLanes + row, r[i]);
      }
      input += 8;
    } else {
      for (std::size_t row = 0; row < V::kLanes; ++row) {
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
