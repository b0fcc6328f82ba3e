#include "harmonia/model/growing_trees.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/gamma.hpp"
#include "support/random_trees.hpp"

namespace harmonia {
namespace {

using testing::random_trees;
using testing::RandomTrees;

const TreeModelOptions kOptions{.name = "growing", .kind = "xgboost", .sha256 = "", .by_cost = false};

// Rows in and around [0, 1], where the random trees split, some values missing.
Matrix<double> random_rows(std::size_t count, std::size_t columns, std::uint64_t seed, double missing = 0.1) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  Matrix<double> x(count, columns);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      x.row(i)[j] = uniform() < missing ? std::numeric_limits<double>::quiet_NaN() : 1.2 * uniform() - 0.1;
  return x;
}

// Trees first … last − 1. Splits and leaves of the others stay, and are reached by none.
TreeEnsemble part(const TreeEnsemble& all, std::size_t first, std::size_t last) {
  TreeEnsemble found = all;
  found.trees.assign(all.trees.begin() + static_cast<std::ptrdiff_t>(first),
                     all.trees.begin() + static_cast<std::ptrdiff_t>(last));
  return found;
}

GammaOptions ball_options(BallKind kind = BallKind::simplex_pairs, double radius = 0.1) {
  GammaOptions options;
  options.ball.kind = kind;
  options.ball.radius = radius;
  options.output.kind = OutputChoice::Kind::all;
  return options;
}

void expect_same(const Model& grown, const Model& whole, const Matrix<double>& x, const GammaOptions& options,
                 std::size_t threads = 1) {
  harmonia::Run one, other;
  one.threads = threads;
  const GammaResult a = gamma(grown, x.view(), options, one), b = gamma(whole, x.view(), options, other);
  EXPECT_EQ(one.ledger.spent(), other.ledger.spent());
  EXPECT_EQ(a.summary.fast_path, b.summary.fast_path);
  EXPECT_EQ(a.summary.gamma.mean, b.summary.gamma.mean);
  EXPECT_EQ(a.summary.fingerprint, b.summary.fingerprint);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows[i].gamma, b.rows[i].gamma) << "row " << i;
    ASSERT_EQ(a.rows[i].delta, b.rows[i].delta);
    ASSERT_EQ(a.rows[i].value, b.rows[i].value);
    ASSERT_EQ(a.rows[i].points, b.rows[i].points);
    ASSERT_EQ(a.rows[i].outcome, b.rows[i].outcome);
  }
}

// Grows by 1, 2, 3, … rounds of trees, and is measured after each.
void expect_same_all_along(const TreeEnsemble& all, const GammaOptions& options,
                           std::size_t kept_bytes = kKeptSumsBytes, TreeModelOptions model = kOptions) {
  const Matrix<double> x = random_rows(150, all.columns, 5);
  const std::size_t round = all.leaf_width > 1 ? 1 : all.margins();
  std::size_t have = round;
  model.cells = false;  // which the first few trees may have
  const auto growing = make_growing_trees(part(all, 0, have), model, kept_bytes);
  for (std::size_t rounds = 1;; ++rounds) {
    expect_same(*growing, *make_tree_model(part(all, 0, have), model), x, options, 1 + rounds % 3);
    if (::testing::Test::HasFatalFailure() || have == all.trees.size()) break;
    const std::size_t more = std::min(rounds * round, all.trees.size() - have);
    growing->add(part(all, have, have + more));
    have += more;
  }
}

// Leaves of 24 bits, whose sums only have to be shifted when the fixed point becomes coarser.
TreeEnsemble short_leaves(TreeEnsemble ensemble) {
  for (double& leaf : ensemble.leaves) leaf = static_cast<float>(leaf);
  return ensemble;
}

TEST(GrowingTrees, GammaIsThatOfTheWholeToTheBit) {
  std::uint64_t seed = 1;
  for (const BallKind kind : {BallKind::cross, BallKind::one_hot, BallKind::simplex, BallKind::anti_simplex,
                              BallKind::simplex_pairs}) {
    for (const unsigned depth : {1U, 4U, 10U}) {
      for (const std::size_t margins : {1, 3}) {
        RandomTrees shape{.columns = 12, .trees = 45, .depth = depth, .margins = margins, .seed = ++seed};
        if (depth > 8) shape.stop = 0.3;
        shape.wide_leaves = margins > 1 && depth == 4;
        shape.scalar = seed % 2 == 0 ? Scalar::float32 : Scalar::float64;
        TreeEnsemble all = random_trees(shape);
        all.link.kind = margins > 1 ? TreeLink::Kind::softmax : TreeLink::Kind::logistic;
        expect_same_all_along(all, ball_options(kind));
        expect_same_all_along(short_leaves(all), ball_options(kind));
      }
    }
  }
}

