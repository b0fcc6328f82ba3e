#pragma once

// The walk over many rows at once, written once for every width. A source that includes it is compiled for
// one instruction set and gives the operations as V; all is in an unnamed namespace, so that nothing compiled
// for one processor is linked into what runs on another.

#include "tree_walk.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kGroups =
    4;  // vectors of rows walked in turn: one waits for memory while others compute

template <class V>
constexpr std::size_t kBlock = kGroups* V::kLanes;

// kLanes rows: where they lie, and how far each is from the first.
template <class V>
struct Group {
  const float* x;
  const double* exact;
  std::size_t stride;
  typename V::Ints offset;
};

// Rows beyond the last repeat it; their sums are left out in the end.
template <class V>
Group<V> group_at(const TreeRows& rows, std::size_t row) {
  const std::size_t first = row < rows.count ? row : rows.count - 1;
  std::int32_t offset[V::kLanes];
  for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
    const std::size_t most = rows.count - 1 - first;
    offset[lane] = static_cast<std::int32_t>((lane < most ? lane : most) * rows.stride);
  }
  return {rows.x + first * rows.stride, rows.exact == nullptr ? nullptr : rows.exact + first * rows.stride,
          rows.stride, V::load(offset)};
}

// All ones in lanes that go right. A tie is a value that rounds to the threshold's own rounding: undecided.
template <class V, bool kMissing, bool kExact>
typename V::Mask right_of(const Group<V>& group, typename V::Floats threshold, typename V::Ints input,
                          typename V::Mask& tie) {
  const auto value = V::gather(group.x, V::add(group.offset, V::without_sign(input)));
  auto right = V::not_less(value, threshold);
  if constexpr (kMissing) right = V::and_not(V::both(V::negative(input), V::is_nan(value)), right);
  if constexpr (kExact) tie = V::either(tie, V::equal(value, threshold));
  return right;
}

// Whether one row goes right, by the exact values.
bool exactly_right(const PackedTrees& trees, std::size_t slot, const double* row) {
  const std::int32_t input = trees.input[slot];
  const double value = row[input & INT32_MAX];
  return value != value ? input >= 0 : !(value < trees.exact[slot]);
}

template <class V>
const double* exact_row(const Group<V>& group, std::size_t lane) {
  std::int32_t offset[V::kLanes];
  V::store(offset, group.offset);
  return group.exact + offset[lane];
}

template <class V, unsigned kLevel, unsigned kDepth, bool kMissing, bool kExact>
void descend(const PackedTrees& trees, std::size_t tree, const Group<V>* groups, typename V::Ints* position,
             typename V::Mask* tie) {
  if constexpr (kLevel < kDepth) {
    const float* threshold = trees.threshold + (tree << kDepth);
    const std::int32_t* input = trees.input + (tree << kDepth);
    for (std::size_t g = 0; g < kGroups; ++g) {
      const auto right =
          right_of<V, kMissing, kExact>(groups[g], V::template at<kLevel>(threshold, position[g]),
                                        V::template at<kLevel>(input, position[g]), tie[g]);
      position[g] = V::child(position[g], right);
    }
    descend<V, kLevel + 1, kDepth, kMissing, kExact>(trees, tree, groups, position, tie);
  }
}

template <class V>
typename V::Ints settle_complete(const PackedTrees& trees, std::size_t tree, const Group<V>& group,
                                 typename V::Ints position, typename V::Mask tie) {
  std::int32_t at[V::kLanes];
  V::store(at, position);
  const std::size_t slots = std::size_t{1} << trees.depth;
  for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
    if (!V::lane(tie, lane)) continue;
    const double* row = exact_row(group, lane);
    std::size_t heap = 1;
    while (heap < slots) heap = 2 * heap + (exactly_right(trees, tree * slots + heap, row) ? 1 : 0);
    at[lane] = static_cast<std::int32_t>(heap);
  }
  return V::load(at);
}

