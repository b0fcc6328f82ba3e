#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "support/random_trees.hpp"

namespace harmonia {
namespace {

using testing::paths;
using testing::random_trees;
using testing::RandomTrees;

// Rows in and around [0, 1], some values missing, many exactly on a threshold.
template <class T>
Matrix<T> random_rows(const TreeEnsemble& ensemble, std::size_t count, double missing, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  Matrix<T> x(count, ensemble.columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < ensemble.columns; ++j) {
      double value = 1.2 * uniform() - 0.1;
      if (uniform() < 0.4) value = ensemble.nodes[random() % ensemble.nodes.size()].threshold;
      if (uniform() < 0.1) value = std::nextafter(value, 2.0);
      if (uniform() < missing) value = std::numeric_limits<double>::quiet_NaN();
      x.row(i)[j] = static_cast<T>(value);
    }
  }
  return x;
}

// The margins by the definition, tree after tree, in long double.
template <class T>
double margin_of(const TreeEnsemble& e, const T* row, std::size_t k) {
  long double sum = 0;
  for (const Tree& tree : e.trees) {
    if (e.leaf_width == 1 && tree.output != k) continue;
    std::int32_t at = tree.root;
    while (at >= 0) {
      const TreeNode& node = e.nodes[static_cast<std::size_t>(at)];
      const T value = row[e.inputs[node.input].column];
      const bool left = std::isnan(value) ? node.missing_left : value < static_cast<T>(node.threshold);
      at = left ? node.left : node.right;
    }
    sum += e.leaves[static_cast<std::size_t>(~at) * e.leaf_width + (e.leaf_width == 1 ? 0 : k)];
  }
  return static_cast<double>(e.base[k] + e.factor * sum);
}

template <class T>
void expect_the_definition(const RandomTrees& shape, std::size_t count, double missing) {
  const TreeEnsemble ensemble = random_trees(shape);
  const Matrix<T> x = random_rows<T>(ensemble, count, missing, shape.seed + 1);
  Matrix<double> first(count, shape.margins);
  for (const Simd simd : paths()) {
    const auto model = make_tree_model(
        ensemble, {.name = "random", .kind = "xgboost", .sha256 = "", .margin = true, .simd = simd});
    Matrix<double> y(count, shape.margins);
    model->evaluate(x.view(), y.view());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < shape.margins; ++k) {
        ASSERT_NEAR(y.row(i)[k], margin_of(ensemble, x.row(i), k), 1e-13)
            << "row " << i << ", depth " << shape.depth;
        if (simd == Simd::scalar) {
          first.row(i)[k] = y.row(i)[k];
        } else {
          ASSERT_EQ(y.row(i)[k], first.row(i)[k]);
        }
      }
    }
  }
}

TEST(TreeModel, EveryPathGivesTheDefinitionsMargins) {
  std::uint64_t seed = 1;
  for (const unsigned depth : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 13U}) {
    for (const double missing : {0.0, 0.2}) {
      for (const std::size_t margins : {1, 3}) {
        for (const bool wide : {false, true}) {
          RandomTrees shape{.depth = depth, .margins = margins, .wide_leaves = wide, .seed = ++seed};
          if (depth > 8) shape.stop = 0.25;
          if (depth == 0) shape.depth = 1;  // some trees are a leaf alone
          if (depth == 0) shape.stop = 0.7;
          expect_the_definition<float>(shape, 77, missing);
          shape.scalar = Scalar::float64;
          expect_the_definition<double>(shape, 77, missing);
        }
      }
    }
  }
}

TEST(TreeModel, AnyNumberOfRowsMayBeAsked) {
  for (const std::size_t count : {1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 257, 700}) {
    expect_the_definition<float>({.seed = count}, count, 0.05);
  }
}

// Rows too wide for the nearest cache are walked through several trees in turn, a rest of which is left.
TEST(TreeModel, RowsMayBeWide) {
  for (const std::size_t trees : {3, 22}) {
    for (const unsigned depth : {6U, 8U, 11U}) {
      const RandomTrees shape{.columns = 900, .trees = trees, .depth = depth, .seed = depth};
      expect_the_definition<float>(shape, 83, 0.0);
      expect_the_definition<float>(shape, 83, 0.1);
    }
  }
}

// Inputs may name the columns in any order.
TEST(TreeModel, TheOrderOfTheInputsDoesNotMatter) {
  TreeEnsemble ensemble = random_trees({.columns = 40, .trees = 100, .seed = 8});
  const Matrix<float> x = random_rows<float>(ensemble, 70, 0.1, 9);
  for (const Simd simd : paths()) {
    TreeEnsemble shuffled = ensemble;
    std::swap(shuffled.inputs[1], shuffled.inputs[6]);
    std::swap(shuffled.inputs[20], shuffled.inputs[30]);
    Matrix<double> y(70, 1);
    make_tree_model(shuffled, {.name = "a", .kind = "xgboost", .sha256 = "", .simd = simd})
        ->evaluate(x.view(), y.view());
    for (std::size_t i = 0; i < 70; ++i) ASSERT_NEAR(y.row(i)[0], margin_of(shuffled, x.row(i), 0), 1e-13);
  }
}

