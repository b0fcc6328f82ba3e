// Models in two parts: the units of points that share displacements, against the points themselves.
#include <gtest/gtest.h>

#include <cmath>

#include "../../src/model/dense_prepared.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/measure/persistence.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "harmonia/model/shared_units.hpp"
#include "support/dense_files.hpp"
#include "support/temporary_file.hpp"
#include "support/two_part_model.hpp"

namespace harmonia {
namespace {

using namespace test::onnx;
using Kind = DenseActivation::Kind;
using test::TwoPartModel;

Matrix<double> drawn_rows(std::size_t rows, std::size_t inputs, double size = 1) {
  Matrix<double> x(rows, inputs);
  std::vector<float> z(inputs);
  for (std::size_t i = 0; i < rows; ++i) {
    normals({.seed = 9, .row = i}, z);
    for (std::size_t j = 0; j < inputs; ++j) x.row(i)[j] = size * static_cast<double>(z[j]);
  }
  return x;
}

DenseNetwork network_of(const std::vector<std::size_t>& widths, Kind kind, std::uint64_t seed = 1) {
  return test::random_dense(widths, {.kind = kind, .slope = 0, .low = 0, .high = 0}, seed);
}

// None where Harmonia was built without ONNX Runtime.
std::unique_ptr<Model> opened(const std::string& bytes, const ModelOptions& options = {}) {
  const test::TemporaryFile saved("network.onnx", bytes);
  try {
    return open_onnx_model(saved.path(), options, {});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage) return nullptr;
    throw;
  }
}

template <class T>
Matrix<T> cast_to(const Matrix<double>& x) {
  Matrix<T> out(x.rows(), x.columns());
  std::transform(x.row(0), x.row(0) + x.rows() * x.columns(), out.row(0),
                 [](double v) { return static_cast<T>(v); });
  return out;
}

// Answers at x_i + step · d_k, by their units, by themselves, and exactly.
struct Answers {
  Matrix<double> units, points, exact;
};

template <class T>
Answers answers_of(const Model& model, const DenseNetwork& network, const Matrix<double>& rows, double size) {
  constexpr std::size_t kDisplacements = 70;
  const std::size_t n = network.inputs(), count = rows.rows() * kDisplacements;
  const auto displacement = [&](std::uint64_t k, std::span<double> d) {
    std::vector<float> z(d.size());
    normals({.seed = 3, .sample = k}, z);
    std::copy(z.begin(), z.end(), d.begin());
  };
  const SharedUnits shared(model, {kDisplacements, displacement});
  SharedUnits::Reader reader(shared);
  ThreadPool pool(2);
  Matrix<double> starts(rows.rows(), shared.units()), points(count, n);
  std::vector<const double*> places;
  for (std::size_t i = 0; i < rows.rows(); ++i) places.push_back(rows.row(i));
  shared.starts(places, pool, starts.view());
  Matrix<T> units(count, shared.units());
  std::vector<double> d(n);
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t i = p / kDisplacements, k = p % kDisplacements;
    const double step = p % 2 == 0 ? size : -size / 3;
    EXPECT_TRUE(reader.write({starts.row(i), step, k}, std::span<T>(units.row(p), units.columns())));
    displacement(k, d);
    for (std::size_t j = 0; j < n; ++j) points.row(p)[j] = rows.row(i)[j] + step * d[j];
  }
  const std::size_t outputs = network.outputs();
  Answers answers{Matrix<double>(count, outputs), Matrix<double>(count, outputs),
                  Matrix<double>(count, outputs)};
  model.first_layer()->answer(std::as_const(units).view(), answers.units.view());
  const Matrix<T> cast = cast_to<T>(points);
  model.evaluate(cast.view(), answers.points.view());
  evaluate_dense(network, std::as_const(points).view(), answers.exact.view());
  return answers;
}

double error_of(const Matrix<double>& answers, const Matrix<double>& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.rows() * exact.columns(); ++i)
    sum += std::pow(answers.row(0)[i] - exact.row(0)[i], 2);
  return std::sqrt(sum / static_cast<double>(exact.rows() * exact.columns()));
}

