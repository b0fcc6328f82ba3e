#include "tree_deep_walk.hpp"
#include "tree_walk.hpp"

namespace harmonia {
namespace {

// Whether what compares this value goes right at a slot; `exact` gives it in double.
template <class Exact>
bool goes_right(const DeepTrees& trees, std::size_t slot, float value, const Exact& exact) {
  const DeepSlot& split = trees.slots[slot];
  if (value != value) return split.missing == 0;
  if (value == split.threshold && trees.exact != nullptr) return !(exact() < trees.exact[slot]);
  return !(value < split.threshold);
}

bool is_leaf(const DeepSlot& slot) { return slot.threshold != slot.threshold; }

std::size_t child(const DeepSlot& slot, bool right) {
  return static_cast<std::size_t>(slot.child) + (right ? 1 : 0);
}

}  // namespace

void find_near_deep_scalar(const DeepTrees& trees, std::size_t first, std::size_t last, const DeepRows& rows,
                           DeepNear& near) {
  for (std::size_t tree = first; tree < last; ++tree) {
    const std::uint32_t who =
        static_cast<std::uint32_t>((tree - first) << DeepNear::kTree) | (rows.first << DeepNear::kRow);
    std::size_t slot = trees.first[tree];
    while (!is_leaf(trees.slots[slot])) {
      const DeepSlot& split = trees.slots[slot];
      const auto input = static_cast<std::size_t>(split.input);
      const float value = rows.x[input], distance = value - split.threshold;
      const bool right = goes_right(trees, slot, value, [&] { return rows.exact(rows.source, 0, input); });
      if ((distance < 0 ? -distance : distance) <= rows.reach[input]) {
        near.slot[near.count] = static_cast<std::uint32_t>(child(split, !right));
        near.who[near.count++] = who | (right ? 1U : 0U);
      }
      slot = child(split, right);
    }
    const std::int32_t leaf = trees.slots[slot].missing;
    rows.leaf[(tree - first) * DeepNear::kMostRows + rows.first] = leaf;
    if (rows.sums == nullptr) continue;
    const std::int64_t* const value = trees.leaf + static_cast<std::size_t>(leaf) * trees.leaf_width;
    for (std::size_t k = 0; k < trees.leaf_width; ++k)
      rows.sums[trees.leaf_width == 1 ? trees.output : k] += value[k];
  }
}

void turn_off_deep_scalar(const DeepTrees& trees, DeepPoints& points) {
  points.count = 0;
  for (std::size_t i = 0; i < points.near->count; ++i) {
    const std::uint32_t who = points.near->who[i];
    std::size_t slot = points.near->slot[i];
    const DeepTurn& turn = trees.turns[slot];
    const auto input = static_cast<std::size_t>(turn.input);
    const float* const base = points.values + points.begin[(who >> DeepNear::kRow) % DeepNear::kMostRows];
    const float* const own = points.values + points.own[who % (2 * DeepNear::kMostRows)];
    const auto is_own = [&](std::size_t other) {
      return trees.column == nullptr ? other == input : trees.column[other] == trees.column[input];
    };
    const auto exact = [&](std::size_t of) { return points.exact(points.source, who, is_own(of), of); };
    bool inside = own[input] >= turn.bound[0] && own[input] < turn.bound[1];
    if (trees.exact != nullptr && (own[input] == turn.bound[0] || own[input] == turn.bound[1])) {
      const double value = exact(input), *const bounds = trees.exact_bounds + 2 * slot;
      inside = value >= bounds[0] && value < bounds[1];
    }
    if (!inside) continue;
    points.slot[points.count] = static_cast<std::uint32_t>(slot);
    while (!is_leaf(trees.slots[slot])) {
      const auto of = static_cast<std::size_t>(trees.slots[slot].input);
      const float value = is_own(of) ? own[of] : base[of];
      slot = child(trees.slots[slot], goes_right(trees, slot, value, [&] { return exact(of); }));
    }
    points.who[points.count] = who;
    points.leaf[points.count++] = trees.slots[slot].missing;
  }
}

}  // namespace harmonia
