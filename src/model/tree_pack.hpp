#pragma once

#include <cstdint>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "tree_walk.hpp"

namespace harmonia {

/// The memory behind one PackedTrees.
struct TreePack {
  PackedTrees view;
  std::vector<float> threshold;
  std::vector<double> exact;
  std::vector<std::int32_t> input, missing_left, child;
  std::vector<std::size_t> first;
  std::vector<std::int64_t> leaf;
  std::vector<bool> split;  ///< of complete trees: the slot is one, and not below a leaf
};

/// Whether a slot of a pack holds a split, and what that compares with.
bool is_split(const TreePack& pack, std::size_t slot);
double threshold_of(const TreePack& pack, std::size_t slot);

/// An ensemble's trees, grouped by output and depth, with their leaves in fixed point.
struct PackedEnsemble {
  std::vector<TreePack> packs;
  std::vector<std::uint32_t> used;  ///< inputs of the ensemble that splits compare, and some between them
  std::vector<double> unit;         ///< of each margin: what 1 in the sum stands for
};

/// The fixed point that an ensemble's leaves are summed in, one scale for each margin: so fine that no sum
/// can overflow. Trees may be added; scales only become coarser by it.
class LeafScales {
 public:
  explicit LeafScales(std::size_t margins) : largest_(margins, 0.0), finest_(margins, kNone) {}

  /// Counts the trees from number `first` on. Throws Error(input) if leaves add up to more than a double.
  void add(const TreeEnsemble& ensemble, std::size_t first = 0);
  /// Leaves of margin k are rounded to multiples of 2^−exponents()[k].
  std::vector<int> exponents() const;
  /// Every leaf that was counted is a multiple of 2^−exponents[k] as it is.
  bool exact(const std::vector<int>& exponents) const;

 private:
  static constexpr int kNone = 1 << 20;  // above the exponent of every double
  std::vector<double> largest_;          // that sums may come to
  std::vector<int> finest_;              // exponent of the lowest bit of all leaves
};

/// What 1 in a sum of that fixed point stands for.
std::vector<double> units_of(const std::vector<int>& exponents);

/// What splits compare each of so many inputs with, ascending, as often as it occurs. `block`: rows that a
/// kernel walks together.
std::vector<std::vector<double>> thresholds_by_input(const PackedEnsemble& trees, std::size_t inputs,
                                                     std::size_t block);

/// The trees from number `first` on, for a kernel that walks this many rows together. `exponents`: of
/// LeafScales.
PackedEnsemble pack_trees(const TreeEnsemble& ensemble, std::size_t block, const std::vector<int>& exponents,
                          std::size_t first = 0);

}  // namespace harmonia