std::size_t class_at(const Matrix<double>& answers, std::size_t i) {
  const double* const row = answers.row(i);
  return static_cast<std::size_t>(std::max_element(row, row + answers.columns()) - row);
}

// No margin: one rounding a unit against one a coordinate and one a product.
TEST(FirstLayer, UnitsAreNoFartherFromFloat64ThanPoints) {
  const std::vector<std::vector<std::size_t>> networks{
      {6, 20, 3},       {20, 64, 3},    {20, 64, 64, 3}, {100, 128, 128, 10},
      {300, 40, 30, 5}, {784, 128, 10}, {64, 300, 4},    {33, 17, 9, 17, 2}};
  std::uint64_t seed = 1;
  for (const auto& widths : networks) {
    for (const auto& [kind, activation] : {std::pair{Kind::leaky, "Relu"}, std::pair{Kind::tanh, "Tanh"}}) {
      const DenseNetwork network = network_of(widths, kind, ++seed);
      const auto model = opened(test::dense_file<float>(network, activation));
      if (model == nullptr) GTEST_SKIP() << "no ONNX Runtime";
      ASSERT_NE(model->first_layer(), nullptr) << model->info().fast_path;
      for (const double offset : {1.0, 30.0}) {
        const Answers answers = answers_of<float>(*model, network, drawn_rows(12, widths[0], offset), 0.5);
        EXPECT_LE(error_of(answers.units, answers.exact), error_of(answers.points, answers.exact))
            << widths[0] << ' ' << widths[1] << ' ' << activation << ' ' << offset;
        for (std::size_t i = 0; i < answers.exact.rows(); ++i) {
          if (class_at(answers.points, i) != class_at(answers.exact, i)) continue;
          EXPECT_EQ(class_at(answers.units, i), class_at(answers.exact, i));
        }
      }
    }
  }
}

TEST(FirstLayer, NetworksOfDoublesKeepTheirDigits) {
  const DenseNetwork network = network_of({40, 30, 20, 3}, Kind::tanh);
  const auto model = opened(test::dense_file<double>(network, "Tanh"));
  if (model == nullptr) GTEST_SKIP() << "no ONNX Runtime";
  ASSERT_NE(model->first_layer(), nullptr) << model->info().fast_path;
  const Answers answers = answers_of<double>(*model, network, drawn_rows(8, 40), 0.5);
  EXPECT_LT(error_of(answers.units, answers.exact), 1e-14);
}

struct File {
  const char* what;
  std::string bytes;
  std::string why;  // of files that have no first layer to share
};

