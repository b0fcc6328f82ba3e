#include "../../src/model/tree_slices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../../src/model/tree_prepared.hpp"
#include "support/random_trees.hpp"
#include "support/tree_balls.hpp"

namespace harmonia {
namespace {

using testing::has_slices;
using testing::random_trees;
using testing::RandomTrees;
using testing::rows_near;

// Trees made ready, and their slices; null where this processor has not the instructions.
struct Sliced {
  explicit Sliced(const TreeEnsemble& ensemble, bool by_cost = false)
      : trees(ensemble, options(), exponents(ensemble)),
        slices(TreeSlices::find(trees.trees, trees.rows, trees.kernel.block, trees.answers, by_cost)) {}

  static TreeModelOptions options() {
    TreeModelOptions options;
    options.margin = true;
    return options;
  }
  static std::vector<int> exponents(const TreeEnsemble& ensemble) {
    LeafScales scales(ensemble.margins());
    scales.add(ensemble);
    return scales.exponents();
  }

  PreparedTrees trees;
  std::unique_ptr<TreeSlices> slices;
};

Matrix<float> floats(const Matrix<double>& x) {
  Matrix<float> narrow(x.rows(), x.columns());
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < x.columns(); ++j) narrow.row(i)[j] = static_cast<float>(x.row(i)[j]);
  return narrow;
}

// Sums are those of the plain walk without vectors, to the bit; says how many rows slices left to it.
std::size_t expect_same(const TreeEnsemble& ensemble, RowsView x) {
  const Sliced sliced(ensemble);
  EXPECT_EQ(sliced.slices != nullptr, has_slices());
  if (sliced.slices == nullptr) return x.rows();
  TreeModelOptions without = Sliced::options();
  without.simd = Simd::scalar;
  without.cells = false;
  const auto plain = make_tree_model(ensemble, without);
  const std::size_t margins = ensemble.margins();
  Matrix<double> expected(x.rows(), margins), found(x.rows(), margins);
  plain->evaluate(x, expected.view());
  std::size_t walked = 0;
  sliced.slices->evaluate(x, found.view(), [&](RowsView rows, MutableRowsView answers) {
    walked += rows.rows();
    sliced.trees.walk(rows, answers);
  });
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t k = 0; k < margins; ++k)
      EXPECT_EQ(found.row(i)[k], expected.row(i)[k]) << "row " << i << ", margin " << k;
  return walked;
}

// The same of rows around the ensemble's thresholds, in its own type.
std::size_t expect_same_near(const TreeEnsemble& ensemble, std::size_t rows, std::uint64_t seed,
                             double missing = 0) {
  const Matrix<double> x = rows_near(ensemble, rows, missing, 0.1, seed);
  const Matrix<float> narrow = floats(x);
  return ensemble.scalar == Scalar::float32 ? expect_same(ensemble, narrow.view())
                                            : expect_same(ensemble, x.view());
}

TEST(TreeSlices, SumsAreThoseOfAWalk) {
  std::uint64_t seed = 1;
  for (unsigned depth = 0; depth <= 8; ++depth) {
    for (const double stop : {0.0, 0.3}) {
      for (const std::size_t margins : {1, 3}) {
        const TreeEnsemble ensemble = random_trees(
            {.columns = 5, .trees = 40, .depth = depth, .stop = stop, .margins = margins, .seed = ++seed});
        if (ensemble.nodes.empty()) continue;
        for (const std::size_t rows : {1, 95, 96, 256, 700}) expect_same_near(ensemble, rows, ++seed);
      }
    }
  }
}

// Sums of bytes are carried on after as many trees as they hold, and a rank is a byte: inputs of more
// thresholds are searched in parts.
TEST(TreeSlices, TreesAndThresholdsMayBeMany) {
  for (const std::size_t columns : {1, 2, 90}) {
    const TreeEnsemble ensemble =
        random_trees({.columns = columns, .trees = 700, .depth = 5, .stop = 0.05, .seed = columns});
    EXPECT_LE(expect_same_near(ensemble, 300, columns), has_slices() ? 44U : 300U);
  }
}

