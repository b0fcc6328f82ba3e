#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "support/random_trees.hpp"
#include "support/tree_balls.hpp"
#include "support/tree_files.hpp"

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

TEST(TreeBalls, EveryPointIsThatOfThePointAlone) {
  std::uint64_t seed = 1;
  for (const unsigned depth : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 11U}) {
    for (const double missing : {0.0, 0.2}) {
      for (const std::size_t margins : {1, 3}) {
        RandomTrees shape{.depth = depth, .margins = margins, .wide_leaves = depth % 2 == 1, .seed = ++seed};
        shape.stop = depth > 8 ? 0.25 : 0.1;
        expect_every_ball(random_trees(shape), missing);
        shape.scalar = Scalar::float64;
        expect_every_ball(random_trees(shape), missing);
      }
    }
  }
}

TEST(TreeBalls, SolidBallsHaveSeveralPointsAUnit) {
  expect_every_ball(random_trees({.depth = 5, .seed = 3}), 0.1, {}, Average::solid);
}

// Many features against few splits, so that most have none, and one feature that every split looks at.
TEST(TreeBalls, FeaturesMayBeManyOrOne) {
  expect_every_ball(random_trees({.columns = 300, .trees = 12, .depth = 6, .seed = 4}), 0.1);
  expect_every_ball(random_trees({.columns = 1, .trees = 40, .depth = 6, .seed = 5}), 0.1);
  expect_every_ball(random_trees({.columns = 2, .trees = 40, .depth = 7, .seed = 6}), 0);
}

// More trees than are walked before their points are.
TEST(TreeBalls, TreesMayBeMany) {
  expect_every_ball(random_trees({.trees = 900, .depth = 6, .seed = 7}), 0.05);
  expect_every_ball(random_trees({.trees = 2500, .depth = 1, .seed = 17}), 0.05);
}

// More rows than are walked in turn, with some that are walked alone and others with missing values between
// them.
TEST(TreeBalls, RowsMayBeMany) {
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    const TreeEnsemble ensemble =
        random_trees({.columns = 7, .trees = 70, .depth = 6, .margins = 2, .scalar = scalar, .seed = 21});
    for (const Simd simd : paths()) {
      const auto model = model_of(ensemble, simd);
      for (const BallKind kind : kKinds) {
        BallOptions options;
        options.kind = kind;
        options.radius = 0.1;
        const Ball ball(options, {}, 1);
        Matrix<double> x = rows_near(ensemble, 150, 0.02, 0.1, 5);
        x.row(20)[3] = std::numeric_limits<double>::infinity();
        x.row(100)[0] = -std::numeric_limits<double>::infinity();
        scalar == Scalar::float32 ? expect_point_by_point<float>(*model, ball, x)
                                  : expect_point_by_point<double>(*model, ball, x);
      }
    }
  }
}

// As LightGBM has it where no training row had one: missing values count as 0, and some thresholds are
// infinite.
TEST(TreeBalls, MissingMayBeZero) {
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    TreeEnsemble ensemble = random_trees({.trees = 50, .depth = 6, .scalar = scalar, .seed = 41});
    for (TreeInput& input : ensemble.inputs) input.rule = TreeInput::Rule::nan_is_zero;
    for (std::size_t n = 0; n < ensemble.nodes.size(); n += 40)
      ensemble.nodes[n].threshold = std::numeric_limits<double>::infinity();
    expect_every_ball(ensemble, 0);
    expect_every_ball(ensemble, 0.1);
  }
}

