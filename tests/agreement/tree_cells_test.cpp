#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "../../src/model/tree_cells.hpp"
#include "../../src/model/tree_prepared.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "support/random_trees.hpp"

namespace harmonia {
namespace {

using testing::random_trees;
using testing::RandomTrees;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBatch = 1024;

std::unique_ptr<Model> model_of(const TreeEnsemble& ensemble, bool fast) {
  return make_tree_model(ensemble, {.name = "random",
                                    .kind = "xgboost",
                                    .sha256 = "",
                                    .margin = ensemble.margins() % 2 == 1,
                                    .simd = best_simd(),
                                    .fast_path = fast});
}

// Values on thresholds, next to them, far off, next to 0, and anywhere.
template <class T>
Matrix<T> rows_for(const TreeEnsemble& ensemble, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  constexpr double kOdd[] = {kMissing, kInfinity, -kInfinity, 0, -0.0, 1e-35F, -1e-35F, 1e-40, 1e300, -5};
  Matrix<T> x(count, ensemble.columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < ensemble.columns; ++j) {
      T value = static_cast<T>(1.4 * uniform() - 0.2);
      if (uniform() < 0.4) {
        value = static_cast<T>(ensemble.nodes[random() % ensemble.nodes.size()].threshold);
        if (uniform() < 0.5)
          value = std::nextafter(value, static_cast<T>(uniform() < 0.5 ? kInfinity : -kInfinity));
      }
      if (uniform() < 0.15) value = static_cast<T>(kOdd[random() % std::size(kOdd)]);
      if (uniform() < 0.05) value = std::nextafter(static_cast<T>(1e-35F), T{1});
      x.row(i)[j] = value;
    }
  }
  return x;
}

template <class T>
void expect_same_answers(const TreeEnsemble& ensemble, std::uint64_t seed) {
  const auto fast = model_of(ensemble, true), slow = model_of(ensemble, false);
  ASSERT_TRUE(fast->info().fast_path.starts_with("cells from ")) << fast->info().fast_path;
  ASSERT_EQ(slow->info().fast_path, "");
  ASSERT_EQ(fast->ball_path(), nullptr);
  const std::size_t outputs = fast->info().outputs;
  Matrix<double> ours(kBatch, outputs), theirs(kBatch, outputs);
  for (std::size_t batch = 0; batch < 40; ++batch) {
    const Matrix<T> x = rows_for<T>(ensemble, kBatch, seed + 1000 * batch);
    fast->evaluate(x.view(), ours.view());
    slow->evaluate(x.view(), theirs.view());
    for (std::size_t i = 0; i < kBatch; ++i)
      for (std::size_t k = 0; k < outputs; ++k)
        ASSERT_EQ(ours.row(i)[k], theirs.row(i)[k]) << "batch " << batch << ", row " << i << ": "
                                                    << x.row(i)[0] << ", " << x.row(i)[ensemble.columns - 1];
  }
}

void expect_same(const TreeEnsemble& ensemble, std::uint64_t seed) {
  ensemble.scalar == Scalar::float32 ? expect_same_answers<float>(ensemble, seed)
                                     : expect_same_answers<double>(ensemble, seed);
}

TEST(TreeCells, EveryRowIsAsTheTreesAnswerIt) {
  std::uint64_t seed = 0;
  for (const std::size_t columns : {1, 2}) {
    for (const unsigned depth : {1U, 3U, 6U, 8U, 11U}) {
      for (const std::size_t margins : {1, 2, 3}) {
        for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
          SCOPED_TRACE(++seed);
          expect_same(random_trees({.columns = columns,
                                    .trees = 12,
                                    .depth = depth,
                                    .stop = depth > 8 ? 0.3 : 0.1,
                                    .margins = margins,
                                    .wide_leaves = depth % 2 == 1,
                                    .scalar = scalar,
                                    .seed = seed}),
                      seed);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

// What a model says of its table is what happens: trees are walked until so many points were asked for.
TEST(TreeCells, ATableIsMadeAtTheNumberOfPointsThatIsSaid) {
  const TreeEnsemble ensemble = random_trees({.columns = 2, .trees = 40, .seed = 9});
  const TreeModelOptions options{.name = "random", .kind = "xgboost", .sha256 = "", .simd = best_simd()};
  LeafScales scales(ensemble.margins());
  scales.add(ensemble);
  const PreparedTrees trees(ensemble, options, scales.exponents());
  const auto cells = TreeCells::find(trees.trees, trees.rows, trees.kernel.block, trees.answers,
                                     tree_model_info(ensemble, options), trees.row_cost());
  ASSERT_NE(cells, nullptr);
  const auto model = make_tree_model(ensemble, options);
  EXPECT_EQ(model->info().fast_path, "cells from " + std::to_string(cells->pays()) + " points on");
  ASSERT_GT(cells->pays(), 2U);
  const Matrix<float> x = rows_for<float>(ensemble, cells->pays() - 1, 10);
  Matrix<double> y(x.rows(), 1), walked(1, 1);
  const auto walk = [&](RowsView rows, MutableRowsView answers) { trees.evaluate(rows, answers); };
  EXPECT_FALSE(cells->evaluate(x.view(), y.view(), walk));
  ASSERT_TRUE(cells->evaluate(x.view().slice(0, 1), y.view().slice(0, 1), walk));
  trees.evaluate(x.view().slice(0, 1), walked.view());
  EXPECT_EQ(y.row(0)[0], walked.row(0)[0]);
}

TEST(TreeCells, LinksAreThoseOfRows) {
  for (const TreeLink::Kind kind :
       {TreeLink::Kind::logistic, TreeLink::Kind::softmax, TreeLink::Kind::largest,
        TreeLink::Kind::softmax_zero, TreeLink::Kind::exponential}) {
    TreeEnsemble ensemble = random_trees({.columns = 2, .margins = 2, .seed = 3});
    ensemble.link.kind = kind;
    ensemble.factor = 1.0 / 3;
    expect_same(ensemble, 4);
  }
}

// Splits that see a column in several ways; columns of many that no split looks at.
TEST(TreeCells, RulesAndOtherColumns) {
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    TreeEnsemble ensemble =
        random_trees({.columns = 2, .trees = 25, .depth = 5, .scalar = scalar, .seed = 5});
    ensemble.columns = 7;
    ensemble.inputs = {{.column = 6},
                       {.column = 1},
                       {.column = 6, .rule = TreeInput::Rule::zero_is_missing},
                       {.column = 1, .rule = TreeInput::Rule::nan_is_zero},
                       {.column = 3}};
    std::mt19937_64 random(7);
    constexpr double kNearZero[] = {0, 1e-35F, -1e-35F, 1e-38F};
    for (TreeNode& node : ensemble.nodes) {
      node.input = static_cast<std::uint32_t>(random() % 4);
      if (random() % 8 == 0) node.threshold = kNearZero[random() % std::size(kNearZero)];
    }
    expect_same(ensemble, 6);
  }
}

TEST(TreeCells, ThresholdsMayBeHugeTinyOrInfinite) {
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    TreeEnsemble ensemble = random_trees({.columns = 2, .trees = 6, .depth = 5, .scalar = scalar, .seed = 8});
    std::mt19937_64 random(9);
    constexpr double kOdd[] = {kInfinity, -kInfinity, 3e38F, -3e38F, 1e-45F, -1e-45F, 0};
    for (TreeNode& node : ensemble.nodes)
      if (random() % 3 == 0) node.threshold = kOdd[random() % std::size(kOdd)];
    expect_same(ensemble, 10);
    // One bound, and bounds that are neighbours.
    for (TreeNode& node : ensemble.nodes) node.threshold = 0.5;
    expect_same(ensemble, 11);
    for (TreeNode& node : ensemble.nodes)
      if (random() % 2 == 0) node.threshold = std::nextafter(0.5F, 1.0F);
    expect_same(ensemble, 12);
  }
}

TEST(TreeCells, OthersHaveNone) {
  EXPECT_EQ(model_of(random_trees({.columns = 3, .seed = 1}), true)->info().fast_path, "");
  TreeEnsemble category = random_trees({.columns = 2, .seed = 2});
  category.sets = {{.words = {5}}};
  category.inputs[1] = {.column = 1, .rule = TreeInput::Rule::category, .set = 0};
  EXPECT_EQ(model_of(category, true)->info().fast_path, "");
  // 3,000 thresholds a column are more cells than a table holds.
  EXPECT_EQ(
      model_of(random_trees({.columns = 2, .trees = 200, .depth = 6, .seed = 3}), true)->info().fast_path,
      "");
  TreeEnsemble leaf = random_trees({.columns = 2, .trees = 3, .depth = 0, .seed = 4});
  EXPECT_EQ(model_of(leaf, true)->info().fast_path, "");
}

// Several threads ask while the table is made.
TEST(TreeCells, ThreadsNeedNotWait) {
  const TreeEnsemble ensemble = random_trees({.columns = 2, .trees = 40, .depth = 6, .seed = 6});
  const auto fast = model_of(ensemble, true), slow = model_of(ensemble, false);
  const Matrix<float> x = rows_for<float>(ensemble, 64, 7);
  Matrix<double> expected(x.rows(), 1);
  slow->evaluate(x.view(), expected.view());
  std::vector<std::thread> threads;
  std::vector<std::size_t> wrong(4);
  for (std::size_t& found : wrong) {
    threads.emplace_back([&] {
      Matrix<double> y(x.rows(), 1);
      for (int i = 0; i < 500; ++i) {
        fast->evaluate(x.view(), y.view());
        for (std::size_t row = 0; row < x.rows(); ++row)
          found += y.row(row)[0] != expected.row(row)[0] ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::size_t>(4));
}

TEST(CellAxis, CellsAreTheBoundsThatAValueIsNotBelow) {
  std::mt19937_64 random(1);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::set<double> bounds;
    const std::size_t count = random() % 50;
    // Of all sizes, so that most steps between them are nothing to the largest.
    for (std::size_t i = 0; i < count; ++i)
      bounds.insert((uniform() - 0.5) * std::pow(10.0, repeat % 4 == 0 ? 600 * uniform() - 300 : 0));
    const std::vector<double> sorted(bounds.begin(), bounds.end());
    const CellAxis axis(3, sorted);
    EXPECT_EQ(axis.column(), 3);
    ASSERT_EQ(axis.cells(), sorted.size() + 2);
    const auto expect_cell = [&](double value) {
      const auto below = std::ranges::count_if(sorted, [&](double bound) { return bound <= value; });
      ASSERT_EQ(axis.cell(value), static_cast<std::size_t>(below)) << value;
    };
    for (const double bound : sorted) {
      expect_cell(bound);
      expect_cell(std::nextafter(bound, kInfinity));
      expect_cell(std::nextafter(bound, -kInfinity));
    }
    for (const double value : {kInfinity, -kInfinity, 0.0, 1e308, -1e308, 1e-320, uniform(), -uniform()})
      expect_cell(value);
    EXPECT_EQ(axis.cell(kMissing), axis.cells() - 1);
  }
}

}  // namespace
}  // namespace harmonia