// Fixed points that become coarser by much, also than leaves are fine, and one that becomes finer: that of
// leaves that are all 0.
TEST(GrowingTrees, LeavesMayBeOfAnySize) {
  for (const double growth : {0.5, 1.5, 8.0, 20.0}) {
    TreeEnsemble all = short_leaves(random_trees({.columns = 6, .trees = 30, .depth = 3, .seed = 3}));
    double size = 1e-9;
    for (const Tree& tree : all.trees) {
      std::vector<std::int32_t> open{tree.root};
      while (!open.empty()) {
        const std::int32_t at = open.back();
        open.pop_back();
        if (at < 0) {
          all.leaves[static_cast<std::size_t>(~at)] *= &tree < &all.trees[3] ? 0 : size;
        } else {
          open.push_back(all.nodes[static_cast<std::size_t>(at)].left);
          open.push_back(all.nodes[static_cast<std::size_t>(at)].right);
        }
      }
      size *= growth;
    }
    expect_same_all_along(all, ball_options());
    expect_same_all_along(short_leaves(all), ball_options());
  }
}

TEST(GrowingTrees, TreesMayBeSingleLeaves) {
  TreeEnsemble all = random_trees({.columns = 4, .trees = 12, .depth = 4, .seed = 4});
  for (std::size_t t = 0; t < all.trees.size(); ++t) {
    if (t % 3 == 1) continue;
    all.trees[t].root = ~static_cast<std::int32_t>(all.leaves.size());
    all.leaves.push_back(0.1 * static_cast<double>(t));
  }
  expect_same_all_along(all, ball_options());
}

TEST(GrowingTrees, ColumnsMayBeCategoriesOrSeenInSeveralWays) {
  TreeEnsemble all = random_trees({.columns = 5, .trees = 40, .depth = 5, .seed = 6});
  all.sets = {{.words = {5}, .members_left = true}, {.words = {10}, .cut_below_zero = false}};
  all.inputs.push_back({0, TreeInput::Rule::category, 0});
  all.inputs.push_back({0, TreeInput::Rule::category, 1});
  all.inputs.push_back({1, TreeInput::Rule::zero_is_missing});
  std::mt19937_64 random(7);
  for (TreeNode& node : all.nodes) {
    if (node.input == 0) node.threshold = 0;
    if (node.input == 0) node.input = 5 + static_cast<std::uint32_t>(random() % 2);
    if (node.input == 1 && random() % 2 == 0) node.input = 7;
  }
  expect_same_all_along(all, ball_options());
}

TEST(GrowingTrees, FeaturesMayHaveScalesAndBounds) {
  GammaOptions options = ball_options(BallKind::cross);
  options.schema.resize(5);
  for (std::size_t j = 0; j < 5; ++j) options.schema[j].scale = 0.5 + static_cast<double>(j);
  options.schema[1].fixed = true;
  const TreeEnsemble all = random_trees({.trees = 30, .seed = 8});
  expect_same_all_along(all, options);
  options.schema[2].lower = -1;
  options.schema[2].upper = 1.2;
  options.schema[3].integer = true;
  expect_same_all_along(all, options);
}

TEST(GrowingTrees, MemoryMayBeShort) {
  const TreeEnsemble all = random_trees({.columns = 12, .trees = 40, .margins = 2, .seed = 9});
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{20'000}, std::size_t{100'000}})
    expect_same_all_along(all, ball_options(), bytes);
}

// What asks for points, and what the fast path is switched off for.
TEST(GrowingTrees, PointsAreThoseOfAllTrees) {
  const TreeEnsemble all = random_trees({.trees = 30, .margins = 2, .seed = 10});
  GammaOptions sampled = ball_options();
  sampled.sample = 3;
  expect_same_all_along(all, sampled);
  GammaOptions rotated = ball_options(BallKind::rotated);
  rotated.ball.count = 2;
  expect_same_all_along(all, rotated);
  TreeModelOptions slow = kOptions;
  slow.fast_path = false;
  expect_same_all_along(all, ball_options(), kKeptSumsBytes, slow);
}

