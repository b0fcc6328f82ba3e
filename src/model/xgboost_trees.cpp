#include "xgboost_trees.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostCategories = 1U << 24;     // XGBoost's own limit
constexpr std::size_t kMostCategoryWords = 1U << 26;  // 256 MiB
constexpr double kLargestFloat = std::numeric_limits<float>::max();

// A whole number in [0, limit), or limit.
std::size_t index_of(double value, std::size_t limit) {
  const bool fits = value >= 0 && value < static_cast<double>(limit) && value == std::trunc(value);
  return fits ? static_cast<std::size_t>(value) : limit;
}

// The float32 that is meant. XGBoost writes each with as many digits as it takes to read it back.
double rounded(double value) {
  return std::isfinite(value) && std::abs(value) <= kLargestFloat
             ? static_cast<double>(static_cast<float>(value))
             : value;
}

}  // namespace

// The arrays of one tree, each with one number a node where it says nothing else.
struct XgboostTrees::Arrays {
  const std::vector<double>*left, *right, *column, *threshold, *missing_left;
  const std::vector<double>* categorical = nullptr;  // 1: the split is on categories; null: none is
  const std::vector<double>* weights = nullptr;      // leaf vectors; null: leaves are thresholds
  bool weights_by_leaf = false;                      // … of leaves alone, `right` says which; else of nodes
  std::vector<double> categories{};
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> segments{};  // first category and end, of a node
};

XgboostTrees::XgboostTrees(TreeEnsemble& ensemble, const std::string& name)
    : ensemble_(ensemble), name_(name) {}

void XgboostTrees::fail(const std::string& what) const {
  throw Error(ErrorCode::input, fmt::format("model {}: tree {} {}", name_, ensemble_.trees.size(), what));
}

XgboostTrees::Arrays XgboostTrees::arrays_of(const Document& tree) const {
  const auto find = [&](const char* key) {
    const Document* found = tree.find(key);
    if (found != nullptr && (found->kind != Document::Kind::list || !found->items.empty())) {
      fail(fmt::format("has no list of numbers as '{}'", key));
    }
    return found == nullptr ? nullptr : &found->numbers;
  };
  const auto require = [&](const char* key) {
    const std::vector<double>* found = find(key);
    if (found == nullptr) fail(fmt::format("has no '{}'", key));
    return found;
  };
  Arrays arrays{require("left_children"), require("right_children"), require("split_indices"),
                require("split_conditions"), require("default_left")};
  const std::size_t nodes = arrays.left->size();
  if (nodes == 0) fail("has no nodes");
  arrays.categorical = find("split_type");
  for (const std::vector<double>* array :
       {arrays.right, arrays.column, arrays.threshold, arrays.missing_left, arrays.categorical}) {
    if (array != nullptr && array->size() != nodes) {
      fail(fmt::format("has a list of {} numbers; expected {}, one a node", array->size(), nodes));
    }
  }
  if (ensemble_.leaf_width > 1) {
    arrays.weights = find("leaf_weights");
    arrays.weights_by_leaf = arrays.weights != nullptr;
    if (arrays.weights == nullptr) arrays.weights = require("base_weights");
  }
  const std::vector<double>* of_node = find("categories_nodes");
  if (of_node == nullptr || of_node->empty()) return arrays;
  arrays.categories = *require("categories");
  const std::vector<double>&first = *require("categories_segments"), &size = *require("categories_sizes");
  const std::size_t end = arrays.categories.size() + 1;
  for (std::size_t i = 0; i < of_node->size(); ++i) {
    const std::size_t node = index_of((*of_node)[i], nodes);
    const std::size_t from = i < first.size() ? index_of(first[i], end) : end;
    const std::size_t count = i < size.size() ? index_of(size[i], end) : end;
    if (node == nodes || from == end || count == end || from + count >= end) {
      fail(
          fmt::format("has a list of categories, number {}, that does not fit its {} nodes and {} categories",
                      i, nodes, arrays.categories.size()));
    }
    arrays.segments[node] = {from, from + count};
  }
  return arrays;
}

