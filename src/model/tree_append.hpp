#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia {

/// Puts trees of the same model behind one another. What splits compare is entered once, however many trees
/// look at it.
class TreeAppender {
 public:
  /// An ensemble of the first trees.
  explicit TreeAppender(const TreeEnsemble& first);

  const TreeEnsemble& ensemble() const { return ensemble_; }
  /// Throws Error(input) that names `name` if more than the trees differs, or trees are averaged.
  void append(const TreeEnsemble& more, const std::string& name);
  /// Whether the last trees are these, which check_trees() has passed.
  bool ends_with(const TreeEnsemble& last) const;

 private:
  // A category's members belong to what is compared.
  using Key = std::tuple<std::uint32_t, TreeInput::Rule, std::vector<std::uint32_t>, bool, bool>;

  static Key key(const TreeEnsemble& ensemble, const TreeInput& input);
  std::uint32_t enter(const TreeEnsemble& from, const TreeInput& input);

  TreeEnsemble ensemble_;
  std::map<Key, std::uint32_t> inputs_;
};

}  // namespace harmonia
