#include "lightgbm_trees.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr double kZero = 1e-35F;  // what is no further from 0 is 0 to LightGBM
constexpr unsigned kCategorical = 1, kDefaultLeft = 2, kMissingShift = 2;

// A whole number in [0, limit), or limit.
std::size_t index_of(double value, std::size_t limit) {
  const bool fits = value >= 0 && value < static_cast<double>(limit) && value == std::trunc(value);
  return fits ? static_cast<std::size_t>(value) : limit;
}

// LightGBM's x <= t as x < result, where what is next to 0 counts as 0. No value is infinite, so that for
// t = inf, which parts missing values from all others, it is the same too.
double strict(double t) {
  if (t < 0 && t >= -kZero) return -kZero;
  return std::nextafter(t >= 0 && t <= kZero ? kZero : t, std::numeric_limits<double>::infinity());
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  std::size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = text.find_first_of(kBlanks, at);
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

LightgbmTrees::LightgbmTrees(TreeEnsemble& ensemble, const std::string& name)
    : ensemble_(ensemble), name_(name) {}

void LightgbmTrees::fail(const std::string& what) const {
  throw Error(ErrorCode::input, fmt::format("model {}: tree {} {}", name_, ensemble_.trees.size(), what));
}

std::vector<double> LightgbmTrees::numbers(const LightgbmFields& fields, std::string_view key) const {
  const auto found = fields.find(key);
  if (found == fields.end()) return {};
  std::vector<double> list;
  for (const std::string_view word : words_of(found->second)) {
    const std::optional<double> number = read_number(word);
    if (!number) fail(fmt::format("has {} in {}; expected a number", in_quotes(word), key));
    list.push_back(*number);
  }
  return list;
}

LightgbmTrees::Lists LightgbmTrees::lists_of(const LightgbmFields& fields) const {
  const std::vector<double> linear = numbers(fields, "is_linear");
  if (!linear.empty() && linear[0] != 0) fail("is linear in its leaves; expected constant leaves");
  Lists lists;
  lists.value = numbers(fields, "leaf_value");
  const std::vector<double> leaves = numbers(fields, "num_leaves");
  if (lists.value.empty() || leaves.size() != 1 || leaves[0] != static_cast<double>(lists.value.size())) {
    fail(fmt::format("has {} values of leaves; expected num_leaves, {}", lists.value.size(),
                     leaves.empty() ? 0 : leaves[0]));
  }
  const std::size_t splits = lists.value.size() - 1;
  lists.column = numbers(fields, "split_feature");
  lists.threshold = numbers(fields, "threshold");
  lists.decision = numbers(fields, "decision_type");
  lists.left = numbers(fields, "left_child");
  lists.right = numbers(fields, "right_child");
  if (!fields.contains("decision_type")) lists.decision.assign(splits, 0);  // LightGBM of before 2.0
  if (splits == 0) return lists;                                            // whatever stands there
  for (const auto* list : {&lists.column, &lists.threshold, &lists.decision, &lists.left, &lists.right}) {
    if (list->size() != splits) {
      fail(fmt::format("has a list of {} numbers; expected {}, one a split", list->size(), splits));
    }
  }
  lists.boundaries = numbers(fields, "cat_boundaries");
  lists.words = numbers(fields, "cat_threshold");
  return lists;
}

void LightgbmTrees::add(const LightgbmFields& fields) {
  const Lists lists = lists_of(fields);
  const auto output = static_cast<std::uint32_t>(ensemble_.trees.size() % ensemble_.margins());
  const auto first_leaf = static_cast<std::int32_t>(ensemble_.leaves.size());
  const auto first_node = static_cast<std::int32_t>(ensemble_.nodes.size());
  const std::size_t splits = lists.value.size() - 1;
  for (std::size_t node = 0; node < splits; ++node) {
    TreeNode added = split(lists, node);
    added.left = child(lists, lists.left[node]);
    added.right = child(lists, lists.right[node]);
    ensemble_.nodes.push_back(added);
  }
  ensemble_.leaves.insert(ensemble_.leaves.end(), lists.value.begin(), lists.value.end());
  // Numbers of this tree become numbers of the ensemble; ~(leaf + first) is ~leaf − first.
  const auto shift = [&](std::int32_t at) { return at < 0 ? at - first_leaf : at + first_node; };
  for (std::size_t node = 0; node < splits; ++node) {
    TreeNode& added = ensemble_.nodes[static_cast<std::size_t>(first_node) + node];
    added.left = shift(added.left);
    added.right = shift(added.right);
  }
  ensemble_.trees.push_back({.root = shift(splits == 0 ? ~0 : 0), .output = output});
}

std::int32_t LightgbmTrees::child(const Lists& lists, double written) const {
  const std::size_t leaves = lists.value.size();
  const std::size_t limit = written < 0 ? leaves : leaves - 1;
  const std::size_t index = index_of(written < 0 ? -written - 1 : written, limit);
  if (index == limit) {
    fail(fmt::format("points to {}; it has {} splits and {} leaves", written, leaves - 1, leaves));
  }
  return written < 0 ? ~static_cast<std::int32_t>(index) : static_cast<std::int32_t>(index);
}

TreeNode LightgbmTrees::split(const Lists& lists, std::size_t node) {
  const std::size_t column = index_of(lists.column[node], ensemble_.columns);
  if (column == ensemble_.columns) {
    fail(fmt::format("splits feature {}; the model has {}", lists.column[node], ensemble_.columns));
  }
  const std::size_t kinds = 3U << kMissingShift;  // missing values are none, zeros or NaN
  const std::size_t decision = index_of(lists.decision[node], kinds);
  if (decision == kinds) fail(fmt::format("has decision_type {}; expected 0 to 11", lists.decision[node]));
  TreeInput input{.column = static_cast<std::uint32_t>(column)};
  TreeNode found;
  std::vector<std::uint32_t> members;
  if ((decision & kCategorical) != 0) {
    members = categories(lists, node);
    input.rule = TreeInput::Rule::category;
  } else {
    constexpr std::array kRules{TreeInput::Rule::nan_is_zero, TreeInput::Rule::zero_is_missing,
                                TreeInput::Rule::plain};
    input.rule = kRules[decision >> kMissingShift];
    found.missing_left = (decision & kDefaultLeft) != 0;
    found.threshold = strict(lists.threshold[node]);
    if (std::isnan(found.threshold)) fail(fmt::format("splits feature {} at nan", column));
  }
  const auto [place, fresh] =
      inputs_.try_emplace({input.column, input.rule, members}, ensemble_.inputs.size());
  if (fresh) {
    if (input.rule == TreeInput::Rule::category) {
      input.set = static_cast<std::uint32_t>(ensemble_.sets.size());
      ensemble_.sets.push_back({.words = std::move(members), .members_left = true});
    }
    ensemble_.inputs.push_back(input);
  }
  found.input = place->second;
  return found;
}

// The threshold of such a split is the number of its set; a set's words lie between two boundaries.
std::vector<std::uint32_t> LightgbmTrees::categories(const Lists& lists, std::size_t node) const {
  const std::size_t sets = lists.boundaries.empty() ? 0 : lists.boundaries.size() - 1;
  const std::size_t set = index_of(lists.threshold[node], sets);
  const std::size_t end = lists.words.size() + 1;
  const std::size_t first = set == sets ? end : index_of(lists.boundaries[set], end);
  const std::size_t last = set == sets ? end : index_of(lists.boundaries[set + 1], end);
  if (first == end || last == end || first > last) {
    fail(fmt::format("splits by set {} of categories; it has {} sets, of {} words", lists.threshold[node],
                     sets, lists.words.size()));
  }
  std::vector<std::uint32_t> members;
  for (std::size_t i = first; i < last; ++i) {
    const double word = lists.words[i];
    if (!(word >= 0 && word <= std::numeric_limits<std::uint32_t>::max())) {
      fail(fmt::format("has {} as categories; expected 32 bits", word));
    }
    members.push_back(static_cast<std::uint32_t>(word));
  }
  return members;
}

}  // namespace harmonia
