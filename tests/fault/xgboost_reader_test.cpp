#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/tree_files.hpp"

namespace harmonia {
namespace {

using test::data_file;

TreeEnsemble read(const std::string& bytes) { return read_xgboost(bytes, "m"); }

// A model of two trees: a split with two leaves, and a leaf alone.
const std::string kModel =
    R"({"learner":{"feature_names":[],"gradient_booster":{"model":{"tree_info":[0,0],"trees":[)"
    R"({"tree_param":{"size_leaf_vector":"1"},"left_children":[1,-1,-1],"right_children":[2,-1,-1],)"
    R"("split_indices":[1,0,0],"split_conditions":[0.5,-1,1],"default_left":[1,0,0],"split_type":[0,0,0]},)"
    R"({"tree_param":{"size_leaf_vector":"0"},"left_children":[-1],"right_children":[-1],)"
    R"("split_indices":[0],"split_conditions":[0.25],"default_left":[0]}]},"name":"gbtree"},)"
    R"("learner_model_param":{"base_score":"5E-1","num_class":"0","num_feature":"2"},)"
    R"("objective":{"name":"reg:squarederror"}},"version":[3,0,0]})";

std::string with(const std::string& old, const std::string& fresh) {
  std::string changed = kModel;
  const std::size_t at = changed.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return changed.replace(at, old.size(), fresh);
}

TEST(XgboostReader, TheModelThatTheOthersBreak) {
  const TreeEnsemble ensemble = read(kModel);
  EXPECT_EQ(ensemble.trees.size(), 2U);
  EXPECT_EQ(ensemble.nodes.size(), 1U);
  EXPECT_EQ(ensemble.base, std::vector<double>{0.5});
  EXPECT_FALSE(test::refused(read, kModel));
}

TEST(XgboostReader, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "model m is empty"},
      {"  \n", "model m is empty"},
      {"[1,2]",
       "model m begins with '[1,2]'; expected an XGBoost model in JSON or UBJSON: "
       "booster.save_model(\"model.json\") writes one"},
      {"{}", "model m has no 'learner'; expected an XGBoost model, from booster.save_model()"},
      {R"({"tree_info":[]})",
       "model m is what LightGBM's dump_model() gives; expected the text that booster.save_model() writes"},
      {R"({"learner": 1)", "model m: its JSON ends after 13 bytes; expected ',' or '}'"},
      {R"({"learner": what})", "model m: its JSON has 'what}' at byte 12; expected a value"},
      {kModel + "x", "model m: its JSON has 'x' at byte " + std::to_string(kModel.size()) +
                         "; expected the end of the file"},
      {with("\"name\":\"gbtree\"", "\"name\":\"gblinear\""),
       "model m is a linear model (gblinear); expected trees: gbtree or dart"},
      {with("\"name\":\"gbtree\"", "\"name\":7"),
       "model m has no 'name', or one of another form; expected what XGBoost's save_model() writes"},
      {with("reg:squarederror", "reg:own"),
       "model m has the objective 'reg:own'; expected one that XGBoost 1.7 to 3.2 have"},
      {with("5E-1", "nan"),
       "model m has base_score 'nan'; expected finite numbers that its objective allows"},
      {with("5E-1", "[1,2]"), "model m has 2 base scores; expected 1 or 1"},
      {with("\"num_feature\":\"2\"", "\"num_feature\":\"99999999999\""),
       "model m has num_feature '99999999999'; expected a whole number up to 4194304"},
      {with("\"num_feature\":\"2\"", "\"num_feature\":\"-2\""),
       "model m has num_feature '-2'; expected a whole number up to 4194304"},
      {with("\"feature_names\":[]", "\"feature_names\":[\"a\"]"), "model m names 1 features; it has 2"},
      {with("\"tree_info\":[0,0]", "\"tree_info\":[0,1]"),
       "model m has a tree for output 1; it has 1 outputs"},
      {with("\"tree_info\":[0,0]", "\"tree_info\":[0]"),
       "model m has 2 trees, 1 outputs for them and 2 weights; expected as many"},
      {with("\"size_leaf_vector\":\"1\"", "\"size_leaf_vector\":\"3\""),
       "model m has leaves of 3 numbers; expected 1 or 1"},
      {with("[1,-1,-1]", "[0,-1,-1]"), "model m: tree 0 reaches node 0 twice; expected a tree"},
      {with("[1,-1,-1]", "[2,-1,-1]"), "model m: tree 0 reaches node 2 twice; expected a tree"},
      {with("[1,-1,-1]", "[9,-1,-1]"), "model m: tree 0 points to a node that it does not have"},
      {with("[1,-1,-1]", "[-7,-1,-1]"), "model m: tree 0 points to a node that it does not have"},
      {with("[1,-1,-1]", "[0.5,-1,-1]"), "model m: tree 0 points to a node that it does not have"},
      {with("[1,-1,-1]", "\"left\""), "model m: tree 0 has no list of numbers as 'left_children'"},
      {with("[1,-1,-1]", "[]"), "model m: tree 0 has no nodes"},
      {with("[2,-1,-1]", "[2,-1]"), "model m: tree 0 has a list of 2 numbers; expected 3, one a node"},
      {with("\"split_indices\":[1", "\"split_indices\":[2"),
       "model m: tree 0 splits feature 2; the model has 2"},
      {with("\"split_conditions\":[0.5", "\"split_conditions\":[NaN"),
       "model m: tree 0 splits feature 1 at nan"},
      {with("\"split_type\":[0", "\"split_type\":[1"), "model m: tree 0 has no categories for node 0"},
      {with("\"split_type\":[0", R"("categories":[5],"categories_nodes":[0],"categories_segments":[0],)"
                                 R"("categories_sizes":[2],"split_type":[1)"),
       "model m: tree 0 has a list of categories, number 0, that does not fit its 3 nodes and 1 categories"},
      {with("\"split_type\":[0", R"("categories":[1e8],"categories_nodes":[0],"categories_segments":[0],)"
                                 R"("categories_sizes":[1],"split_type":[1)"),
       "model m: tree 0 has category 100000000; expected a whole number below 16777216"},
  };
  for (const auto& [bytes, message] : cases) {
    test::expect_error(ErrorCode::input, message, [&bad = bytes] { read(bad); });
  }
}

