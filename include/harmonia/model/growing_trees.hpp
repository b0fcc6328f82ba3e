#pragma once

#include <cstddef>
#include <memory>

#include "harmonia/model/model.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia {

/// An ensemble that grows while it is measured, as a booster does in training. It keeps what leaves sum up to
/// at every point of the balls that gamma() asks it for, so that the next measurement of the same rows with
/// the same ball walks nothing but the trees that were added since. Rows and balls that are others than
/// before are walked in full. Answers are those of make_tree_model() of all trees, to the bit.
///
/// To be measured by one gamma() at a time.
class GrowingTrees : public Model {
 public:
  /// Adds trees of the same model, whose leaves are summed with the others and not averaged. Not while it is
  /// asked or measured. Throws Error(input) if more than the trees differs, or what check_trees() throws;
  /// then nothing is added.
  virtual void add(const TreeEnsemble& more) = 0;
  /// How many there are.
  virtual std::size_t size() const = 0;
  /// Whether the last of them are these: the same splits and leaves.
  virtual bool ends_with(const TreeEnsemble& last) const = 0;
};

/// Memory for sums that are kept: those of 2,000 rows of 1,000 features with 10 classes are 320 MB at most,
/// and a training needs the machine's memory itself.
constexpr std::size_t kKeptSumsBytes = std::size_t{512} << 20;

/// Begins with these trees. Rows whose sums would take more than `kept_bytes` in all are walked in full every
/// time. Throws what check_trees() throws.
std::unique_ptr<GrowingTrees> make_growing_trees(const TreeEnsemble& first, const TreeModelOptions& options,
                                                 std::size_t kept_bytes = kKeptSumsBytes);

}  // namespace harmonia
