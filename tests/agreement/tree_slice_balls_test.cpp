#include "../../src/model/tree_slice_balls.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "../../src/model/tree_prepared.hpp"
#include "support/random_trees.hpp"
#include "support/tree_balls.hpp"

namespace harmonia {
namespace {

using testing::has_slices;
using testing::kKinds;
using testing::kRadii;
using testing::random_trees;
using testing::RandomTrees;
using testing::rows_near;

// All sums of a row and its ball.
struct Sums {
  std::vector<std::int64_t> centre, base, last;
  std::map<std::uint32_t, std::vector<std::int64_t>> own;  // of columns where some is not 0
  bool operator==(const Sums&) const = default;
};

Sums copy_of(const BallSumsView& view) {
  Sums sums;
  for (std::size_t k = 0; k < view.margins; ++k) sums.centre.push_back(view.centre[k * view.stride]);
  sums.base.assign(view.base, view.base + view.own_points * view.margins);
  sums.last.assign(view.last, view.last + view.last_points * view.margins);
  const std::size_t each = view.own_points * view.margins;
  for (const std::size_t told : view.told) {
    const std::int64_t* const own = view.own + told * each;
    const std::vector<std::int64_t> points(own, own + each);
    if (std::ranges::any_of(points, [](std::int64_t sum) { return sum != 0; }))
      sums.own[view.columns[told]] = points;
  }
  return sums;
}

// Counts rows that are left to it, and walks them.
class Counting final : public TreeBallWalker {
 public:
  Counting(std::unique_ptr<TreeBallWalker> walker, std::size_t& rows)
      : walker_(std::move(walker)), rows_(rows) {}
  void walk(std::span<const RowBall* const> rows, const Take& take) override {
    rows_ += rows.size();
    walker_->walk(rows, take);
  }

 private:
  std::unique_ptr<TreeBallWalker> walker_;
  std::size_t& rows_;
};

TreeModelOptions with(Simd simd) {
  TreeModelOptions options;
  options.margin = true;
  options.simd = simd;
  options.by_cost = false;
  return options;
}

// Sums by slices are those of the walk without vectors; says how many rows were left to another walk.
std::size_t expect_same(const TreeEnsemble& ensemble, const Ball& ball, const Matrix<double>& x) {
  LeafScales scales(ensemble.margins());
  scales.add(ensemble);
  const PreparedTrees plain(ensemble, with(Simd::scalar), scales.exponents());
  const PreparedTrees trees(ensemble, with(best_simd()), scales.exponents());
  EXPECT_EQ(trees.slices != nullptr, has_slices());
  if (trees.slices == nullptr) return x.rows();
  const TreeBalls& balls = trees.balls;
  const auto sliced = SliceBalls::find(trees.trees, trees.rows, *trees.slices, trees.kernel.block,
                                       balls.inputs.place, balls.columns.size());
  EXPECT_NE(sliced, nullptr);
  if (sliced == nullptr) return x.rows();
  const TreeBalls without(trees.trees, trees.rows, trees.kernel, trees.answers, nullptr,
                          tree_model_info(ensemble, with(best_simd())));
  std::size_t left = 0;
  auto walked = std::make_unique<Counting>(without.walker(ball), left);
  if (!sliced->answers_ball(ball, ensemble.margins())) return x.rows();
  const auto walker =
      sliced->walker(ball, std::move(walked), SliceBalls::kLeastRows, balls.columns, ensemble.margins());
  std::vector<RowBall> around;
  for (std::size_t i = 0; i < x.rows(); ++i)
    around.emplace_back(ball, std::span<const double>(x.row(i), x.columns()), i);
  std::vector<const RowBall*> rows;
  for (const RowBall& each : around) rows.push_back(&each);
  std::vector<Sums> expected(rows.size()), found(rows.size());
  plain.balls.walker(ball)->walk(
      rows, [&](std::size_t row, const BallSumsView& sums) { expected[row] = copy_of(sums); });
  // Twice, as nothing is left from before.
  for (int turn = 0; turn < 2; ++turn) {
    left = 0;
    walker->walk(rows, [&](std::size_t row, const BallSumsView& sums) { found[row] = copy_of(sums); });
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(found[i] == expected[i]) << "row " << i;
  }
  return left;
}

// The same of all balls and radii. Where there are slices, all rows are answered by them but the last few and
// those that move no feature.
void expect_same_balls(const TreeEnsemble& ensemble, std::size_t rows, double missing = 0,
                       Average average = Average::surface) {
  std::uint64_t seed = 1;
  for (const BallKind kind : kKinds) {
    for (const double radius : kRadii) {
      BallOptions options;
      options.kind = kind;
      options.radius = radius;
      options.average = average;
      const Ball ball(options, {}, 1);
      const std::size_t left =
          expect_same(ensemble, ball, rows_near(ensemble, rows, missing, radius, ++seed));
      EXPECT_LE(left, has_slices() ? (missing == 0 ? 0 : rows / 4) : rows);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "ball " << ball_name(options) << ", radius " << radius;
        return;
      }
    }
  }
}

TEST(TreeSliceBalls, SumsAreThoseOfAWalk) {
  std::uint64_t seed = 100;
  for (unsigned depth = 1; depth <= 8; ++depth) {
    for (const double missing : {0.0, 0.2}) {
      for (const std::size_t margins : {1, 3}) {
        for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
          expect_same_balls(
              random_trees(
                  {.depth = depth, .stop = 0.05, .margins = margins, .scalar = scalar, .seed = ++seed}),
              missing == 0 ? 150 : 500, missing);
        }
      }
    }
  }
}