// Leaves that the groups' rows reach in a complete tree, counted from the tree's first.
template <class V, unsigned kDepth, bool kMissing, bool kExact>
void complete_leaves(const PackedTrees& trees, std::size_t tree, const Group<V>* groups,
                     typename V::Ints* leaf) {
  typename V::Ints position[kGroups];
  typename V::Mask tie[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) {
    position[g] = V::broadcast(1);
    tie[g] = V::none();
  }
  descend<V, 0, kDepth, kMissing, kExact>(trees, tree, groups, position, tie);
  for (std::size_t g = 0; g < kGroups; ++g) {
    if constexpr (kExact) {
      if (V::any(tie[g])) position[g] = settle_complete(trees, tree, groups[g], position[g], tie[g]);
    }
    leaf[g] = V::add(position[g], V::broadcast(-(1 << kDepth)));
  }
}

template <class V>
typename V::Ints settle_deep(const PackedTrees& trees, std::size_t tree, const Group<V>& group,
                             typename V::Ints child, typename V::Mask tie) {
  std::int32_t at[V::kLanes];
  V::store(at, child);
  for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
    if (!V::lane(tie, lane)) continue;
    const double* row = exact_row(group, lane);
    std::size_t slot = trees.first[tree];
    while (trees.child[slot] >= 0) {
      slot = static_cast<std::size_t>(trees.child[slot]) + (exactly_right(trees, slot, row) ? 1 : 0);
    }
    at[lane] = trees.child[slot];
  }
  return V::load(at);
}

// Leaves that the groups' rows reach in a deep tree, counted from the first of all trees.
template <class V, bool kMissing, bool kExact>
void deep_leaves(const PackedTrees& trees, std::size_t tree, const Group<V>* groups, typename V::Ints* leaf) {
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
      const auto right = right_of<V, kMissing, kExact>(groups[g], V::gather(trees.threshold, slot[g]),
                                                       V::gather(trees.input, slot[g]), equal);
      if constexpr (kExact) tie[g] = V::either(tie[g], V::and_not(arrived, equal));
      slot[g] = V::choose(arrived, slot[g], V::next(child[g], right));
      child[g] = V::gather(trees.child, slot[g]);
    }
  }
  for (std::size_t g = 0; g < kGroups; ++g) {
    if constexpr (kExact) {
      if (V::any(tie[g])) child[g] = settle_deep(trees, tree, groups[g], child[g], tie[g]);
    }
    leaf[g] = V::inverse(child[g]);
  }
}

// kDepth above kCompleteDepth: deep trees.
template <class V, unsigned kDepth, bool kMissing, bool kExact>
void walk_block(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                std::size_t row, std::int64_t* sums) {
  constexpr bool kComplete = kDepth <= kCompleteDepth;
  Group<V> groups[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) groups[g] = group_at<V>(rows, row + g * V::kLanes);
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
      complete_leaves<V, kDepth, kMissing, kExact>(trees, tree, groups, leaf);
      leaves += (tree << kDepth) * trees.leaf_width;
    } else {
      deep_leaves<V, kMissing, kExact>(trees, tree, groups, leaf);
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

template <class V, unsigned kDepth>
void walk_depth(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                std::int64_t* sums) {
  for (std::size_t row = 0; row < rows.count; row += kBlock<V>) {
    if (trees.exact == nullptr) {
      rows.missing ? walk_block<V, kDepth, true, false>(trees, first, last, rows, row, sums)
                   : walk_block<V, kDepth, false, false>(trees, first, last, rows, row, sums);
    } else {
      rows.missing ? walk_block<V, kDepth, true, true>(trees, first, last, rows, row, sums)
                   : walk_block<V, kDepth, false, true>(trees, first, last, rows, row, sums);
    }
  }
}

template <class V, unsigned kDepth = 0>
void walk_any_depth(const PackedTrees& trees, std::size_t first, std::size_t last, const TreeRows& rows,
                    std::int64_t* sums) {
  if constexpr (kDepth > kCompleteDepth) {
    walk_depth<V, kDepth>(trees, first, last, rows, sums);
  } else if (trees.child == nullptr && trees.depth == kDepth) {
    walk_depth<V, kDepth>(trees, first, last, rows, sums);
  } else {
    walk_any_depth<V, kDepth + 1>(trees, first, last, rows, sums);
  }
}

}  // namespace
}  // namespace harmonia