TEST(TreeModel, LeavesThatAddUpToMoreThanADoubleHoldsAreRefused) {
  TreeEnsemble ensemble = random_trees({.trees = 3});
  for (double& leaf : ensemble.leaves) leaf = 1.5e308;
  EXPECT_THROW(make_tree_model(ensemble, {.name = "a", .kind = "xgboost", .sha256 = ""}), Error);
}

TEST(TreeModel, TheOrderOfTheTreesDoesNotMatter) {
  TreeEnsemble ensemble = random_trees({.trees = 300, .seed = 4});
  const Matrix<float> x = random_rows<float>(ensemble, 100, 0, 5);
  Matrix<double> once(100, 1), again(100, 1);
  make_tree_model(ensemble, {.name = "a", .kind = "xgboost", .sha256 = ""})->evaluate(x.view(), once.view());
  std::reverse(ensemble.trees.begin(), ensemble.trees.end());
  make_tree_model(ensemble, {.name = "b", .kind = "xgboost", .sha256 = ""})->evaluate(x.view(), again.view());
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(once.row(i)[0], again.row(i)[0]);
}

// A double that rounds to the threshold's float is decided by its own digits, on every path.
TEST(TreeModel, DoublesAreComparedAsDoubles) {
  const double t = 0.1;
  TreeEnsemble ensemble;
  ensemble.columns = 1;
  ensemble.scalar = Scalar::float64;
  ensemble.inputs = {{.column = 0}};
  ensemble.nodes = {{.threshold = t, .input = 0, .left = ~0, .right = ~1}};
  ensemble.trees = {{.root = 0}};
  ensemble.leaves = {-1, 1};
  const double x[] = {std::nextafter(t, 0.0), t, std::nextafter(t, 1.0)};
  for (const Simd simd : paths()) {
    Matrix<double> y(3, 1);
    make_tree_model(ensemble, {.name = "tie", .kind = "lightgbm", .sha256 = "", .simd = simd})
        ->evaluate(MatrixView<const double>{x, 3, 1}, y.view());
    EXPECT_EQ(y.row(0)[0], -1);
    EXPECT_EQ(y.row(1)[0], 1);
    EXPECT_EQ(y.row(2)[0], 1);
  }
}

TEST(TreeModel, CategoriesAndMissingRules) {
  TreeEnsemble ensemble;
  ensemble.columns = 3;
  ensemble.scalar = Scalar::float64;
  ensemble.inputs = {{.column = 0, .rule = TreeInput::Rule::category, .set = 0},
                     {.column = 1, .rule = TreeInput::Rule::nan_is_zero},
                     {.column = 2, .rule = TreeInput::Rule::zero_is_missing}};
  ensemble.sets = {{.words = {0b1010, 1}, .members_left = true}};  // 1, 3 and 32
  ensemble.nodes = {{.threshold = 0, .input = 0, .left = ~0, .right = ~1},
                    {.threshold = -0.5, .input = 1, .left = ~2, .right = ~3, .missing_left = true},
                    {.threshold = 5, .input = 2, .left = ~4, .right = ~5, .missing_left = false}};
  ensemble.trees = {{.root = 0}, {.root = 1}, {.root = 2}};
  ensemble.leaves = {1, 0, 10, 0, 100, 0};
  const auto model = make_tree_model(ensemble, {.name = "rules", .kind = "lightgbm", .sha256 = ""});
  const double nan = std::nan("");
  const std::vector<std::vector<double>> rows{{1, -1, 1}, {3.9, nan, 0},  {32, 0, -1e-36}, {33, 1, nan},
                                              {64, 0, 6}, {-1, -0.6, -2}, {nan, 0, 6},     {1e30, 0, 6}};
  const std::vector<double> expected{111, 1, 1, 0, 0, 110, 0, 0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double y = 0;
    model->evaluate(MatrixView<const double>{rows[i].data(), 1, 3}, {&y, 1, 1});
    EXPECT_EQ(y, expected[i]) << "row " << i;
  }
}

std::string complaint(const TreeEnsemble& ensemble) {
  try {
    check_trees(ensemble, "bad");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TreeModel, WhatIsNoTreeIsRefused) {
  const TreeEnsemble good = random_trees({.trees = 2, .depth = 2, .stop = 0});
  EXPECT_EQ(complaint(good), "");
  TreeEnsemble bad = good;
  bad.nodes[1].left = bad.trees[0].root;
  EXPECT_EQ(complaint(bad), "model bad: tree 0 reaches node 0 twice; expected a tree");
  bad = good;
  bad.nodes[0].right = 99;
  EXPECT_EQ(complaint(bad), "model bad: tree 0 points to node 99 of 6");
  bad = good;
  bad.nodes[0].right = ~99;
  EXPECT_EQ(complaint(bad), "model bad: tree 0 points to leaf 99 of 8");
  bad = good;
  bad.nodes[2].input = 7;
  EXPECT_TRUE(complaint(bad).starts_with("model bad: tree 0 splits input 7 of 5")) << complaint(bad);
  bad = good;
  bad.leaves[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(complaint(bad), "model bad: a leaf is not finite");
}

}  // namespace
}  // namespace harmonia