std::vector<File> files() {
  const std::string in = value(11, "x", {6}), out = value(12, "y", {3});
  const std::string constants =
      weights("v", 8, 6, 1) + weights("w", 8, 3, 2) + tensor("a", {8}, drawn(8, 4)) +
      tensor("b", {1, 3}, drawn(3, 5)) + tensor("s", {6}, drawn(6, 8)) + weights("m", 6, 8, 7) +
      weights("q", 8, 8, 11) + weights("k", 6, 3, 12) + tensor<std::int64_t>("order", {4}, {5, 0, 3, 3}) +
      weights("four", 4, 8, 13) + weights("huge", 8, 400, 14) + weights("back", 400, 3, 15);
  const auto all = [&](const std::string& nodes) { return model(nodes + constants + in + out); };
  const std::string gemm = node("Gemm", {"x", "v", "a"}, "h", integer_attribute("transB", 1)),
                    product = node("MatMul", {"x", "m"}, "h");
  const std::string last = node("Gemm", {"r", "w", "b"}, "y");
  return {
      {"an activation that is not known", all(gemm + node("Sin", {"h"}, "r") + last), ""},
      {"a residual block",
       all(gemm + node("Relu", {"h"}, "i") + node("MatMul", {"i", "q"}, "j") + node("Add", {"j", "h"}, "r") +
           last),
       ""},
      {"softmax alone", all(node("MatMul", {"x", "k"}, "z") + node("Softmax", {"z"}, "y")), ""},
      {"a scaler before, a shift and a scale behind",
       all(node("Mul", {"x", "s"}, "c") + node("MatMul", {"c", "m"}, "d") + node("Add", {"d", "a"}, "e") +
           node("Mul", {"a", "e"}, "h") + node("Relu", {"h"}, "r") + last),
       ""},
      {"columns in another order, some twice",
       all(node("Gather", {"x", "order"}, "c", integer_attribute("axis", 1)) +
           node("MatMul", {"c", "four"}, "h") + node("Relu", {"h"}, "r") + last),
       ""},
      {"sums that are used twice",
       all(product + node("Add", {"h", "a"}, "i") + node("Relu", {"i"}, "j") + node("Mul", {"j", "h"}, "r") +
           last),
       ""},
      {"the row goes elsewhere too",
       all(gemm + node("Relu", {"h"}, "r") + node("Gemm", {"r", "w", "b"}, "z") +
           node("MatMul", {"x", "k"}, "l") + node("Add", {"z", "l"}, "y")),
       "its first layer is not all that hears of the row"},
      {"a linear model", all(node("MatMul", {"x", "k"}, "y")), "nothing follows its first layer"},
      {"the row is bent first", all(node("Relu", {"x"}, "c") + node("MatMul", {"c", "m"}, "r") + last),
       "no first layer that is a product of the row by constants"},
      {"a small part",
       all(gemm + node("MatMul", {"h", "huge"}, "t") + node("Relu", {"t"}, "u") +
           node("MatMul", {"u", "back"}, "y")),
       "its first layer is a small part of it"},
      {"weights that are not finite",
       model(node("Gemm", {"x", "n"}, "h") + node("Softmax", {"h"}, "y") + in + out +
             tensor("n", {6, 3}, std::vector<float>(18, INFINITY))),
       "its first layer has weights that are not finite"},
  };
}

TEST(FirstLayer, IsFoundInFrontOfAnything) {
  for (const File& file : files()) {
    const auto model = opened(file.bytes);
    if (model == nullptr) GTEST_SKIP() << "no ONNX Runtime";
    const FirstLayer* const layer = model->first_layer();
    ASSERT_EQ(layer != nullptr, file.why.empty()) << file.what << ": " << model->info().fast_path;
    if (layer == nullptr) {
      EXPECT_EQ(model->info().fast_path, "none: " + file.why) << file.what;
      continue;
    }
    EXPECT_EQ(model->info().fast_path, "first layer of " + std::to_string(layer->units()) + " units");
    const Matrix<double> x = drawn_rows(50, 6);
    Matrix<double> units(50, layer->units()), by_units(50, 3), by_points(50, 3);
    layer->project(x.view(), true, units.view());
    const Matrix<float> narrow_units = cast_to<float>(units), narrow_x = cast_to<float>(x);
    layer->answer(narrow_units.view(), by_units.view());
    model->evaluate(narrow_x.view(), by_points.view());
    for (std::size_t i = 0; i < 150; ++i)
      EXPECT_NEAR(by_units.row(0)[i], by_points.row(0)[i], 2e-5 * (1 + std::abs(by_points.row(0)[i])))
          << file.what;
  }
}

TEST(FirstLayer, IsNotLookedForWhereItMayNotBeUsed) {
  const std::string bytes = test::dense_file<float>(network_of({6, 20, 3}, Kind::leaky), "Relu");
  ModelOptions points_alone, with_missing;
  points_alone.fast_path = false;
  with_missing.takes_missing = true;
  const auto points = opened(bytes, points_alone);
  if (points == nullptr) GTEST_SKIP() << "no ONNX Runtime";
  EXPECT_EQ(points->first_layer(), nullptr);
  EXPECT_EQ(points->info().fast_path, "");
  const auto missing = opened(bytes, with_missing);
  EXPECT_EQ(missing->first_layer(), nullptr);
  EXPECT_EQ(missing->info().fast_path, "none: it takes missing values");
}