// Thresholds, rows and steps that are one number in float32.
TEST(TreeBalls, DoublesMayDifferByLessThanFloatsDo) {
  constexpr double kFar = 1e9;
  TreeEnsemble ensemble = random_trees({.trees = 60, .depth = 6, .scalar = Scalar::float64, .seed = 31});
  for (TreeNode& node : ensemble.nodes) node.threshold += kFar;
  for (const Simd simd : paths()) {
    const auto model = model_of(ensemble, simd);
    for (const BallKind kind : kKinds) {
      for (const double radius : {1e-3, 0.1, 10.0}) {
        BallOptions options;
        options.kind = kind;
        options.radius = radius;
        Matrix<double> x = rows_near(random_trees({.seed = 32}), 40, 0.05, radius, 6);
        for (std::size_t i = 0; i < x.rows(); ++i)
          for (std::size_t j = 0; j < x.columns(); ++j) x.row(i)[j] += kFar;
        expect_point_by_point<double>(*model, Ball(options, {}, 1), x);
      }
    }
  }
}

TEST(TreeBalls, FeaturesMayHaveScalesBoundsAndWholeSteps) {
  const TreeEnsemble ensemble = random_trees({.trees = 30, .depth = 6, .seed = 8});
  Schema scaled(ensemble.columns);
  for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j].scale = 0.3 + 0.2 * static_cast<double>(j);
  scaled[2].fixed = true;
  expect_every_ball(ensemble, 0.1, scaled);
  Schema bounded = scaled;
  bounded[0].lower = -0.05;
  bounded[0].upper = 0.9;
  bounded[1].integer = true;
  bounded[3].lower = 0;
  bounded[3].upper = 1;
  bounded[3].mirrored = true;
  expect_every_ball(ensemble, 0, bounded);
}

// Columns that splits see in several ways: as categories, with zero or NaN taken for another.
TEST(TreeBalls, CategoriesAndRulesAreSeenAtEveryPoint) {
  for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
    TreeEnsemble ensemble =
        random_trees({.columns = 6, .trees = 30, .depth = 6, .scalar = scalar, .seed = 9});
    const auto add = [&](std::uint32_t column, TreeInput::Rule rule, std::uint32_t set) {
      ensemble.inputs.push_back({column, rule, set});
      return static_cast<std::uint32_t>(ensemble.inputs.size() - 1);
    };
    ensemble.sets = {{.words = {5}, .members_left = true}, {.words = {10}, .cut_below_zero = false}};
    const std::uint32_t first = add(0, TreeInput::Rule::category, 0),
                        second = add(0, TreeInput::Rule::category, 1);
    const std::uint32_t zero = add(1, TreeInput::Rule::zero_is_missing, 0);
    const std::uint32_t nan = add(2, TreeInput::Rule::nan_is_zero, 0);
    std::mt19937_64 random(3);
    for (TreeNode& node : ensemble.nodes) {
      const std::uint32_t column = ensemble.inputs[node.input].column;
      if (column == 0 && random() % 3 != 0) {
        node.input = random() % 2 == 0 ? first : second;
        node.threshold = 0;
      }
      if (column == 1) node.input = zero;
      if (column == 2 && random() % 2 == 0) node.input = nan;
    }
    expect_every_ball(ensemble, 0.15);
  }
}

