#include <fmt/format.h>

#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia {
namespace {

// Follows every tree from its root and sees that each node and leaf is reached at most once.
class Walk {
 public:
  Walk(const TreeEnsemble& ensemble, const std::string& name)
      : ensemble_(ensemble),
        name_(name),
        seen_nodes_(ensemble.nodes.size()),
        seen_leaves_(ensemble.leaves.size() / ensemble.leaf_width) {}

  void tree(std::size_t number) {
    open_.assign(1, ensemble_.trees[number].root);
    while (!open_.empty()) {
      const std::int32_t at = open_.back();
      open_.pop_back();
      std::vector<bool>& seen = at < 0 ? seen_leaves_ : seen_nodes_;
      const std::size_t index = static_cast<std::size_t>(at < 0 ? ~at : at);
      if (index >= seen.size()) {
        throw Error(ErrorCode::input, fmt::format("model {}: tree {} points to {} {} of {}", name_, number,
                                                  at < 0 ? "leaf" : "node", index, seen.size()));
      }
      if (seen[index]) {
        throw Error(ErrorCode::input, fmt::format("model {}: tree {} reaches {} {} twice; expected a tree",
                                                  name_, number, at < 0 ? "leaf" : "node", index));
      }
      seen[index] = true;
      if (at >= 0) split(number, index);
    }
  }

 private:
  void split(std::size_t number, std::size_t index) {
    const TreeNode& node = ensemble_.nodes[index];
    if (node.input >= ensemble_.inputs.size() || std::isnan(node.threshold)) {
      throw Error(ErrorCode::input, fmt::format("model {}: tree {} splits input {} of {} at {}", name_,
                                                number, node.input, ensemble_.inputs.size(), node.threshold));
    }
    open_.push_back(node.left);
    open_.push_back(node.right);
  }

  const TreeEnsemble& ensemble_;
  const std::string& name_;
  std::vector<bool> seen_nodes_, seen_leaves_;
  std::vector<std::int32_t> open_;
};

}  // namespace

void check_trees(const TreeEnsemble& ensemble, const std::string& name) {
  const auto require = [&](bool fits, const char* what) {
    if (!fits) throw Error(ErrorCode::input, fmt::format("model {}: {}", name, what));
  };
  require(ensemble.columns > 0, "it has no features");
  require(!ensemble.trees.empty(), "it has no trees");
  require(ensemble.margins() > 0, "it has no outputs");
  require(ensemble.leaf_width == 1 || ensemble.leaf_width == ensemble.margins(),
          "its leaves have neither one value nor one for each output");
  require(ensemble.leaves.size() % ensemble.leaf_width == 0, "its last leaf is incomplete");
  require(!ensemble.link.complement || ensemble.margins() == 1, "it has two outputs of more than one margin");
  for (const double value : ensemble.leaves) require(std::isfinite(value), "a leaf is not finite");
  for (const double value : ensemble.base) require(std::isfinite(value), "its base score is not finite");
  require(std::isfinite(ensemble.factor), "its factor is not finite");
  for (const TreeInput& input : ensemble.inputs) {
    require(input.column < ensemble.columns, "a split is on a feature that it does not have");
    require(input.rule != TreeInput::Rule::category || input.set < ensemble.sets.size(),
            "a split is on categories that it does not have");
  }
  for (const Tree& tree : ensemble.trees) {
    require(tree.output < ensemble.margins(), "a tree adds to an output that it does not have");
  }
  Walk walk(ensemble, name);
  for (std::size_t t = 0; t < ensemble.trees.size(); ++t) walk.tree(t);
}

}  // namespace harmonia
