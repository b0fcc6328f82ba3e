#include "tree_deep_pack.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace harmonia {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// A node of a packed tree: where it is (in complete trees, with the heap position), or which leaf.
struct Node {
  std::size_t slot = 0, heap = 0;
  std::int32_t leaf = -1;  // −1: it is a split
};

Node node_at(const TreePack& pack, std::size_t tree, std::size_t at) {
  if (pack.view.child != nullptr) return {at, 0, pack.child[at] < 0 ? ~pack.child[at] : -1};
  const std::size_t slots = std::size_t{1} << pack.view.depth, slot = tree * slots + at;
  if (at < slots && pack.split[slot]) return {slot, at, -1};
  std::size_t below = at;  // what is below a leaf repeats it
  while (below < slots) below *= 2;
  return {slot, at, static_cast<std::int32_t>(tree * slots + below - slots)};
}

Node root_of(const TreePack& pack, std::size_t tree) {
  return node_at(pack, tree, pack.view.child != nullptr ? pack.first[tree] : 1);
}

Node child_of(const TreePack& pack, std::size_t tree, const Node& node, std::size_t right) {
  const std::size_t left =
      pack.view.child != nullptr ? static_cast<std::size_t>(pack.child[node.slot]) : 2 * node.heap;
  return node_at(pack, tree, left + right);
}

void add_tree(DeepPack& deep, const TreePack& pack, std::size_t tree) {
  const auto add_slot = [&](std::size_t above) {
    deep.slots.emplace_back();
    deep.above.push_back(static_cast<std::uint32_t>(above));
    if (pack.view.exact != nullptr) deep.exact.push_back(0);
  };
  const std::size_t first = deep.slots.size();
  deep.first.push_back(first);
  add_slot(first);
  std::vector<std::pair<std::size_t, Node>> open{{first, root_of(pack, tree)}};
  while (!open.empty()) {
    const auto [slot, node] = open.back();
    open.pop_back();
    if (node.leaf >= 0) {
      deep.slots[slot] = {std::numeric_limits<float>::quiet_NaN(), 0, static_cast<std::int32_t>(slot) - 1,
                          node.leaf};
      continue;
    }
    const std::size_t left = deep.slots.size();
    deep.slots[slot] = {pack.threshold[node.slot], pack.input[node.slot], static_cast<std::int32_t>(left),
                        pack.missing_left[node.slot]};
    if (pack.view.exact != nullptr) deep.exact[slot] = pack.exact[node.slot];
    add_slot(slot);
    add_slot(slot);
    open.emplace_back(left + 1, child_of(pack, tree, node, 1));
    open.emplace_back(left, child_of(pack, tree, node, 0));
  }
}

// How points come to a slot. Splits higher up that compare the same input say so by their thresholds; of
// other inputs of the same column nothing is said.
void add_turn(DeepPack& deep, const TurnInputs& inputs, std::size_t slot) {
  if (deep.above[slot] == slot) {
    deep.turns.emplace_back();
    if (!deep.exact.empty()) deep.exact_bounds.resize(deep.exact_bounds.size() + 2);
    return;
  }
  const auto threshold = [&](std::size_t at) {
    return deep.exact.empty() ? static_cast<double>(deep.slots[at].threshold) : deep.exact[at];
  };
  const auto place_of = [&](std::int32_t input) {
    return inputs.place[static_cast<std::size_t>(input) / inputs.block];
  };
  const std::int32_t input = deep.slots[deep.above[slot]].input, place = place_of(input);
  double bound[2] = {-kFar, kFar};
  bool other = false;
  for (std::size_t at = slot; deep.above[at] != at; at = deep.above[at]) {
    const std::size_t above = deep.above[at];
    const DeepSlot& split = deep.slots[above];
    if (split.input != input) {
      other |= place_of(split.input) == place;
    } else if (at == static_cast<std::size_t>(split.child)) {
      bound[1] = std::min(bound[1], threshold(above));
    } else {
      bound[0] = std::max(bound[0], threshold(above));
    }
  }
  deep.turns.push_back(
      {{static_cast<float>(bound[0]), static_cast<float>(bound[1])}, input, other ? ~place : place});
  if (!deep.exact.empty()) deep.exact_bounds.insert(deep.exact_bounds.end(), bound, bound + 2);
}

}  // namespace

bool fits_deep(const TreePack& pack) {
  constexpr std::size_t kMostSlots = std::size_t{1} << 28;  // four numbers each are counted in 31 bits
  return 2 * pack.threshold.size() < kMostSlots;
}

DeepPack deep_pack(const TreePack& pack, const TurnInputs& inputs, bool shared) {
  DeepPack deep;
  for (std::size_t tree = 0; tree < pack.view.count; ++tree) add_tree(deep, pack, tree);
  for (std::size_t slot = 0; slot < deep.slots.size(); ++slot) add_turn(deep, inputs, slot);
  deep.view = {.slots = deep.slots.data(),
               .turns = deep.turns.data(),
               .exact = pack.view.exact != nullptr ? deep.exact.data() : nullptr,
               .exact_bounds = pack.view.exact != nullptr ? deep.exact_bounds.data() : nullptr,
               .first = deep.first.data(),
               .column = shared ? inputs.place.data() : nullptr,
               .leaf = pack.view.leaf,
               .leaf_width = pack.view.leaf_width,
               .output = pack.view.output};
  return deep;
}

}  // namespace harmonia
