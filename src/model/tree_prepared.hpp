#pragma once

#include <cstddef>
#include <vector>

#include "harmonia/model/model.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "tree_balls.hpp"
#include "tree_link.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"
#include "tree_slices.hpp"

namespace harmonia {

/// What is known of a model that evaluates the ensemble.
ModelInfo tree_model_info(const TreeEnsemble& ensemble, const TreeModelOptions& options);

/// The trees of an ensemble from number `first` on, made ready to be walked for rows and for balls. It stays
/// where it is made: its parts know each other.
struct PreparedTrees {
  /// `exponents`: of the LeafScales of all trees.
  PreparedTrees(const TreeEnsemble& ensemble, const TreeModelOptions& options,
                const std::vector<int>& exponents, std::size_t first = 0);
  PreparedTrees(const PreparedTrees&) = delete;
  PreparedTrees& operator=(const PreparedTrees&) = delete;
  ~PreparedTrees() = default;

  /// As Model::evaluate(), of these trees alone.
  void evaluate(RowsView x, MutableRowsView y) const;
  /// The same without slices.
  void walk(RowsView x, MutableRowsView y) const;

  /// Nanoseconds of a row among many, as far as it is the trees' part.
  double row_cost() const { return slices != nullptr ? slices->cost() : walk_cost(trees); }

  const TreeKernel& kernel;
  PackedEnsemble trees;
  TreeRowsMaker rows;
  TreeAnswers answers;
  std::unique_ptr<TreeSlices> slices;  ///< none: rows are walked
  TreeBalls balls;
};

}  // namespace harmonia
