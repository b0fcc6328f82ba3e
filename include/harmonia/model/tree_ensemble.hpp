#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/core/rows.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What splits compare: a column of the data, seen as the library that made the model sees it.
struct TreeInput {
  enum class Rule : std::uint8_t {
    plain,            ///< the value; NaN is missing
    nan_is_zero,      ///< the value; NaN is 0
    zero_is_missing,  ///< the value; NaN and |x| <= 1e-35 are missing
    category,         ///< −1 if the category goes left, 1 if it goes right; NaN is missing
  };
  std::uint32_t column = 0;
  Rule rule = Rule::plain;
  std::uint32_t set = 0;  ///< with `category`: which of TreeEnsemble::sets
};

/// The categories that a split singles out. A value is cut to a whole number; what is negative then or beyond
/// the bits is no member.
struct CategorySet {
  std::vector<std::uint32_t> words;  ///< bit c % 32 of words[c / 32]: category c is a member
  bool members_left = false;         ///< members go left and all others right; else the other way round
  bool cut_below_zero = true;        ///< a value between −1 and 0 is category 0; else it is no member
};

/// A split: left if x < threshold.
struct TreeNode {
  double threshold = 0;       ///< with float32 inputs a value of that type; `x <= t` is `x < next above t`
  std::uint32_t input = 0;    ///< of TreeEnsemble::inputs
  std::int32_t left = 0;      ///< number of a node, or ~number of a leaf
  std::int32_t right = 0;     ///< the same
  bool missing_left = false;  ///< where a missing value goes
};

/// One tree.
struct Tree {
  std::int32_t root = 0;     ///< number of a node, or ~number of a leaf
  std::uint32_t output = 0;  ///< the margin that its leaves add to, if a leaf is one number
};

/// From margins to what the library's own predict returns.
struct TreeLink {
  enum class Kind : std::uint8_t {
    identity,
    logistic,       ///< 1/(1 + exp(−parameter·m)), each margin for itself
    softmax,        ///< over all margins
    softmax_zero,   ///< softmax over the margins that are not 0; a 0 stays 0
    exponential,    ///< exp(m)
    softplus,       ///< log(1 + exp(m))
    signed_square,  ///< sign(m)·m²
    probit,         ///< √2·erf⁻¹(2m − 1)
    positive,       ///< 1 if m > 0, else 0
    largest,        ///< the number of the largest margin, the first of equals
  };
  Kind kind = Kind::identity;
  double parameter = 1;     ///< of `logistic`
  bool complement = false;  ///< the single value p becomes two columns, 1 − p and p
};

/// A sum of trees as plain arrays, from whatever library. margin k = base[k] + factor·(sum of the leaves that
/// a row reaches). Readers make it; make_tree_model() evaluates it.
struct TreeEnsemble {
  std::size_t columns = 0;          ///< of a row
  Scalar scalar = Scalar::float32;  ///< the type in which values and thresholds are compared
  std::vector<TreeInput> inputs;    ///< what nodes compare
  std::vector<CategorySet> sets;    ///< of the inputs that are categories
  std::vector<TreeNode> nodes;      ///< of all trees
  std::vector<Tree> trees;
  std::size_t leaf_width = 1;     ///< numbers a leaf: 1, or one a margin
  std::vector<double> leaves;     ///< leaves × leaf_width
  std::vector<double> base{0.0};  ///< one a margin
  double factor = 1;              ///< 1, or one over the number of trees where they are averaged
  TreeLink link;
  bool binary = false;                ///< its single output is the probability of class 1
  bool takes_missing = true;          ///< the library answers rows with missing values
  std::vector<std::string> features;  ///< names of the columns, if there are any
  std::vector<std::string> classes;   ///< names of the classes in the order of the outputs, if there are any

  std::size_t margins() const { return base.size(); }
};

/// Throws Error(input) that names `name` if numbers point outside the arrays, a node is reached twice, or a
/// number is not finite that has to be.
void check_trees(const TreeEnsemble& ensemble, const std::string& name);

/// What a tree model is called, and how it answers.
struct TreeModelOptions {
  std::string name;         ///< as the user wrote it
  std::string kind;         ///< "xgboost", "lightgbm", "onnx-trees"
  std::string sha256;       ///< of its file; empty: there is none
  bool margin = false;      ///< answers are the margins
  Simd simd = best_simd();  ///< instructions to use; the answers are the same to the bit
  bool fast_path = true;    ///< points may be answered together; the answers are the same to the bit
  bool cells = true;        ///< with `fast_path`: … by a table, where splits look at one column or two
  bool by_cost = true;      ///< ways to answer sooner are taken only where they are expected to pay
};

/// A model that evaluates the ensemble, vectorised for the processor at hand. Leaves are summed as
/// fixed-point integers: the sum does not depend on the order of the trees, the batch or the processor.
/// Throws what check_trees() throws.
std::unique_ptr<Model> make_tree_model(const TreeEnsemble& ensemble, const TreeModelOptions& options);

/// Reads a model that XGBoost saved as JSON or UBJSON. `name` is for messages. Throws Error(input) for what
/// is no such model, or one that is no sum of trees.
TreeEnsemble read_xgboost(const std::string& bytes, const std::string& name);

/// Reads a model that LightGBM saved as text. Throws Error(input) as read_xgboost does.
TreeEnsemble read_lightgbm(const std::string& text, const std::string& name);

/// Reads an ONNX file whose prediction is that of one TreeEnsembleClassifier or TreeEnsembleRegressor of
/// ai.onnx.ml, as skl2onnx writes scikit-learn's trees; nothing if it is another one, or its splits and sums
/// are of a kind that TreeEnsemble has no words for. ONNX Runtime answers the same but for rounding.
std::optional<TreeEnsemble> read_onnx_trees(const std::string& bytes, const std::string& name);

}  // namespace harmonia
