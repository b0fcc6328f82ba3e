#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia {

/// The lines NAME=VALUE of a part of a LightGBM file.
using LightgbmFields = std::map<std::string_view, std::string_view>;

/// What stands between blanks.
std::vector<std::string_view> words_of(std::string_view text);

/// Adds the trees of a LightGBM file to the ensemble, whose columns and base are set.
class LightgbmTrees {
 public:
  LightgbmTrees(TreeEnsemble& ensemble, const std::string& name);

  /// Throws Error(input) for lists that do not fit together, and for linear trees.
  void add(const LightgbmFields& fields);

 private:
  /// The lists of one tree: of its leaves, of its splits, and of its splits on categories.
  struct Lists {
    std::vector<double> value;
    std::vector<double> column, threshold, decision, left, right;
    std::vector<double> boundaries, words;
  };

  Lists lists_of(const LightgbmFields& fields) const;
  std::vector<double> numbers(const LightgbmFields& fields, std::string_view key) const;
  TreeNode split(const Lists& lists, std::size_t node);
  std::int32_t child(const Lists& lists, double written) const;
  std::vector<std::uint32_t> categories(const Lists& lists, std::size_t node) const;
  [[noreturn]] void fail(const std::string& what) const;

  TreeEnsemble& ensemble_;
  const std::string& name_;
  std::map<std::tuple<std::uint32_t, TreeInput::Rule, std::vector<std::uint32_t>>, std::uint32_t> inputs_;
};

}  // namespace harmonia