GammaResult gamma_of(const Model& model, const BallOptions& ball, const Schema& schema = {},
                     std::size_t threads = 1, std::size_t batch = 0) {
  GammaOptions options;
  options.ball = ball;
  options.schema = schema;
  options.batch = batch;
  options.output.kind = OutputChoice::Kind::column;
  Run run;
  run.threads = threads;
  run.seed = 5;
  return gamma(model, drawn_rows(9, model.info().inputs).view(), options, run);
}

BallOptions ball_of(const std::string& name, double radius = 0.3) {
  BallOptions ball = parse_ball(name);
  ball.radius = radius;
  return ball;
}

void expect_near(const GammaResult& one, const GammaResult& other, double tolerance) {
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_NEAR(*one.rows[i].gamma, *other.rows[i].gamma, tolerance);
    EXPECT_NEAR(*one.rows[i].value, *other.rows[i].value, tolerance);
    EXPECT_EQ(one.rows[i].points, other.rows[i].points);
  }
  EXPECT_EQ(one.summary.evaluations, other.summary.evaluations);
}

TEST(FirstLayer, RotatedBallsShareIt) {
  const DenseNetwork network = network_of({20, 30, 3}, Kind::tanh);
  const TwoPartModel parts(network), whole(network, false);
  Schema schema(20);
  for (std::size_t j = 0; j < schema.size(); ++j) schema[j].scale = 0.2 + 0.1 * static_cast<double>(j);
  schema[4].fixed = schema[11].fixed = true;
  for (BallOptions ball : {ball_of("rotated:2"), ball_of("rotated-simplex:3")}) {
    for (const Average average : {Average::surface, Average::solid}) {
      ball.average = average;
      for (const Schema& rules : {Schema{}, schema}) {
        const std::size_t before = parts.asked_points();
        const GammaResult shared = gamma_of(parts, ball, rules);
        EXPECT_EQ(parts.asked_points(), before);
        EXPECT_EQ(shared.summary.fast_path, "shared directions");
        const GammaResult plain = gamma_of(whole, ball, rules);
        EXPECT_EQ(plain.summary.fast_path, "");
        expect_near(shared, plain, 1e-14);
      }
    }
  }
}

TEST(FirstLayer, ThreadsAndBatchesDoNotMatter) {
  const TwoPartModel parts(network_of({20, 30, 3}, Kind::tanh), true, Scalar::float32);
  const GammaResult first = gamma_of(parts, ball_of("rotated:3"));
  for (const auto& [threads, batch] :
       {std::pair<std::size_t, std::size_t>{2, 0}, {3, 7}, {1, 1}, {2, 1000}}) {
    const GammaResult again = gamma_of(parts, ball_of("rotated:3"), {}, threads, batch);
    EXPECT_EQ(again.summary.fast_path, "shared directions");
    expect_near(first, again, 0);
  }
}

TEST(FirstLayer, OtherBallsAskForPoints) {
  const TwoPartModel parts(network_of({20, 30, 3}, Kind::tanh));
  Schema bounded(20), whole(20);
  bounded[3].upper = 100;
  whole[3].integer = true;
  for (const char* const name : {"random:30", "gaussian:30", "cross"})
    EXPECT_EQ(gamma_of(parts, ball_of(name)).summary.fast_path, "") << name;
  EXPECT_EQ(gamma_of(parts, ball_of("rotated:1"), bounded).summary.fast_path, "");
  EXPECT_EQ(gamma_of(parts, ball_of("rotated:1"), whole).summary.fast_path, "");
  // So many units that writing them takes longer than the products.
  EXPECT_EQ(
      gamma_of(TwoPartModel(network_of({4, 500, 3}, Kind::tanh)), ball_of("rotated:1")).summary.fast_path,
      "");
  EXPECT_EQ(parts.asked_units(), 0U);
}

