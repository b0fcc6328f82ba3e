#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_pack.hpp"
#include "tree_turns.hpp"

namespace harmonia {

/// The memory behind DeepTrees.
struct DeepPack {
  DeepTrees view;
  std::vector<DeepSlot> slots;
  std::vector<DeepTurn> turns;
  std::vector<double> exact, exact_bounds;
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> above;  ///< of each slot, that of the split above it; its own: none is
};

/// There are not too many trees for deep_pack().
bool fits_deep(const TreePack& pack);
/// The trees of a pack, linked, whether they are complete or deep. `shared`: inputs may share a column. Keeps
/// pointers to the pack's leaves, and to the inputs' places.
DeepPack deep_pack(const TreePack& pack, const TurnInputs& inputs, bool shared);

}  // namespace harmonia