TEST(XgboostReader, NumbersThatAreTooLarge) {
  EXPECT_TRUE(test::refused(read, with("[0.25]", "[1e999]")));
  EXPECT_TRUE(test::refused(read, with("[0.25]", "[-Infinity]")));
  EXPECT_FALSE(test::refused(read, with("[0.5,-1,1]", "[Infinity,-1,1]")));  // no value reaches it
}

TEST(XgboostReader, NestingAndLengthsThatAreTooLarge) {
  const std::string deep(1 << 20, '[');
  EXPECT_TRUE(test::refused(read, "{\"learner\":" + deep));
  EXPECT_TRUE(test::refused(read, "{\"a\":" + std::string(1000, '[') + std::string(1000, ']') + "}"));
  const std::string key = {'{', 'i', 1, 'a'};
  EXPECT_TRUE(test::refused(read, key + deep));
  EXPECT_TRUE(test::refused(read, key + "[$d#L" + std::string(8, '\x7f')));     // 2^62 numbers
  EXPECT_TRUE(test::refused(read, key + "[$Z#L" + std::string(8, '\x7f')));     // … that take no bytes
  EXPECT_TRUE(test::refused(read, key + "[#l" + std::string(4, '\x7f')));       // items
  EXPECT_TRUE(test::refused(read, key + "[$d#l" + std::string(4, '\xff')));     // −1 numbers
  EXPECT_TRUE(test::refused(read, key + "SL" + std::string(8, '\x7f') + "a"));  // a text
}

TEST(XgboostReader, TruncatedFiles) {
  for (const char* file :
       {"xgboost/1.7.6/dart.json", "xgboost/2.1.4/vector.ubj", "xgboost/2.1.4/categories.ubj"}) {
    const std::string bytes = data_file(file);
    EXPECT_FALSE(test::refused(read, bytes));
    test::expect_truncations_refused(read, bytes, bytes.size(), 7);
  }
}

TEST(XgboostReader, CorruptFiles) {
  for (const char* file :
       {"xgboost/1.7.6/categories.ubj", "xgboost/2.1.4/softmax.json", "xgboost/2.1.4/onehot.json"}) {
    test::expect_corruption_survived(read, data_file(file), 400);
  }
}

}  // namespace
}  // namespace harmonia