// gamma itself, with what it is made of, whatever is observed.
TEST(TreeBalls, GammaIsTheSameToTheBit) {
  const TreeEnsemble ensemble = random_trees({.columns = 9, .trees = 50, .margins = 3, .seed = 10});
  const Matrix<double> x = rows_near(ensemble, 200, 0.1, 0.1, 11);
  const auto fast = model_of(ensemble, best_simd()), slow = model_of(ensemble, best_simd(), false);
  ASSERT_NE(fast->ball_path(), nullptr);
  ASSERT_EQ(slow->ball_path(), nullptr);
  for (const BallKind kind : kKinds) {
    for (const OutputChoice::Kind output :
         {OutputChoice::Kind::column, OutputChoice::Kind::norm, OutputChoice::Kind::all}) {
      for (const std::size_t explain : {0, 3}) {
        if (kind == BallKind::one_hot && explain > 0) continue;  // which it has none of
        GammaOptions options;
        options.ball.kind = kind;
        options.ball.radius = 0.1;
        options.output.kind = output;
        options.explain = explain;
        harmonia::Run one, other;
        one.threads = 2;
        const GammaResult a = gamma(*fast, x.view(), options, one),
                          b = gamma(*slow, x.view(), options, other);
        EXPECT_EQ(one.ledger.spent(), other.ledger.spent());
        ASSERT_EQ(a.rows.size(), b.rows.size());
        for (std::size_t i = 0; i < a.rows.size(); ++i) {
          ASSERT_EQ(a.rows[i].gamma, b.rows[i].gamma);
          ASSERT_EQ(a.rows[i].delta, b.rows[i].delta);
          ASSERT_EQ(a.rows[i].value, b.rows[i].value);
          ASSERT_EQ(a.rows[i].points, b.rows[i].points);
          ASSERT_EQ(a.rows[i].decided_class, b.rows[i].decided_class);
          ASSERT_EQ(a.rows[i].explain.size(), b.rows[i].explain.size());
          for (std::size_t e = 0; e < a.rows[i].explain.size(); ++e) {
            ASSERT_EQ(a.rows[i].explain[e].feature, b.rows[i].explain[e].feature);
            ASSERT_EQ(a.rows[i].explain[e].value, b.rows[i].explain[e].value);
          }
        }
      }
    }
  }
}

// An answer that is no number is told as it is point by point.
TEST(TreeBalls, AnswersThatAreNotFiniteAreTheSameError) {
  TreeEnsemble ensemble = random_trees({.columns = 3, .seed = 14});
  ensemble.link.kind = TreeLink::Kind::exponential;
  for (double& leaf : ensemble.leaves) leaf *= 1000;
  const Matrix<double> x = rows_near(ensemble, 50, 0, 0.1, 15);
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  options.ball.radius = 0.1;
  const auto message = [&](bool fast) -> std::string {
    const auto model = make_tree_model(
        ensemble, {.name = "hot", .kind = "xgboost", .sha256 = "", .simd = best_simd(), .fast_path = fast});
    harmonia::Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
    try {
      gamma(*model, x.view(), options, run);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(message(true), message(false));
  EXPECT_NE(message(true).find("expected finite numbers"), std::string::npos) << message(true);
}

// Steps and coordinates at the edges of what floats hold.
TEST(TreeBalls, NumbersMayBeHugeOrTiny) {
  const auto one_split = [](double threshold) {
    TreeEnsemble ensemble;
    ensemble.columns = 1;
    ensemble.inputs = {{.column = 0}};
    ensemble.leaves = {1, 2};
    ensemble.nodes = {{.threshold = threshold, .input = 0, .left = ~0, .right = ~1, .missing_left = false}};
    ensemble.trees = {{.root = 0, .output = 0}};
    return ensemble;
  };
  struct Case {
    double threshold, x, radius, scale;
  };
  for (const Case& each :
       {Case{3e38F, 5e38, 3e38, 1}, Case{0, -0.8e-45, 5e-46, 1}, Case{1, 0.5, 1e200, 1e200},
        Case{1e-40F, 0.9e-40, 2e-41, 1}, Case{1, 0, 1e39, 1}, Case{3.4e38F, 3.3e38, 5e37, 1}}) {
    const TreeEnsemble ensemble = one_split(each.threshold);
    for (const Simd simd : paths()) {
      const auto model = model_of(ensemble, simd);
      for (const BallKind kind : kKinds) {
        BallOptions options;
        options.kind = kind;
        options.radius = each.radius;
        Schema schema(1);
        schema[0].scale = each.scale;
        Matrix<double> x(17, 1);
        for (std::size_t i = 0; i < x.rows(); ++i) x.row(i)[0] = each.x;
        expect_point_by_point<float>(*model, Ball(options, schema, 1), x);
      }
    }
  }
}

// The base of a simplex is no point of the ball: what it is there is not asked of it.
TEST(TreeBalls, ABaseThatIsNoPointIsNotObserved) {
  TreeEnsemble ensemble;
  ensemble.columns = 1;
  ensemble.inputs = {{.column = 0}};
  ensemble.leaves = {1, 2, 0.5};
  ensemble.nodes = {{.threshold = -0.2F, .input = 0, .left = 1, .right = ~0, .missing_left = false},
                    {.threshold = -0.6F, .input = 0, .left = ~1, .right = ~2, .missing_left = false}};
  ensemble.trees = {{.root = 0, .output = 0}};
  const Matrix<double> x(1, 1);
  GammaOptions options;
  options.ball.kind = BallKind::simplex;
  options.ball.radius = 1;
  options.output.kind = OutputChoice::Kind::label;
  harmonia::Run one, other;
  const GammaResult fast = gamma(*model_of(ensemble, best_simd()), x.view(), options, one);
  const GammaResult slow = gamma(*model_of(ensemble, best_simd(), false), x.view(), options, other);
  EXPECT_EQ(fast.rows.at(0).gamma, slow.rows.at(0).gamma);
  EXPECT_EQ(fast.rows.at(0).gamma, 0.5);
}

// Files that libraries saved: of numbers and categories, several classes, random forests.
TEST(TreeBalls, AreThoseOfBoostersThatLibrariesTrained) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HARMONIA_TEST_DATA)) {
    const std::string name = entry.path().filename().string(), folder = entry.path().parent_path().string();
    const bool lightgbm = folder.find("lightgbm") != std::string::npos && name.ends_with(".txt");
    const bool xgboost = folder.find("xgboost") != std::string::npos && name.ends_with(".ubj");
    if (!lightgbm && !xgboost) continue;
    SCOPED_TRACE(entry.path().string());
    const std::string bytes = test::data_file(entry.path().string());
    const TreeEnsemble ensemble = xgboost ? read_xgboost(bytes, name) : read_lightgbm(bytes, name);
    expect_every_ball(ensemble, ensemble.takes_missing ? 0.1 : 0);
    ++files;
  }
  EXPECT_GE(files, 10U);
}

