#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/tree_files.hpp"

namespace harmonia {
namespace {

using test::data_file;

TreeEnsemble read(const std::string& text) { return read_lightgbm(text, "m"); }

const std::string kModel =
    "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n"
    "objective=binary sigmoid:1\nfeature_names=a b\ntree_sizes=100 100\n\n"
    "Tree=0\nnum_leaves=3\nnum_cat=1\nsplit_feature=0 1\nthreshold=0 0.5\ndecision_type=1 2\n"
    "left_child=1 -1\nright_child=-2 -3\nleaf_value=0.1 0.2 0.3\ncat_boundaries=0 1\ncat_threshold=6\n"
    "is_linear=0\nshrinkage=1\n\n\n"
    "Tree=1\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nthreshold=\ndecision_type=\nleft_child=\n"
    "right_child=\nleaf_value=0.5\nis_linear=0\nshrinkage=1\n\n\nend of trees\n";

std::string with(const std::string& old, const std::string& fresh) {
  std::string changed = kModel;
  const std::size_t at = changed.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return changed.replace(at, old.size(), fresh);
}

TEST(LightgbmReader, TheModelThatTheOthersBreak) {
  const TreeEnsemble ensemble = read(kModel);
  EXPECT_EQ(ensemble.trees.size(), 2U);
  EXPECT_EQ(ensemble.nodes.size(), 2U);
  EXPECT_EQ(ensemble.scalar, Scalar::float64);
  EXPECT_TRUE(ensemble.binary);
  EXPECT_FALSE(test::refused(read, kModel));
}

TEST(LightgbmReader, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "model m begins with ''; expected a LightGBM model, from booster.save_model(): 'tree'"},
      {"a,b\n1,2\n",
       "model m begins with 'a,b'; expected a LightGBM model, from booster.save_model(): 'tree'"},
      {"tree\n", "model m has no max_feature_idx; expected a LightGBM model"},
      {with("max_feature_idx=1", "max_feature_idx=1e30"),
       "model m has max_feature_idx '1e30'; expected a whole number up to 4194303"},
      {with("num_tree_per_iteration=1", "num_tree_per_iteration=0"),
       "model m has num_tree_per_iteration 0; expected 1 or more"},
      {with("num_tree_per_iteration=1", "num_tree_per_iteration=3"),
       "model m has 2 trees; expected 2, and as many for each of 3 outputs"},
      {with("objective=binary", "objective=own"),
       "model m has the objective 'own'; expected one that LightGBM 4 has"},
      {with("sigmoid:1", "sigmoid:-1"), "model m has 'sigmoid:-1'; expected a number > 0"},
      {with("feature_names=a b", "feature_names=a"), "model m names 1 features; it has 2"},
      {with("tree_sizes=100 100", "tree_sizes=100"),
       "model m has 2 trees; expected 1, and as many for each of 1 outputs"},
      {with("end of trees", "end"), "model m ends after 2 trees; expected 'end of trees'"},
      {with("num_leaves=3", "num_leaves=4"),
       "model m: tree 0 has 3 values of leaves; expected num_leaves, 4"},
      {with("num_leaves=3", "num_leaves="), "model m: tree 0 has 3 values of leaves; expected num_leaves, 0"},
      {with("split_feature=0 1", "split_feature=0"),
       "model m: tree 0 has a list of 1 numbers; expected 2, one a split"},
      {with("split_feature=0 1", "split_feature=0 2"), "model m: tree 0 splits feature 2; the model has 2"},
      {with("split_feature=0 1", "split_feature=0 x"),
       "model m: tree 0 has 'x' in split_feature; expected a number"},
      {with("threshold=0 0.5", "threshold=0 nan"), "model m: tree 0 splits feature 1 at nan"},
      {with("threshold=0 0.5", "threshold=1 0.5"),
       "model m: tree 0 splits by set 1 of categories; it has 1 sets, of 1 words"},
      {with("cat_boundaries=0 1", "cat_boundaries=0 2"),
       "model m: tree 0 splits by set 0 of categories; it has 1 sets, of 1 words"},
      {with("cat_boundaries=0 1", "cat_boundaries=1 0"),
       "model m: tree 0 splits by set 0 of categories; it has 1 sets, of 1 words"},
      {with("cat_threshold=6", "cat_threshold=-6"), "model m: tree 0 has -6 as categories; expected 32 bits"},
      {with("decision_type=1 2", "decision_type=1 12"),
       "model m: tree 0 has decision_type 12; expected 0 to 11"},
      {with("left_child=1 -1", "left_child=2 -1"),
       "model m: tree 0 points to 2; it has 2 splits and 3 leaves"},
      {with("left_child=1 -1", "left_child=1 -9"),
       "model m: tree 0 points to -9; it has 2 splits and 3 leaves"},
      {with("is_linear=0", "is_linear=1"),
       "model m: tree 0 is linear in its leaves; expected constant leaves"},
  };
  for (const auto& [text, message] : cases) {
    test::expect_error(ErrorCode::input, message, [&bad = text] { read(bad); });
  }
}

TEST(LightgbmReader, CyclesAndNumbersThatAreTooLarge) {
  EXPECT_TRUE(test::refused(read, with("left_child=1 -1", "left_child=0 -1")));
  EXPECT_TRUE(test::refused(read, with("left_child=1 -1", "left_child=1 0")));
  EXPECT_TRUE(test::refused(read, with("right_child=-2 -3", "right_child=-1 -3")));
  EXPECT_TRUE(test::refused(read, with("leaf_value=0.1", "leaf_value=1e999")));
  EXPECT_TRUE(test::refused(read, with("leaf_value=0.1", "leaf_value=nan")));
}

TEST(LightgbmReader, TruncatedFiles) {
  for (const char* file : {"lightgbm/3.3.5/categories.txt", "lightgbm/2.3.1/ova.txt"}) {
    const std::string text = data_file(file);
    EXPECT_FALSE(test::refused(read, text));
    test::expect_truncations_refused(read, text, text.find("end of trees"), 7);
  }
}

TEST(LightgbmReader, CorruptFiles) {
  for (const char* file : {"lightgbm/3.3.5/categories.txt", "lightgbm/2.3.1/zeros.txt"}) {
    test::expect_corruption_survived(read, data_file(file), 400);
  }
}

}  // namespace
}  // namespace harmonia
