#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "support/random_trees.hpp"
#include "support/tree_balls.hpp"

namespace harmonia {
namespace {

using testing::expect_every_ball;
using testing::expect_point_by_point;
using testing::kKinds;
using testing::model_of;
using testing::paths;
using testing::random_trees;
using testing::RandomTrees;
using testing::rows_near;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Trees that are too deep to be packed as complete ones.
TEST(DeepTrees, EveryPointIsThatOfThePointAlone) {
  std::uint64_t seed = 1;
  for (const unsigned depth : {9U, 12U, 20U}) {
    for (const double missing : {0.0, 0.2}) {
      for (const std::size_t margins : {1, 3}) {
        RandomTrees shape{.trees = 12, .depth = depth, .stop = 0.3, .margins = margins, .seed = ++seed};
        shape.wide_leaves = margins == 3 && depth == 12;
        expect_every_ball(random_trees(shape), missing);
        shape.scalar = Scalar::float64;
        expect_every_ball(random_trees(shape), missing);
      }
    }
  }
}

TEST(DeepTrees, FeaturesMayBeManyOrOne) {
  expect_every_ball(random_trees({.columns = 300, .trees = 6, .depth = 12, .stop = 0.25, .seed = 4}), 0.1);
  expect_every_ball(random_trees({.columns = 1, .trees = 12, .depth = 12, .stop = 0.25, .seed = 5}), 0.1);
}

TEST(DeepTrees, SolidBallsHaveSeveralPointsAUnit) {
  expect_every_ball(random_trees({.trees = 8, .depth = 11, .stop = 0.25, .seed = 3}), 0.1, {},
                    Average::solid);
}

// More rows, and more trees with more splits, than are walked in turn; some rows are walked alone.
TEST(DeepTrees, RowsAndTreesMayBeMany) {
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    const TreeEnsemble ensemble = random_trees(
        {.columns = 7, .trees = 150, .depth = 13, .stop = 0.2, .margins = 2, .scalar = scalar, .seed = 21});
    for (const Simd simd : paths()) {
      const auto model = model_of(ensemble, simd);
      for (const BallKind kind : kKinds) {
        BallOptions options;
        options.kind = kind;
        options.radius = 0.1;
        const Ball ball(options, {}, 1);
        Matrix<double> x = rows_near(ensemble, 85, 0.02, 0.1, 5);
        x.row(20)[3] = kInfinity;
        x.row(70)[0] = -kInfinity;
        scalar == Scalar::float32 ? expect_point_by_point<float>(*model, ball, x)
                                  : expect_point_by_point<double>(*model, ball, x);
      }
    }
  }
}

// A tree that is one long branch, whose every split looks at one of two columns.
TEST(DeepTrees, ABranchMayBeLong) {
  constexpr std::int32_t kSplits = 400;
  TreeEnsemble ensemble;
  ensemble.columns = 2;
  ensemble.inputs = {{.column = 0}, {.column = 1}};
  ensemble.base = {0.5};
  for (std::int32_t n = 0; n < kSplits; ++n) {
    const bool last = n + 1 == kSplits;
    ensemble.nodes.push_back({.threshold = static_cast<float>(n / 2) * 0.005F,
                              .input = static_cast<std::uint32_t>(n % 2),
                              .left = ~n,
                              .right = last ? ~kSplits : n + 1,
                              .missing_left = n % 3 == 0});
  }
  for (std::int32_t n = 0; n <= kSplits; ++n) ensemble.leaves.push_back(n % 7 - 3);
  ensemble.trees = {{.root = 0, .output = 0}};
  expect_every_ball(ensemble, 0.1);
}

// Thresholds, rows and steps that are one number in float32.
TEST(DeepTrees, DoublesMayDifferByLessThanFloatsDo) {
  constexpr double kFar = 1e9;
  TreeEnsemble ensemble =
      random_trees({.trees = 20, .depth = 12, .stop = 0.25, .scalar = Scalar::float64, .seed = 31});
  for (TreeNode& node : ensemble.nodes) node.threshold += kFar;
  for (const Simd simd : paths()) {
    const auto model = model_of(ensemble, simd);
    for (const BallKind kind : kKinds) {
      for (const double radius : {1e-3, 0.1, 10.0}) {
        BallOptions options;
        options.kind = kind;
        options.radius = radius;
        const Matrix<double> x = rows_near(ensemble, 40, 0.05, radius, 6);
        expect_point_by_point<double>(*model, Ball(options, {}, 1), x);
      }
    }
  }
}

// As LightGBM has it where no training row had a missing one.
TEST(DeepTrees, MissingMayBeZero) {
  TreeEnsemble ensemble =
      random_trees({.trees = 20, .depth = 11, .stop = 0.25, .scalar = Scalar::float64, .seed = 41});
  for (TreeInput& input : ensemble.inputs) input.rule = TreeInput::Rule::nan_is_zero;
  for (std::size_t n = 0; n < ensemble.nodes.size(); n += 40) ensemble.nodes[n].threshold = kInfinity;
  expect_every_ball(ensemble, 0.1);
}

// Steps that the bounds cut short, are whole, or are mirrored, each row's its own; complete trees as well.
TEST(DeepTrees, FeaturesMayHaveBoundsAndWholeSteps) {
  for (const unsigned depth : {5U, 11U}) {
    const TreeEnsemble ensemble = random_trees({.trees = 20, .depth = depth, .stop = 0.2, .seed = 8});
    Schema schema(ensemble.columns);
    for (std::size_t j = 0; j < schema.size(); ++j) schema[j].scale = 0.3 + 0.2 * static_cast<double>(j);
    schema[0].lower = -0.05;
    schema[0].upper = 0.9;
    schema[1].integer = true;
    schema[2].fixed = true;
    schema[3].lower = 0;
    schema[3].upper = 1;
    schema[3].mirrored = true;
    expect_every_ball(ensemble, 0.1, schema);
  }
}

// Splits that look at one column in several ways, one above the other, in complete and in deep trees.
TEST(DeepTrees, CategoriesAndNumbersMayShareAColumn) {
  for (const unsigned depth : {6U, 11U}) {
    for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
      TreeEnsemble ensemble = random_trees(
          {.columns = 3, .trees = 16, .depth = depth, .stop = 0.2, .scalar = scalar, .seed = 9 + depth});
      ensemble.sets = {{.words = {5}, .members_left = true},
                       {.words = {10}, .cut_below_zero = false},
                       {.words = {3, 0xFFFFFFFFU}, .members_left = true}};
      for (std::uint32_t set = 0; set < 3; ++set)
        ensemble.inputs.push_back({.column = 0, .rule = TreeInput::Rule::category, .set = set});
      ensemble.inputs.push_back({.column = 1, .rule = TreeInput::Rule::nan_is_zero});
      ensemble.inputs.push_back({.column = 2, .rule = TreeInput::Rule::zero_is_missing});
      std::mt19937_64 random(3);
      for (TreeNode& node : ensemble.nodes) {
        if (node.input == 0 && random() % 4 != 0) {
          node.input = 3 + static_cast<std::uint32_t>(random() % 3);
          node.threshold = 0;
        } else if (node.input > 0 && random() % 2 == 0) {
          node.input += 5;
        }
      }
      expect_every_ball(ensemble, 0);
      expect_every_ball(ensemble, 0.15);
    }
  }
}

}  // namespace
}  // namespace harmonia