// Sums are of one ball around one row: others are not taken for them.
TEST(GrowingTrees, RowsAndBallsMayChange) {
  const TreeEnsemble all = random_trees({.trees = 40, .seed = 11});
  const auto growing = make_growing_trees(part(all, 0, 10), kOptions);
  Matrix<double> x = random_rows(80, all.columns, 12);
  GammaOptions scaled = ball_options();
  scaled.schema.resize(all.columns);
  scaled.schema[0].scale = 3;
  std::size_t have = 10;
  for (const GammaOptions& options :
       {ball_options(), ball_options(), ball_options(BallKind::cross), ball_options(BallKind::cross, 0.2),
        scaled, ball_options(), ball_options()}) {
    const auto whole = make_tree_model(part(all, 0, have), kOptions);
    expect_same(*growing, *whole, x, options);
    expect_same(*growing, *whole, x, options);  // nothing was added
    for (std::size_t i = 0; i < x.rows(); i += 3) x.row(i)[2] += 0.05;
    expect_same(*growing, *whole, x, options);
    growing->add(part(all, have, have + 4));
    have += 4;
  }
  expect_same(*growing, *make_tree_model(part(all, 0, have), kOptions), random_rows(200, all.columns, 13),
              ball_options());
}

TEST(GrowingTrees, KnowsItsLastTrees) {
  const TreeEnsemble all = random_trees({.columns = 4, .trees = 6, .margins = 2});
  const auto grown = make_growing_trees(part(all, 0, 3), kOptions);
  grown->add(part(all, 3, 6));
  EXPECT_EQ(grown->size(), 6U);
  for (std::size_t first = 0; first < 6; ++first) EXPECT_TRUE(grown->ends_with(part(all, first, 6)));
  EXPECT_FALSE(grown->ends_with(part(all, 2, 5)));

  const TreeEnsemble last = part(all, 4, 6);
  const auto root = static_cast<std::size_t>(last.trees.front().root);
  ASSERT_LT(root, last.nodes.size());
  const auto unlike = [&](auto change) {
    TreeEnsemble other = last;
    change(other);
    return !grown->ends_with(other);
  };
  EXPECT_TRUE(unlike([&](TreeEnsemble& other) { other.nodes[root].threshold += 0.5; }));
  EXPECT_TRUE(unlike([&](TreeEnsemble& other) { other.nodes[root].missing_left ^= true; }));
  EXPECT_TRUE(unlike([&](TreeEnsemble& other) { other.nodes[root].input ^= 1; }));
  EXPECT_TRUE(unlike([&](TreeEnsemble& other) { other.trees.back().output ^= 1; }));
  EXPECT_TRUE(unlike([&](TreeEnsemble& other) {
    for (double& leaf : other.leaves) leaf += 1;
  }));
  EXPECT_TRUE(unlike([&](TreeEnsemble& other) { other.trees.front().root = ~0; }));
  EXPECT_FALSE(grown->ends_with(random_trees({.columns = 4, .trees = 7, .margins = 2})));
}

TEST(GrowingTrees, TreesOfAnotherModelAreRefused) {
  const TreeEnsemble all = random_trees({.trees = 20, .margins = 2, .seed = 14});
  const auto growing = make_growing_trees(part(all, 0, 10), kOptions);
  const Matrix<double> x = random_rows(40, all.columns, 15);
  expect_same(*growing, *make_tree_model(part(all, 0, 10), kOptions), x, ball_options());
  const auto refused = [&](const char* what, const auto& change) {
    TreeEnsemble more = part(all, 10, 20);
    change(more);
    try {
      growing->add(more);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refused("features", [](TreeEnsemble& more) { more.columns = 6; });
  refused("features", [](TreeEnsemble& more) { more.features = {"a", "b", "c", "d", "e"}; });
  refused("values", [](TreeEnsemble& more) { more.scalar = Scalar::float64; });
  refused("base score", [](TreeEnsemble& more) { more.base[1] = 0.5; });
  refused("weight", [](TreeEnsemble& more) { more.factor = 0.5; });
  refused("objective", [](TreeEnsemble& more) { more.link.kind = TreeLink::Kind::softmax; });
  refused("not finite", [](TreeEnsemble& more) { more.leaves[0] = HUGE_VAL; });
  refused("no trees", [](TreeEnsemble& more) { more.trees.clear(); });
  expect_same(*growing, *make_tree_model(part(all, 0, 10), kOptions), x, ball_options());
  growing->add(part(all, 10, 20));
  expect_same(*growing, *make_tree_model(all, kOptions), x, ball_options());
}

}  // namespace
}  // namespace harmonia