TEST(FirstLayer, ProductsThatAreNotKeptAreTheSame) {
  const TwoPartModel parts(network_of({20, 30, 3}, Kind::tanh));
  const auto displacement = [](std::uint64_t k, std::span<double> d) {
    for (std::size_t j = 0; j < d.size(); ++j) d[j] = std::sin(static_cast<double>(k * 31 + j));
  };
  const SharedUnits kept(parts, {1000, displacement}), some(parts, {1000, displacement}, 64 * 30 * 8 * 3);
  SharedUnits::Reader one(kept), other(some);
  const std::vector<double> start(30, 0.5);
  std::vector<double> a(30), b(30);
  for (const std::uint64_t k : {0, 999, 64, 3, 130, 700, 999, 1}) {
    EXPECT_TRUE(one.write({start.data(), 0.25, k}, std::span<double>(a)));
    EXPECT_TRUE(other.write({start.data(), 0.25, k}, std::span<double>(b)));
    EXPECT_EQ(a, b) << k;
  }
}

StabilityResult stability_of(const Model& model, const NoiseOptions& noise, std::size_t threads = 1,
                             std::size_t batch = 0) {
  StabilityOptions options;
  options.sigmas = {0.1, 0.5, 2};
  options.samples = 150;
  options.noise = noise;
  options.batch = batch;
  Run run;
  run.threads = threads;
  const Matrix<double> x = drawn_rows(7, model.info().inputs);
  const auto data = make_memory_source(x.view());
  return stability(model, *data, options, run);
}

void expect_equal(const StabilityResult& one, const StabilityResult& other) {
  ASSERT_EQ(one.rows.size(), other.rows.size());
  EXPECT_EQ(one.evaluations, other.evaluations);
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].decided_class, other.rows[i].decided_class);
    for (std::size_t s = 0; s < one.rows[i].points.size(); ++s)
      EXPECT_EQ(one.rows[i].points[s].frequencies, other.rows[i].points[s].frequencies);
  }
}

// Whatever instructions add them up, and whatever their number is, units of the same products have the same
// bits.
TEST(FirstLayer, InstructionsThatWriteUnitsDoNotMatter) {
  const Matrix<double> numbers = drawn_rows(2, 101);
  const double *const start = numbers.row(0), *const along = numbers.row(1);
  for (const Simd simd : {Simd::avx2, Simd::avx512}) {
    if (simd > best_simd()) continue;
    for (std::size_t count = 0; count <= 101; ++count) {
      std::vector<float> floats(count), other_floats(count);
      std::vector<double> doubles(count), other_doubles(count);
      const DenseUnits &plain = dense_units_for(Simd::scalar), &vectors = dense_units_for(simd);
      EXPECT_TRUE(plain.floats(start, along, 0.3, count, floats.data()));
      EXPECT_TRUE(vectors.floats(start, along, 0.3, count, other_floats.data()));
      EXPECT_TRUE(plain.doubles(start, along, 0.3, count, doubles.data()));
      EXPECT_TRUE(vectors.doubles(start, along, 0.3, count, other_doubles.data()));
      EXPECT_EQ(floats, other_floats);
      EXPECT_EQ(doubles, other_doubles);
    }
    for (std::size_t at = 0; at < 101; ++at) {
      for (const double wrong : {1e39, -1e39, std::nan("")}) {
        std::vector<double> with(start, start + 101);
        std::vector<float> out(101);
        with[at] = wrong;
        EXPECT_FALSE(dense_units_for(simd).floats(with.data(), along, 0.3, 101, out.data()));
        EXPECT_FALSE(dense_units_for(Simd::scalar).floats(with.data(), along, 0.3, 101, out.data()));
      }
    }
  }
}