void XgboostTrees::add(const Document& tree, std::uint32_t output, double weight) {
  const Arrays arrays = arrays_of(tree);
  first_leaf_ = ensemble_.leaves.size() / ensemble_.leaf_width;
  const std::size_t nodes = arrays.left->size();
  struct Step {
    std::size_t node;
    std::int32_t parent;  // a split of the ensemble, or −1
    bool left;
  };
  std::vector<bool> seen(nodes, false);
  std::vector<Step> open{{0, -1, false}};
  Tree added{.root = 0, .output = output};
  while (!open.empty()) {
    const Step step = open.back();
    open.pop_back();
    if (step.node == nodes) fail("points to a node that it does not have");
    if (seen[step.node]) fail(fmt::format("reaches node {} twice; expected a tree", step.node));
    seen[step.node] = true;
    const bool leaf = (*arrays.left)[step.node] == -1;
    const std::int32_t at = leaf ? add_leaf(arrays, step.node, weight) : add_split(arrays, step.node);
    if (step.parent < 0) {
      added.root = at;
    } else {
      TreeNode& parent = ensemble_.nodes[static_cast<std::size_t>(step.parent)];
      (step.left ? parent.left : parent.right) = at;
    }
    if (leaf) continue;
    open.push_back({index_of((*arrays.right)[step.node], nodes), at, false});
    open.push_back({index_of((*arrays.left)[step.node], nodes), at, true});
  }
  ensemble_.trees.push_back(added);
}

std::int32_t XgboostTrees::add_leaf(const Arrays& arrays, std::size_t node, double weight) {
  const std::size_t width = ensemble_.leaf_width, number = ensemble_.leaves.size() / width;
  if (arrays.weights == nullptr) {
    ensemble_.leaves.push_back(weight * rounded((*arrays.threshold)[node]));
  } else {
    const std::size_t leaves = arrays.weights->size() / width;
    const std::size_t leaf = arrays.weights_by_leaf ? index_of((*arrays.right)[node], leaves) : node;
    if (leaf >= leaves || (arrays.weights_by_leaf && number - first_leaf_ >= leaves))
      fail(fmt::format("has values for {} leaves of {} numbers; expected more", leaves, width));
    for (std::size_t k = 0; k < width; ++k) {
      ensemble_.leaves.push_back(weight * rounded((*arrays.weights)[leaf * width + k]));
    }
  }
  return ~static_cast<std::int32_t>(number);
}

std::int32_t XgboostTrees::add_split(const Arrays& arrays, std::size_t node) {
  const std::size_t column = index_of((*arrays.column)[node], ensemble_.columns);
  if (column == ensemble_.columns) {
    fail(fmt::format("splits feature {}; the model has {}", (*arrays.column)[node], ensemble_.columns));
  }
  TreeNode split;
  split.missing_left = (*arrays.missing_left)[node] != 0;
  if (arrays.categorical != nullptr && (*arrays.categorical)[node] != 0) {
    split.input = category_input(arrays, node, static_cast<std::uint32_t>(column));
    split.threshold = 0;
  } else {
    split.input = static_cast<std::uint32_t>(column);
    split.threshold = rounded((*arrays.threshold)[node]);
    if (std::isnan(split.threshold)) fail(fmt::format("splits feature {} at nan", column));
  }
  ensemble_.nodes.push_back(split);
  return static_cast<std::int32_t>(ensemble_.nodes.size() - 1);
}

std::uint32_t XgboostTrees::category_input(const Arrays& arrays, std::size_t node, std::uint32_t column) {
  const auto found = arrays.segments.find(node);
  if (found == arrays.segments.end()) fail(fmt::format("has no categories for node {}", node));
  std::vector<std::uint32_t> words;
  for (std::size_t i = found->second.first; i < found->second.second; ++i) {
    const std::size_t category = index_of(arrays.categories[i], kMostCategories);
    if (category == kMostCategories) {
      fail(fmt::format("has category {}; expected a whole number below {}", arrays.categories[i],
                       kMostCategories));
    }
    if (category / 32 >= words.size()) words.resize(category / 32 + 1, 0);
    words[category / 32] |= 1U << (category % 32);
  }
  const auto [place, fresh] = inputs_.try_emplace({column, words}, ensemble_.inputs.size());
  if (fresh) {
    category_words_ += words.size();
    if (category_words_ > kMostCategoryWords) {
      fail(fmt::format("has categories that need more than {} MiB together", kMostCategoryWords >> 18U));
    }
    ensemble_.inputs.push_back({.column = column,
                                .rule = TreeInput::Rule::category,
                                .set = static_cast<std::uint32_t>(ensemble_.sets.size())});
    ensemble_.sets.push_back({.words = std::move(words), .members_left = false, .cut_below_zero = false});
  }
  return place->second;
}

}  // namespace harmonia