// Splits of one column below each other, many features, whole slices and parts of them.
TEST(TreeSliceBalls, ColumnsMayBeOneOrMany) {
  expect_same_balls(random_trees({.columns = 1, .trees = 40, .stop = 0, .seed = 5}), 256, 0.1);
  expect_same_balls(random_trees({.columns = 2, .trees = 40, .depth = 7, .stop = 0, .seed = 6}), 97);
  expect_same_balls(random_trees({.columns = 300, .trees = 60, .stop = 0, .seed = 7}), 352);
  expect_same_balls(random_trees({.columns = 4, .trees = 700, .depth = 5, .seed = 8}), 608);
}

// Trees as LightGBM grows them, not complete, with thresholds in double that are one float.
TEST(TreeSliceBalls, TreesMayBeDeep) {
  std::uint64_t seed = 200;
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    for (const unsigned depth : {9U, 12U, 30U}) {
      for (const std::size_t columns : {1, 6, 40}) {
        for (const std::size_t margins : {1, 3}) {
          expect_same_balls(random_trees({.columns = columns,
                                          .depth = depth,
                                          .stop = depth == 30   ? 0.58
                                                  : depth == 12 ? 0.5
                                                                : 0.45,
                                          .margins = margins,
                                          .scalar = scalar,
                                          .seed = ++seed}),
                            columns == 6 ? 400 : 130, columns == 6 ? 0.1 : 0);
        }
      }
    }
  }
}

// As LightGBM has it where no training row had one: rows without missing values are sliced.
TEST(TreeSliceBalls, MissingMayBeZero) {
  for (const unsigned depth : {6U, 12U}) {
    TreeEnsemble ensemble = random_trees({.columns = 4,
                                          .depth = depth,
                                          .stop = depth == 6 ? 0.1 : 0.5,
                                          .scalar = Scalar::float64,
                                          .seed = depth});
    for (TreeInput& input : ensemble.inputs) input.rule = TreeInput::Rule::nan_is_zero;
    expect_same_balls(ensemble, 150);
    BallOptions options;
    options.radius = 0.1;
    const Ball ball(options, {}, 1);
    EXPECT_EQ(expect_same(ensemble, ball, rows_near(ensemble, 150, 0.2, 0.1, 1)), 150);
  }
}

TEST(TreeSliceBalls, SolidBallsHaveSeveralPointsAUnit) {
  expect_same_balls(random_trees({.depth = 5, .seed = 3}), 330, 0.1, Average::solid);
}

TEST(TreeSliceBalls, NumbersMayBeHugeOrInfinite) {
  const TreeEnsemble ensemble = random_trees({.columns = 3, .trees = 30, .seed = 9});
  Matrix<double> x = rows_near(ensemble, 128, 0.1, 0.1, 11);
  const double infinity = std::numeric_limits<double>::infinity();
  const double numbers[] = {infinity, -infinity, 3e38, -3e38, 3.5e38, 1e300, -1e300, 1e-45, -0.0};
  for (std::size_t i = 0; i < 9; ++i) x.row(13 * i)[i % 3] = numbers[i];
  for (const BallKind kind : kKinds) {
    BallOptions options;
    options.kind = kind;
    for (const double radius : {0.1, 1e30, 3e38}) {
      options.radius = radius;
      expect_same(ensemble, Ball(options, {}, 1), x);
    }
  }
}

// As boosters are: a column's scale is a step's, one is fixed, and trees of several depths follow each other.
TEST(TreeSliceBalls, FeaturesMayHaveScales) {
  for (const double stop : {0.0, 0.3}) {
    const TreeEnsemble ensemble = random_trees({.columns = 4, .trees = 50, .stop = stop, .seed = 10});
    Schema schema(4);
    schema[0].scale = 3;
    schema[1].scale = 0.01;
    schema[2].fixed = true;
    for (const BallKind kind : kKinds) {
      BallOptions options;
      options.kind = kind;
      options.radius = 0.1;
      expect_same(ensemble, Ball(options, schema, 1), rows_near(ensemble, 200, 0.05, 0.1, 12));
    }
  }
}

TEST(TreeSliceBalls, FewRowsAreWalked) {
  const TreeEnsemble ensemble = random_trees({.columns = 3, .trees = 30, .seed = 13});
  BallOptions options;
  options.kind = BallKind::cross;
  options.radius = 0.1;
  const Ball ball(options, {}, 1);
  EXPECT_EQ(expect_same(ensemble, ball, rows_near(ensemble, 20, 0, 0.1, 1)), 20);
  const std::size_t left = expect_same(ensemble, ball, rows_near(ensemble, 276, 0, 0.1, 1));
  EXPECT_EQ(left, has_slices() ? 20 : 276);
}

}  // namespace
}  // namespace harmonia
