#pragma once

// The walk of points that mostly go the same way (see tree_walk_simd.hpp for how it is compiled): all lanes
// are compared with every split that some of them come to, which are few, and no value is looked up. Several
// trees go down together, level by level, so that no split waits for the one before.

#include "tree_walk.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kTreesTogether = 16;  // whose splits of one level are looked at after each other

// Slots of a level that lanes have come to, and which.
struct RaySlots {
  std::uint32_t slot[kTreesTogether * kRayLanes + 1];  // each has a lane of its own at least
  std::uint64_t lanes[kTreesTogether * kRayLanes + 1];

  // At this place, if there are any; the next place. No branch on where lanes go, which would often be
  // guessed wrong.
  std::size_t put(std::size_t place, std::uint32_t at, std::uint64_t some) {
    slot[place] = at;
    lanes[place] = some;
    return place + (some != 0 ? 1 : 0);
  }
};

// A bit for every lane that goes right at a slot.
template <class V, class T, bool Missing>
std::uint64_t right_lanes(const PackedTrees& trees, const T* values, const T* thresholds, std::size_t slot) {
  const T* const own = values + static_cast<std::size_t>(trees.input[slot]) * (kRayLanes / V::kLanes);
  std::uint64_t right = V::not_less_bits(own, thresholds[slot]);
  if constexpr (Missing) {
    // NaN is not below anything: not even below what everything else is.
    std::uint64_t missing = 0;
    for (std::size_t i = 0; i < kRayLanes; ++i) missing |= std::uint64_t{own[i] != own[i]} << i;
    if (trees.missing_left[slot] != 0) right &= ~missing;
  }
  return right;
}

// Adds a number to every run of lanes.
inline void add_runs(std::int64_t number, std::uint64_t lanes, std::uint64_t* changes) {
  while (lanes != 0) {
    const std::uint64_t behind = lanes + (lanes & (~lanes + 1));  // carries over the lowest run
    const int begin = __builtin_ctzll(lanes);
    const int end = behind == 0 ? static_cast<int>(kRayLanes) : __builtin_ctzll(behind);
    changes[begin] += static_cast<std::uint64_t>(number);
    changes[end] -= static_cast<std::uint64_t>(number);
    lanes &= behind;
  }
}

inline void add_leaf(const PackedTrees& trees, std::size_t leaf, std::uint64_t lanes,
                     std::uint64_t* changes) {
  if (trees.leaf_width == 1) {
    add_runs(trees.leaf[leaf], lanes, changes + trees.output * (kRayLanes + 1));
  } else {
    for (std::size_t k = 0; k < trees.leaf_width; ++k)
      add_runs(trees.leaf[leaf * trees.leaf_width + k], lanes, changes + k * (kRayLanes + 1));
  }
}

template <class V, class T, bool Missing>
void walk_ray_trees(const PackedTrees& trees, std::size_t first, std::size_t last, const T* values,
                    const T* thresholds, std::uint64_t lanes, std::uint64_t* changes) {
  const bool complete = trees.child == nullptr;
  const std::uint32_t slots = 1U << trees.depth;
  RaySlots room[2];
  for (std::size_t from = first; from < last; from += kTreesTogether) {
    RaySlots *here = &room[0], *below = &room[1];
    std::size_t count = 0;
    for (std::size_t tree = from; tree < last && tree < from + kTreesTogether; ++tree)
      count = here->put(
          count, static_cast<std::uint32_t>(complete ? (tree << trees.depth) + 1 : trees.first[tree]), lanes);
    for (unsigned level = 0; complete ? level < trees.depth : count > 0; ++level) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t slot = here->slot[i];
        const std::uint64_t now = here->lanes[i];
        std::uint32_t left = slot + (slot & (slots - 1));
        if (!complete) {
          const std::int32_t child = trees.child[slot];
          if (child < 0) {
            add_leaf(trees, static_cast<std::uint32_t>(~child), now, changes);
            continue;
          }
          left = static_cast<std::uint32_t>(child);
        }
        const std::uint64_t right = right_lanes<V, T, Missing>(trees, values, thresholds, slot);
        next = below->put(next, left, now & ~right);
        next = below->put(next, left + 1, now & right);
      }
      RaySlots* const done = here;
      here = below;
      below = done;
      count = next;
    }
    // Those of complete trees, whose leaves' positions follow those of the splits.
    for (std::size_t i = 0; i < count; ++i) add_leaf(trees, here->slot[i] - slots, here->lanes[i], changes);
  }
}

template <class V>
void walk_rays_of(const PackedTrees& trees, std::size_t first, std::size_t last, const RayPoints& points,
                  std::uint64_t* changes) {
  if (trees.exact != nullptr) {
    points.missing ? walk_ray_trees<V, double, true>(trees, first, last, points.exact, trees.exact,
                                                     points.lanes, changes)
                   : walk_ray_trees<V, double, false>(trees, first, last, points.exact, trees.exact,
                                                      points.lanes, changes);
  } else {
    points.missing ? walk_ray_trees<V, float, true>(trees, first, last, points.narrow, trees.threshold,
                                                    points.lanes, changes)
                   : walk_ray_trees<V, float, false>(trees, first, last, points.narrow, trees.threshold,
                                                     points.lanes, changes);
  }
}

}  // namespace
}  // namespace harmonia
