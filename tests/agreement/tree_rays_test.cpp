#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/model/ray_path.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "support/random_trees.hpp"

namespace harmonia {
namespace {

using testing::random_trees;
using testing::RandomTrees;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<Simd> vector_paths() {
  std::vector<Simd> all = testing::paths();
  std::erase(all, Simd::scalar);
  return all;
}

TreeModelOptions options_of(Simd simd) {
  TreeModelOptions options;
  options.name = "random";
  options.simd = simd;
  options.cells = false;
  options.by_cost = false;
  return options;
}

// Values in and around [0, 1], many on a threshold.
std::vector<double> row_near(const TreeEnsemble& ensemble, double missing, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  std::vector<double> x(ensemble.columns);
  for (double& value : x) {
    value = 1.2 * uniform() - 0.1;
    if (uniform() < 0.4) value = ensemble.nodes[random() % ensemble.nodes.size()].threshold;
    if (uniform() < missing) value = kMissing;
  }
  return x;
}

std::vector<double> sigmas_of(std::size_t count, double least, double most) {
  std::vector<double> sigmas;
  for (std::size_t i = 0; i < count; ++i)
    sigmas.push_back(least + (most - least) * static_cast<double>(i) / static_cast<double>(count));
  return sigmas;
}

// Every answer is that of the point alone, as Noise puts it.
template <class T>
void expect_points(const Model& model, const Noise& noise, const std::vector<double>& sigmas,
                   const std::vector<double>& x, std::uint64_t first, std::size_t samples) {
  const auto asker = model.ray_path()->open(noise, sigmas);
  ASSERT_NE(asker, nullptr);
  Matrix<double> ours(samples * sigmas.size(), model.info().outputs);
  ASSERT_TRUE(asker->evaluate(x, first, ours.view()));
  Matrix<T> points(ours.rows(), x.size());
  std::vector<double> point(x.size());
  for (std::size_t i = 0; i < points.rows(); ++i) {
    noise.put(x, sigmas[i % sigmas.size()], first + i / sigmas.size(), false, point);
    for (std::size_t j = 0; j < x.size(); ++j) points.row(i)[j] = static_cast<T>(point[j]);
  }
  Matrix<double> alone(points.rows(), ours.columns());
  model.evaluate(std::as_const(points).view(), alone.view());
  for (std::size_t i = 0; i < points.rows(); ++i)
    for (std::size_t k = 0; k < ours.columns(); ++k)
      ASSERT_EQ(ours.row(i)[k], alone.row(i)[k])
          << "sample " << i / sigmas.size() << ", sigma " << sigmas[i % sigmas.size()];
}

void expect_every_point(const TreeEnsemble& ensemble, double missing,
                        const NoiseOptions& noise_options = {}) {
  std::uint64_t seed = 1;
  for (const Simd simd : vector_paths()) {
    const auto model = make_tree_model(ensemble, options_of(simd));
    for (const std::size_t count : {1, 3, 20, 40, 60, 64, 65, 120, 131}) {
      const std::vector<double> x = row_near(ensemble, missing, ++seed);
      const Noise noise(noise_options, x.size(), seed);
      const auto sigmas = sigmas_of(count, count % 2 == 0 ? 1e-6 : 0.05, count % 3 == 0 ? 10 : 0.7);
      ensemble.scalar == Scalar::float32 ? expect_points<float>(*model, noise, sigmas, x, seed % 5, 23)
                                         : expect_points<double>(*model, noise, sigmas, x, seed % 5, 23);
      if (::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << count << " sigmas, instructions " << static_cast<int>(simd);
        return;
      }
    }
  }
}

TEST(TreeRays, EveryPointIsThatOfThePointAlone) {
  std::uint64_t seed = 1;
  for (const unsigned depth : {1U, 2U, 3U, 6U, 8U, 11U}) {
    for (const double missing : {0.0, 0.2}) {
      for (const std::size_t margins : {1, 3}) {
        RandomTrees shape{
            .trees = 37, .depth = depth, .margins = margins, .wide_leaves = depth % 2 == 1, .seed = ++seed};
        shape.stop = depth > 8 ? 0.25 : 0.1;
        expect_every_point(random_trees(shape), missing);
        shape.scalar = Scalar::float64;
        expect_every_point(random_trees(shape), missing);
      }
    }
  }
}

TEST(TreeRays, KnowsHowLibrariesSeeColumns) {
  TreeEnsemble ensemble = random_trees({.depth = 5, .seed = 7});
  ensemble.inputs[1].rule = TreeInput::Rule::nan_is_zero;
  ensemble.inputs[2].rule = TreeInput::Rule::zero_is_missing;
  ensemble.sets.push_back({.words = {0x2DU}, .members_left = true});
  ensemble.inputs[3] = {.column = 3, .rule = TreeInput::Rule::category, .set = 0};
  expect_every_point(ensemble, 0.2);
}

TEST(TreeRays, KeepsToSchemasAndKindsOfNoise) {
  const TreeEnsemble ensemble = random_trees({.seed = 3});
  NoiseOptions options;
  options.kind = NoiseKind::ball;
  expect_every_point(ensemble, 0.1, options);
  options.schema.resize(ensemble.columns);
  options.schema[0].fixed = true;
  options.schema[1].scale = 0.3;
  options.schema[2].lower = 0;
  options.schema[2].upper = 0.9;
  expect_every_point(ensemble, 0.1, options);
  options.kind = NoiseKind::gaussian;
  expect_every_point(ensemble, 0.1, options);
}

TEST(TreeRays, SaysThatAPointIsInfinite) {
  const TreeEnsemble ensemble = random_trees({.seed = 3});
  for (const Simd simd : vector_paths()) {
    const auto model = make_tree_model(ensemble, options_of(simd));
    const Noise noise({}, ensemble.columns, 1);
    const std::vector<double> sigmas{1, 3e38, 1e39}, x(ensemble.columns, 0.5);
    Matrix<double> y(10 * sigmas.size(), 1);
    EXPECT_FALSE(model->ray_path()->open(noise, sigmas)->evaluate(x, 0, y.view()));
  }
}

// A gain is expected of many sigmas, and not of few; of noise along directions nothing is known.
TEST(TreeRays, AreTakenWhereTheyPay) {
  TreeModelOptions options = options_of(best_simd());
  options.by_cost = true;
  // Points alone go by slices where the processor has them, and are sooner done than few sigmas.
  const TreeEnsemble ensemble = random_trees({.columns = 400, .trees = 200, .seed = 3});
  EXPECT_EQ(make_tree_model(ensemble, options_of(Simd::scalar))->ray_path(), nullptr);
  if (best_simd() == Simd::scalar) return;
  const auto model = make_tree_model(ensemble, options);
  const Noise noise({}, 400, 1);
  EXPECT_EQ(model->ray_path()->open(noise, sigmas_of(3, 0.1, 1)), nullptr);
  EXPECT_NE(model->ray_path()->open(noise, sigmas_of(60, 0.1, 1)), nullptr);
  NoiseOptions along;
  along.directions = Matrix<double>(1, 400);
  along.directions.row(0)[0] = 1;
  const Noise one_way(along, 400, 1);
  EXPECT_EQ(model->ray_path()->open(one_way, sigmas_of(60, 0.1, 1)), nullptr);
  options.fast_path = false;
  EXPECT_EQ(make_tree_model(ensemble, options)->ray_path(), nullptr);
}

StabilityResult measure(const Model& model, const Matrix<double>& x, std::size_t threads,
                        std::uint64_t budget) {
  StabilityOptions options;
  options.sigmas = sigmas_of(50, 0.01, 1.5);
  options.samples = 170;
  Run run{.seed = 4, .threads = threads, .ledger = Ledger(budget), .progress = {}, .stop = {}};
  const auto data = make_memory_source(x.view());
  StabilityResult result = stability(model, *data, options, run);
  EXPECT_EQ(result.evaluations, run.ledger.spent());
  EXPECT_LE(run.ledger.spent(), budget);
  return result;
}

// All of what stability says, and which rows a budget leaves out.
TEST(TreeRays, StabilityIsThatOfPoints) {
  const TreeEnsemble ensemble = random_trees({.columns = 6, .margins = 3, .seed = 9});
  TreeModelOptions options = options_of(best_simd());
  const auto fast = make_tree_model(ensemble, options);
  options.fast_path = false;
  const auto plain = make_tree_model(ensemble, options);
  Matrix<double> x(7, 6);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto row = row_near(ensemble, 0.05, 40 + i);
    std::copy(row.begin(), row.end(), x.row(i));
  }
  const std::uint64_t five_rows = 5 * (1 + 50 * 170) + 600;
  for (const std::uint64_t budget : {Ledger::kUnlimited, five_rows}) {
    for (const std::size_t threads : {1, 3}) {
      const StabilityResult ours = measure(*fast, x, threads, budget), theirs = measure(*plain, x, 1, budget);
      EXPECT_EQ(ours.fast_path, best_simd() == Simd::scalar ? "" : "trees");
      EXPECT_EQ(theirs.fast_path, "");
      EXPECT_EQ(ours.evaluations, theirs.evaluations);
      ASSERT_EQ(ours.rows.size(), theirs.rows.size());
      for (std::size_t i = 0; i < ours.rows.size(); ++i) {
        EXPECT_EQ(ours.rows[i].decided_class, theirs.rows[i].decided_class);
        EXPECT_EQ(ours.rows[i].takeover, theirs.rows[i].takeover);
        ASSERT_EQ(ours.rows[i].points.size(), theirs.rows[i].points.size());
        for (std::size_t s = 0; s < ours.rows[i].points.size(); ++s)
          EXPECT_EQ(ours.rows[i].points[s].frequencies, theirs.rows[i].points[s].frequencies);
      }
    }
  }
}

}  // namespace
}  // namespace harmonia