// Units past all floats, of some points: these are asked for themselves, whatever is in their batch.
TEST(FirstLayer, PointsAreAskedForWhereUnitsAreInfinite) {
  DenseNetwork network = network_of({20, 30, 3}, Kind::tanh);
  for (double& weight : network.layers.front().weights) weight *= 1e38;
  const TwoPartModel parts(network, true, Scalar::float32), whole(network, false, Scalar::float32);
  const GammaResult shared = gamma_of(parts, ball_of("rotated:1", 3)),
                    plain = gamma_of(whole, ball_of("rotated:1", 3));
  EXPECT_GT(parts.asked_points(), 0U);
  expect_near(shared, plain, 1e-6);
  expect_near(shared, gamma_of(parts, ball_of("rotated:1", 3), {}, 3, 10), 0);
  const StabilityResult counted = stability_of(parts, {});
  expect_equal(counted, stability_of(whole, {}));
}

std::vector<NoiseOptions> noises() {
  Schema schema(20);
  for (std::size_t j = 0; j < schema.size(); ++j) schema[j].scale = 0.2 + 0.1 * static_cast<double>(j);
  schema[4].fixed = schema[11].fixed = true;
  return {{.kind = NoiseKind::gaussian, .schema = {}, .directions = {}},
          {.kind = NoiseKind::ball, .schema = {}, .directions = {}},
          {.kind = NoiseKind::gaussian, .schema = schema, .directions = {}},
          {.kind = NoiseKind::ball, .schema = schema, .directions = {}},
          {.kind = NoiseKind::gaussian, .schema = {}, .directions = drawn_rows(5, 20)}};
}

TEST(FirstLayer, StabilitySharesIt) {
  const DenseNetwork network = network_of({20, 30, 3}, Kind::leaky);
  const TwoPartModel parts(network), whole(network, false);
  for (const NoiseOptions& noise : noises()) {
    const StabilityResult shared = stability_of(parts, noise), plain = stability_of(whole, noise);
    EXPECT_EQ(shared.fast_path, "shared directions");
    EXPECT_EQ(plain.fast_path, "");
    expect_equal(shared, plain);
    expect_equal(shared, stability_of(parts, noise, 3, 7));
  }
  NoiseOptions bounded;
  bounded.schema.resize(20);
  bounded.schema[3].upper = 100;
  EXPECT_EQ(stability_of(parts, bounded).fast_path, "");
}

std::vector<PersistenceRow> persistence_of(const Model& model, const NoiseOptions& noise, bool paper,
                                           std::string& fast_path, std::size_t threads = 1) {
  PersistenceOptions options;
  options.noise = noise;
  options.gammas = {0.7, 0.9};
  options.lowest = 0.01;
  options.highest = 10;
  options.precision = 0.1;
  options.paper = paper;
  Run run;
  run.threads = threads;
  const Matrix<double> x = drawn_rows(7, model.info().inputs);
  const auto data = make_memory_source(x.view());
  std::vector<PersistenceRow> rows;
  const PersistenceSummary summary =
      persistence(model, *data, options, run, [&](const PersistenceRow& row) { rows.push_back(row); });
  fast_path = summary.fast_path;
  return rows;
}

TEST(FirstLayer, PersistenceSharesIt) {
  const DenseNetwork network = network_of({20, 30, 3}, Kind::leaky);
  const TwoPartModel parts(network), whole(network, false);
  for (const NoiseOptions& noise : noises()) {
    for (const bool paper : {false, true}) {
      std::string path, none;
      const auto shared = persistence_of(parts, noise, paper, path),
                 plain = persistence_of(whole, noise, paper, none),
                 threads = persistence_of(parts, noise, paper, path, 3);
      EXPECT_EQ(path, "shared directions");
      EXPECT_EQ(none, "");
      ASSERT_EQ(shared.size(), plain.size());
      for (std::size_t i = 0; i < shared.size(); ++i) {
        EXPECT_EQ(shared[i].outcome, plain[i].outcome);
        EXPECT_EQ(shared[i].sigma, plain[i].sigma);
        EXPECT_EQ(shared[i].low, plain[i].low);
        EXPECT_EQ(threads[i].sigma, shared[i].sigma);
      }
    }
  }
}

}  // namespace
}  // namespace harmonia