// Where most points of few features turn off, they are asked for one by one; gamma is the same.
TEST(TreeBalls, PointsAreTakenWhereTheyAreSooner) {
  const auto by_cost = [](const TreeEnsemble& ensemble) {
    TreeModelOptions options;
    options.margin = true;
    options.cells = false;
    return make_tree_model(ensemble, options);
  };
  const auto takes = [&](const TreeEnsemble& ensemble, BallKind kind, double radius) {
    BallOptions options;
    options.kind = kind;
    options.radius = radius;
    return by_cost(ensemble)->ball_path()->open(Ball(options, {}, 1)) != nullptr;
  };
  const TreeEnsemble few = random_trees({.columns = 4, .trees = 200, .seed = 7});
  const TreeEnsemble many = random_trees({.columns = 300, .trees = 200, .seed = 7});
  EXPECT_FALSE(takes(few, BallKind::simplex_pairs, 0.5));
  EXPECT_TRUE(takes(few, BallKind::cross, 0.001));
  EXPECT_FALSE(takes(few, BallKind::rademacher, 0.3));
  for (const BallKind kind : testing::kKinds)
    for (const double radius : {0.001, 0.5}) EXPECT_TRUE(takes(many, kind, radius));
  const Matrix<double> x = rows_near(few, 300, 0.01, 0.5, 8);
  GammaOptions options;
  options.ball.kind = BallKind::simplex_pairs;
  options.ball.radius = 0.5;
  harmonia::Run one, other;
  const GammaResult points = gamma(*by_cost(few), x.view(), options, one);
  const GammaResult balls = gamma(*model_of(few, best_simd()), x.view(), options, other);
  EXPECT_EQ(points.summary.fast_path, "");
  EXPECT_EQ(balls.summary.fast_path, "trees");
  for (std::size_t i = 0; i < x.rows(); ++i) EXPECT_EQ(points.rows[i].gamma, balls.rows[i].gamma);
}

