#include "tree_append.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "harmonia/core/error.hpp"

namespace harmonia {

TreeAppender::TreeAppender(const TreeEnsemble& first) : ensemble_(first) {
  for (std::uint32_t i = 0; i < ensemble_.inputs.size(); ++i)
    inputs_.try_emplace(key(ensemble_, ensemble_.inputs[i]), i);
}

TreeAppender::Key TreeAppender::key(const TreeEnsemble& ensemble, const TreeInput& input) {
  if (input.rule != TreeInput::Rule::category) return {input.column, input.rule, {}, false, false};
  const CategorySet& set = ensemble.sets[input.set];
  return {input.column, input.rule, set.words, set.members_left, set.cut_below_zero};
}

// The number of an input of another ensemble in this one.
std::uint32_t TreeAppender::enter(const TreeEnsemble& from, const TreeInput& input) {
  const auto [place, fresh] =
      inputs_.try_emplace(key(from, input), static_cast<std::uint32_t>(ensemble_.inputs.size()));
  if (fresh) {
    TreeInput added = input;
    if (input.rule == TreeInput::Rule::category) {
      added.set = static_cast<std::uint32_t>(ensemble_.sets.size());
      ensemble_.sets.push_back(from.sets[input.set]);
    }
    ensemble_.inputs.push_back(added);
  }
  return place->second;
}

void TreeAppender::append(const TreeEnsemble& more, const std::string& name) {
  const auto same = [&](bool is, const char* what) {
    if (!is)
      throw Error(ErrorCode::input, fmt::format("model {}: trees of another {} cannot be added", name, what));
  };
  same(more.columns == ensemble_.columns && more.features == ensemble_.features, "set of features");
  same(more.scalar == ensemble_.scalar && more.takes_missing == ensemble_.takes_missing, "kind of values");
  same(more.leaf_width == ensemble_.leaf_width && more.base == ensemble_.base, "base score");
  same(more.factor == 1 && ensemble_.factor == 1, "weight");
  same(more.link.kind == ensemble_.link.kind && more.link.parameter == ensemble_.link.parameter &&
           more.link.complement == ensemble_.link.complement && more.binary == ensemble_.binary &&
           more.classes == ensemble_.classes,
       "objective");
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  same(ensemble_.nodes.size() + more.nodes.size() < kMost &&
           ensemble_.leaves.size() + more.leaves.size() < kMost,
       "size");
  std::vector<std::uint32_t> place;
  for (const TreeInput& input : more.inputs) place.push_back(enter(more, input));
  const auto first_node = static_cast<std::int32_t>(ensemble_.nodes.size());
  const auto first_leaf = static_cast<std::int32_t>(ensemble_.leaves.size() / ensemble_.leaf_width);
  // ~(leaf + first) is ~leaf − first.
  const auto moved = [&](std::int32_t at) { return at < 0 ? at - first_leaf : at + first_node; };
  for (TreeNode node : more.nodes) {
    node.input = place[node.input];
    node.left = moved(node.left);
    node.right = moved(node.right);
    ensemble_.nodes.push_back(node);
  }
  for (const Tree& tree : more.trees) ensemble_.trees.push_back({moved(tree.root), tree.output});
  ensemble_.leaves.insert(ensemble_.leaves.end(), more.leaves.begin(), more.leaves.end());
}

bool TreeAppender::ends_with(const TreeEnsemble& last) const {
  const std::size_t width = ensemble_.leaf_width;
  if (last.trees.size() > ensemble_.trees.size() || last.leaf_width != width) return false;
  const auto leaf = [width](const TreeEnsemble& of, std::int32_t at) {
    return std::span(of.leaves).subspan(static_cast<std::size_t>(~at) * width, width);
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> left;  // to be compared: here and there
  auto here = ensemble_.trees.end() - static_cast<std::ptrdiff_t>(last.trees.size());
  for (const Tree& tree : last.trees) {
    if (here->output != tree.output) return false;
    left.emplace_back(here++->root, tree.root);
  }
  while (!left.empty()) {
    const auto [at, other] = left.back();
    left.pop_back();
    if ((at < 0) != (other < 0)) return false;
    if (at < 0) {
      if (!std::ranges::equal(leaf(ensemble_, at), leaf(last, other))) return false;
      continue;
    }
    const TreeNode& a = ensemble_.nodes[static_cast<std::size_t>(at)];
    const TreeNode& b = last.nodes[static_cast<std::size_t>(other)];
    if (a.threshold != b.threshold || a.missing_left != b.missing_left ||
        key(ensemble_, ensemble_.inputs[a.input]) != key(last, last.inputs[b.input]))
      return false;
    left.emplace_back(a.left, b.left);
    left.emplace_back(a.right, b.right);
  }
  return true;
}

}  // namespace harmonia