// Trees as LightGBM grows them: not complete, thresholds in double, of which some are one float, and rows on
// and beside them.
TEST(TreeSlices, TreesMayBeDeepAndThresholdsDouble) {
  std::uint64_t seed = 1;
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    for (const unsigned depth : {1U, 6U, 9U, 12U}) {
      for (const double stop : {0.42, 0.5}) {
        TreeEnsemble ensemble = random_trees({.columns = 6,
                                              .trees = 60,
                                              .depth = depth,
                                              .stop = depth > 6 ? stop : 0.1,
                                              .margins = 2,
                                              .scalar = scalar,
                                              .seed = ++seed});
        if (scalar == Scalar::float64) {
          for (std::size_t n = 0; n + 1 < ensemble.nodes.size(); n += 2)
            ensemble.nodes[n].threshold = ensemble.nodes[n + 1].threshold * (1 + 1e-12);
        }
        for (const double missing : {0.0, 0.1, 0.0002})
          EXPECT_LE(expect_same_near(ensemble, 600, ++seed, missing), has_slices() ? 88U : 600U);
      }
    }
  }
}

// One long branch, on either side: 256 leaves are the most.
TEST(TreeSlices, ABranchMayBeLong) {
  for (const bool to_the_right : {true, false}) {
    for (const std::int32_t splits : {255, 256}) {
      TreeEnsemble ensemble;
      ensemble.columns = 2;
      ensemble.inputs = {{.column = 0}, {.column = 1}};
      for (std::int32_t n = 0; n < splits; ++n) {
        const std::int32_t next = n + 1 == splits ? ~splits : n + 1;
        const float at = 0.003F * static_cast<float>(n);
        ensemble.nodes.push_back({.threshold = to_the_right ? at : 1 - at,
                                  .input = static_cast<std::uint32_t>(n % 2),
                                  .left = to_the_right ? ~n : next,
                                  .right = to_the_right ? next : ~n,
                                  .missing_left = false});
      }
      for (std::int32_t n = 0; n <= splits; ++n) ensemble.leaves.push_back(n % 11 - 5);
      ensemble.trees = {{.root = 0, .output = 0}};
      if (splits == 256) {
        EXPECT_EQ(Sliced(ensemble).slices, nullptr);
      } else {
        EXPECT_EQ(expect_same_near(ensemble, 512, 3), has_slices() ? 0U : 512U);
      }
    }
  }
}

TEST(TreeSlices, ValuesMayBeInfinite) {
  const TreeEnsemble ensemble = random_trees({.columns = 3, .trees = 30, .depth = 6, .seed = 5});
  Matrix<float> x = floats(rows_near(ensemble, 256, 0, 0.1, 6));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < x.rows(); i += 3) x.row(i)[i % 3] = i % 2 == 0 ? kInfinity : -kInfinity;
  for (std::size_t i = 1; i < x.rows(); i += 3) x.row(i)[i % 3] = i % 2 == 0 ? -0.0F : 0.0F;
  expect_same(ensemble, std::as_const(x).view());
}

// The first rows may have none, and the others one.
TEST(TreeSlices, ValuesMayBeMissing) {
  const TreeEnsemble ensemble = random_trees({.columns = 4, .trees = 30, .depth = 6, .seed = 9});
  Matrix<float> x = floats(rows_near(ensemble, 768, 0, 0.1, 7));
  for (const std::size_t row : {300, 520, 767}) x.row(row)[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(expect_same(ensemble, std::as_const(x).view()), has_slices() ? 0U : 768U);
  expect_same_near(ensemble, 700, 8, 0.2);
}

TEST(TreeSlices, AreNotTakenForOtherTrees) {
  EXPECT_EQ(Sliced(random_trees({.depth = 10, .stop = 0.05})).slices, nullptr);
  EXPECT_EQ(Sliced(random_trees({.depth = 4, .margins = 3, .wide_leaves = true})).slices, nullptr);
}

// A few trees of many inputs: to search them all costs more than a walk.
TEST(TreeSlices, AreTakenByCost) {
  EXPECT_EQ(Sliced(random_trees({.columns = 2000, .trees = 2, .depth = 8, .stop = 0}), true).slices, nullptr);
  EXPECT_EQ(
      Sliced(random_trees({.columns = 10, .trees = 200, .depth = 6, .stop = 0}), true).slices != nullptr,
      has_slices());
}

}  // namespace
}  // namespace harmonia