// Rows that are too few for slices, here those with a missing value among them, are asked for point by point
// where a walk would take longer: gamma is the same.
TEST(TreeBalls, WhatIsLeftIsAskedFor) {
  const TreeEnsemble ensemble = random_trees({.columns = 10, .trees = 600, .depth = 6, .seed = 9});
  TreeModelOptions chosen;
  chosen.margin = true;
  TreeModelOptions points = chosen;
  points.fast_path = false;
  const Matrix<double> x = rows_near(ensemble, 400, 0.01, 0.3, 8);
  for (const BallKind kind : testing::kKinds) {
    GammaOptions options;
    options.ball.kind = kind;
    options.ball.radius = 0.3;
    harmonia::Run one, other;
    const GammaResult by_cost = gamma(*make_tree_model(ensemble, chosen), x.view(), options, one);
    const GammaResult alone = gamma(*make_tree_model(ensemble, points), x.view(), options, other);
    EXPECT_EQ(one.ledger.spent(), other.ledger.spent());
    for (std::size_t i = 0; i < x.rows(); ++i) EXPECT_EQ(by_cost.rows[i].gamma, alone.rows[i].gamma);
  }
}

// The next rows are read while these are answered: if they cannot be, those before them come first.
TEST(TreeBalls, RowsBeforeABadOneAreMeasured) {
  class Source final : public RowSource {
   public:
    explicit Source(const Matrix<double>& x) : rows_(make_memory_source(x.view())) {}
    const DataInfo& info() const override { return rows_->info(); }
    bool read(RowBlock& block, std::size_t limit) override {
      if (++reads_ == 3) throw Error(ErrorCode::input, "the third block is bad");
      const bool some = rows_->read(block, limit);
      given += some ? block.values.rows() : 0;
      return some;
    }
    void rewind() override { rows_->rewind(); }
    std::size_t given = 0;

   private:
    std::unique_ptr<RowSource> rows_;
    int reads_ = 0;
  };
  const TreeEnsemble ensemble = random_trees({.columns = 300, .trees = 20, .seed = 14});
  const Matrix<double> x = rows_near(ensemble, 3000, 0, 0.1, 3);
  GammaOptions options;
  options.ball.radius = 0.1;
  for (const std::size_t threads : {1, 2, 5}) {
    harmonia::Run run;
    run.threads = threads;
    Source source(x);
    std::vector<std::uint64_t> measured;
    const auto model = model_of(ensemble, best_simd());
    EXPECT_THROW(
        gamma(*model, source, options, run, [&](const GammaRow& row) { measured.push_back(row.row); }),
        Error);
    ASSERT_GT(measured.size(), 64);
    EXPECT_EQ(measured.size(), source.given);
    for (std::size_t i = 0; i < measured.size(); ++i) EXPECT_EQ(measured[i], i);
  }
}

// A budget is spent as if every point were asked for.
TEST(TreeBalls, ABudgetCountsThePointsThatItStandsFor) {
  const TreeEnsemble ensemble = random_trees({.columns = 9, .seed = 12});
  const Matrix<double> x = rows_near(ensemble, 20, 0, 0.1, 13);
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  options.ball.radius = 0.1;
  for (const bool fast : {true, false}) {
    harmonia::Run run{.seed = 1, .threads = 1, .ledger = Ledger(19 * 7 + 5), .progress = {}, .stop = {}};
    const GammaResult result = gamma(*model_of(ensemble, best_simd(), fast), x.view(), options, run);
    EXPECT_EQ(run.ledger.spent(), 19U * 7);
    EXPECT_EQ(std::ranges::count_if(result.rows, [](const GammaRow& row) { return row.gamma.has_value(); }),
              7);
  }
}

}  // namespace
}  // namespace harmonia
