#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "model_document.hpp"

namespace harmonia {

/// Adds one of the trees in an XGBoost file to the ensemble, whose columns, base and leaf_width are set.
/// Leaves are multiplied with `weight`. `sets` of the ensemble are shared between splits that are alike.
class XgboostTrees {
 public:
  XgboostTrees(TreeEnsemble& ensemble, const std::string& name);

  /// Throws Error(input) for arrays that do not fit together, or nodes that are no tree.
  void add(const Document& tree, std::uint32_t output, double weight);

 private:
  struct Arrays;

  Arrays arrays_of(const Document& tree) const;
  std::int32_t add_leaf(const Arrays& arrays, std::size_t node, double weight);
  std::int32_t add_split(const Arrays& arrays, std::size_t node);
  std::uint32_t category_input(const Arrays& arrays, std::size_t node, std::uint32_t column);
  [[noreturn]] void fail(const std::string& what) const;

  TreeEnsemble& ensemble_;
  const std::string& name_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> inputs_;
  std::size_t category_words_ = 0;  // of all sets
  std::size_t first_leaf_ = 0;      // of the tree that is read
};

}  // namespace harmonia
