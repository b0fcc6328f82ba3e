#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "harmonia/model/dense_balls.hpp"
#include "support/dense_networks.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

using Kind = DenseActivation::Kind;
using Path = DenseBallOptions::Path;
using Arithmetic = DenseBallOptions::Arithmetic;

constexpr DenseActivation kRelu{.kind = Kind::leaky};
constexpr DenseActivation kLeaky{.kind = Kind::leaky, .slope = 0.1};
constexpr DenseActivation kTanh{.kind = Kind::tanh};

BallOptions ball_options(const std::string& name, double radius, Average average = Average::surface) {
  BallOptions options = parse_ball(name);
  options.radius = radius;
  options.average = average;
  return options;
}

std::vector<double> random_row(std::size_t n, std::uint64_t seed) {
  std::vector<float> drawn(n);
  normals({.seed = seed, .row = 77}, drawn);
  return {drawn.begin(), drawn.end()};
}

/// What a ball gives: outputs at the row, differences of all points, and the sum over the units.
struct Answer {
  std::vector<double> centre, sum;
  Matrix<double> differences;
};

// From outputs at the row and at all points, which subtracts.
Answer subtracted(const RowBall& ball, const Matrix<double>& outputs) {
  const std::size_t k = outputs.columns(), each = ball.shape().points();
  Answer answer{
      {outputs.row(0), outputs.row(0) + k}, std::vector<double>(k), Matrix<double>(outputs.rows() - 1, k)};
  for (std::size_t p = 0; p + 1 < outputs.rows(); ++p) {
    for (std::size_t j = 0; j < k; ++j) {
      answer.differences.row(p)[j] = outputs.row(p + 1)[j] - outputs.row(0)[j];
      answer.sum[j] += ball.weight(p % each) * answer.differences.row(p)[j];
    }
  }
  return answer;
}

Answer in_double(const DenseNetwork& network, const RowBall& ball) {
  const Matrix<double> points = test::points_of(ball);
  Matrix<double> outputs(points.rows(), network.outputs());
  evaluate_dense(network, points.view(), outputs.view());
  return subtracted(ball, outputs);
}

Answer in_float(const DenseNetwork& network, const RowBall& ball) {
  const Matrix<double> points = test::points_of(ball);
  Matrix<double> outputs(points.rows(), network.outputs());
  for (std::size_t p = 0; p < points.rows(); ++p) {
    const std::vector<float> answer = test::float_answer(network, points.row(p));
    std::copy(answer.begin(), answer.end(), outputs.row(p));
  }
  return subtracted(ball, outputs);
}

Answer ours(const DenseNetwork& network, const RowBall& ball, const DenseBallOptions& options = {}) {
  const DenseBalls balls(network, ball.ball(), options);
  EXPECT_TRUE(balls.takes(ball));
  const std::size_t k = network.outputs();
  Answer answer{std::vector<double>(k), std::vector<double>(k),
                Matrix<double>(ball.shape().units * ball.shape().points(), k)};
  balls.differences(ball, answer.centre, answer.differences.view());
  const RowBall* const row = &ball;
  balls.sums({&row, 1}, {answer.centre.data(), 1, k}, {answer.sum.data(), 1, k});
  return answer;
}

double largest(std::span<const double> values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

double error(std::span<const double> a, std::span<const double> b) {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(square);
}

std::span<const double> all(const Matrix<double>& matrix) {
  return {matrix.row(0), matrix.rows() * matrix.columns()};
}

// Neither the sum over the ball nor the differences may have a larger error than single precision has.
void expect_no_worse(const DenseNetwork& network, const RowBall& ball,
                     const std::vector<DenseBallOptions>& ways, const std::string& what) {
  const Answer truth = in_double(network, ball), single = in_float(network, ball);
  const double rounding = 1e-13 * (1 + largest(truth.centre) + largest(all(truth.differences)));
  const auto points = static_cast<double>(truth.differences.rows());
  for (const DenseBallOptions& way : ways) {
    const Answer answer = ours(network, ball, way);
    const auto where = [&] {
      return what + ", path " + std::to_string(static_cast<int>(way.path)) + ", arithmetic " +
             std::to_string(static_cast<int>(way.arithmetic)) + ", instructions " +
             std::to_string(static_cast<int>(way.simd));
    };
    EXPECT_LE(error(answer.centre, truth.centre), rounding) << where();
    EXPECT_LE(error(answer.sum, truth.sum), error(single.sum, truth.sum) + points * rounding) << where();
    EXPECT_LE(error(all(answer.differences), all(truth.differences)),
              error(all(single.differences), all(truth.differences)) + points * rounding)
        << where();
  }
}

std::vector<Simd> paths_here() {
  std::vector<Simd> paths;
  for (const Simd simd : {Simd::scalar, Simd::avx2, Simd::avx512}) {
    if (static_cast<int>(simd) <= static_cast<int>(best_simd())) paths.push_back(simd);
  }
  return paths;
}

// One hidden unit that the row lies on the kink of: relu(w·x) with w·x = 0 has gamma r·|w|_1 / 2n.
TEST(Dense, OneUnitOnItsKink) {
  DenseNetwork network;
  network.layers.push_back({3, 1, {1, -2, 4}, {0}, kRelu});
  network.layers.push_back({1, 1, {3}, {0.5F}, {}});
  const Ball ball(ball_options("cross", 0.25), {}, 1);
  const std::vector<double> x{2, 1, 0};
  const RowBall around(ball, x, 0);
  const Answer answer = ours(network, around);
  EXPECT_EQ(answer.centre[0], 0.5);
  EXPECT_EQ(answer.sum[0], 0.5 * 3 * 0.25 * (1 + 2 + 4));
  for (std::size_t k = 0; k < 3; ++k) {
    const double rise = 3 * 0.25 * std::abs(network.layers[0].weights[k]);
    EXPECT_EQ(answer.differences.row(2 * k)[0], network.layers[0].weights[k] > 0 ? rise : 0);
    EXPECT_EQ(answer.differences.row(2 * k + 1)[0], network.layers[0].weights[k] > 0 ? 0 : rise);
  }
}

// Many weights a unit, so that sums over sorted weights are used, against all points one by one in double.
TEST(Dense, OneLayerInClosedForm) {
  const DenseNetwork network = test::random_dense({300, 40, 3}, kRelu, 5);
  for (const char* kind : {"cross", "one-hot"}) {
    for (const Average average : {Average::surface, Average::solid}) {
      const Ball ball(ball_options(kind, 2, average), {}, 1);
      const std::vector<double> x = random_row(300, 3);
      const RowBall around(ball, x, 0);
      const Answer truth = in_double(network, around), answer = ours(network, around);
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(answer.sum[k], truth.sum[k], 1e-7 * largest(truth.sum)) << kind;
      EXPECT_LE(error(answer.sum, truth.sum), error(in_float(network, around).sum, truth.sum)) << kind;
    }
  }
}

TEST(Dense, IsNeverWorseThanSinglePrecision) {
  struct Shape {
    std::vector<std::size_t> widths;
    DenseActivation activation;
  };
  const std::vector<Shape> shapes{
      {{5, 2}, kRelu},
      {{1, 1, 1}, kRelu},
      {{7, 30, 2}, kLeaky},
      {{20, 64, 33, 4}, kRelu},
      {{90, 120, 1}, kRelu},
      {{30, 200, 150, 60, 3}, kLeaky},
      {{13, 17, 50, 9, 70, 2}, kRelu},
      {{24, 50, 40, 3}, {.kind = Kind::clip, .low = -0.5, .high = 0.75}},
      {{18, 60, 20, 2}, kTanh},
      {{18, 60, 2}, {.kind = Kind::sigmoid}},
      {{14, 40, 30, 2}, {.kind = Kind::elu, .slope = 1.3}},
      {{14, 40, 30, 2}, {.kind = Kind::softplus}},
      {{14, 40, 30, 2}, {.kind = Kind::silu}},
      {{14, 40, 30, 2}, {.kind = Kind::gelu}},
      {{14, 40, 30, 2}, {.kind = Kind::gelu_tanh}},
      {{14, 40, 30, 2}, {.kind = Kind::hard_swish}},
  };
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const DenseNetwork network = test::random_dense(shapes[s].widths, shapes[s].activation, 10 + s);
    for (const char* kind : {"cross", "one-hot", "simplex", "anti", "simplex+anti"}) {
      for (const double radius : {1e-6, 1e-3, 0.1, 1.0, 10.0}) {
        const Ball ball(ball_options(kind, radius), {}, 1);
        const std::vector<double> x = random_row(network.inputs(), s);
        const RowBall around(ball, x, 0);
        expect_no_worse(network, around, {{}, {.path = Path::tangents}, {.path = Path::rank_one}},
                        "network " + std::to_string(s) + ", " + kind + ", radius " + std::to_string(radius));
      }
    }
  }
}

// Differences in floats, as wide networks have them, and every instruction set.
TEST(Dense, EveryInstructionSetIsRight) {
  const DenseNetwork relu = test::random_dense({40, 150, 110, 70, 3}, kRelu, 3);
  const DenseNetwork tanh = test::random_dense({40, 60, 50, 3}, kTanh, 4);
  const std::vector<double> x = random_row(40, 5);
  std::vector<DenseBallOptions> ways;
  for (const Simd simd : paths_here()) {
    for (const Path path : {Path::tangents, Path::rank_one}) {
      for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::float64})
        ways.push_back({path, arithmetic, simd});
    }
  }
  for (const char* kind : {"cross", "simplex+anti"}) {
    for (const double radius : {1e-3, 0.1, 1.0}) {
      const Ball ball(ball_options(kind, radius, Average::solid), {}, 1);
      const RowBall around(ball, x, 0);
      const std::string what = std::string(kind) + ", radius " + std::to_string(radius);
      expect_no_worse(relu, around, ways, what);
      expect_no_worse(tanh, around, ways, what);
      for (const Kind smooth : {Kind::sigmoid, Kind::elu, Kind::softplus, Kind::silu, Kind::gelu,
                                Kind::gelu_tanh, Kind::hard_swish}) {
        const DenseActivation activation{.kind = smooth, .slope = 1};
        expect_no_worse(test::random_dense({40, 60, 50, 3}, activation, 4), around, ways,
                        what + ", kind " + std::to_string(static_cast<int>(smooth)));
      }
    }
  }
}

// Two ways in double that share little: what is left out as being unable to bend does not.
TEST(Dense, NoBendIsMissed) {
  for (const auto& widths : {std::vector<std::size_t>{120, 200, 150, 3}, {120, 100, 80, 60, 3}}) {
    const DenseNetwork network = test::random_dense(widths, kRelu, 21);
    for (const char* kind : {"cross", "simplex+anti"}) {
      for (const double radius : {0.003, 0.03, 0.3}) {
        const Ball ball(ball_options(kind, radius), {}, 1);
        for (std::uint64_t row = 0; row < 3; ++row) {
          const std::vector<double> x = random_row(120, 30 + row);
          const RowBall around(ball, x, row);
          const Answer some =
              ours(network, around, {.path = Path::tangents, .arithmetic = Arithmetic::float64});
          const Answer every =
              ours(network, around, {.path = Path::rank_one, .arithmetic = Arithmetic::float64});
          EXPECT_LE(error(all(some.differences), all(every.differences)), 1e-12 * radius) << kind;
          // Sums leave out what the rounding of coordinates does to an average of points that is the row.
          EXPECT_LE(error(some.sum, every.sum), 1e-7) << kind;
        }
      }
    }
  }
}

// Rows where sums of the first and of later layers are exactly 0.
TEST(Dense, RowsOnKinks) {
  DenseNetwork network = test::random_dense({12, 40, 30, 2}, kRelu, 6);
  const std::vector<double> x(12, 0.0);
  for (double& bias : network.layers[0].bias) bias = 0;
  for (double& bias : network.layers[1].bias) bias = 0;
  for (const double radius : {1e-6, 0.1, 10.0}) {
    for (const char* kind : {"cross", "one-hot", "simplex", "simplex+anti"}) {
      const Ball ball(ball_options(kind, radius), {}, 1);
      const RowBall around(ball, x, 0);
      expect_no_worse(network, around, {{.path = Path::tangents}, {.path = Path::rank_one}},
                      std::string(kind) + " " + std::to_string(radius));
    }
  }
}

Schema scaled_schema(std::size_t n) {
  Schema schema(n);
  for (std::size_t j = 0; j < n; ++j) {
    schema[j].name = "f" + std::to_string(j);
    schema[j].scale = 0.5 + static_cast<double>(j % 3);
    schema[j].fixed = j % 4 == 2;
  }
  return schema;
}

TEST(Dense, ScalesAndFixedFeatures) {
  const DenseNetwork network = test::random_dense({90, 100, 30, 2}, kRelu, 7);
  const std::vector<double> x = random_row(90, 9);
  for (const char* kind : {"cross", "one-hot", "simplex", "anti", "simplex+anti"}) {
    const Ball ball(ball_options(kind, 0.2), scaled_schema(90), 1);
    const RowBall around(ball, x, 0);
    expect_no_worse(network, around, {{.path = Path::tangents}, {.path = Path::rank_one}}, kind);
  }
  // The closed form sorts weights times scales.
  const DenseNetwork wide = test::random_dense({90, 20, 2}, kLeaky, 8);
  const Ball ball(ball_options("cross", 5), scaled_schema(90), 1);
  const RowBall around(ball, x, 0);
  const Answer truth = in_double(wide, around), answer = ours(wide, around);
  EXPECT_LE(error(answer.sum, truth.sum), 1e-6 * largest(truth.sum));
}

// Weights that no float is, as scalers make them; in single precision they are rounded.
TEST(Dense, WeightsThatAreNoFloats) {
  for (const DenseActivation& activation : {kRelu, kTanh}) {
    DenseNetwork network = test::random_dense({20, 64, 33, 4}, activation, 17);
    for (DenseLayer& layer : network.layers) {
      for (double& weight : layer.weights) weight *= 1 + 1e-8;
    }
    const std::vector<double> x = random_row(20, 18);
    for (const char* kind : {"cross", "simplex+anti"}) {
      for (const double radius : {1e-4, 0.1, 3.0}) {
        const Ball ball(ball_options(kind, radius), {}, 1);
        expect_no_worse(network, RowBall(ball, x, 0), {{}, {.path = Path::rank_one}},
                        std::string(kind) + " " + std::to_string(radius));
      }
    }
  }
}

// A network of doubles: coordinates keep their digits, so that gamma of a linear one is 0 but for rounding,
// and a step of 1e-9, which single precision would lose, does what its weights say.
TEST(Dense, InDouble) {
  DenseNetwork network = test::random_dense({10, 30, 2}, kRelu, 19);
  network.scalar = Scalar::float64;
  const std::vector<double> x = random_row(10, 20);
  const Ball ball(ball_options("cross", 1e-9), {}, 1);
  const RowBall around(ball, x, 0);
  const Answer answer = ours(network, around);
  Matrix<double> row(1, 10), slopes(2, 10);
  for (std::size_t j = 0; j < 10; ++j) row.row(0)[j] = x[j];
  const DenseLayer &first = network.layers[0], &last = network.layers[1];
  for (std::size_t i = 0; i < first.outputs; ++i) {
    double z = first.bias[i];
    for (std::size_t j = 0; j < 10; ++j) z += first.weights[i * 10 + j] * x[j];
    for (std::size_t k = 0; k < 2 && z > 0; ++k) {
      for (std::size_t j = 0; j < 10; ++j)
        slopes.row(k)[j] += last.weights[k * last.inputs + i] * first.weights[i * 10 + j];
    }
  }
  for (std::size_t p = 0; p < 20; ++p) {
    const std::size_t j = p / 2;
    const double there = x[j] + (p % 2 == 0 ? 1e-9 : -1e-9);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(answer.differences.row(p)[k], slopes.row(k)[j] * (there - x[j]), 1e-22);
  }
}

// What a link makes of differences, small ones and ones that saturate it.
TEST(Dense, LinksSubtractNothing) {
  DenseNetwork network = test::random_dense({20, 30, 4}, kRelu, 11);
  const std::vector<double> x = random_row(20, 12);
  for (const DenseLink link : {DenseLink::sigmoid, DenseLink::softmax}) {
    network.link = link;
    for (const double radius : {1e-5, 0.1, 3.0, 100.0}) {
      const Ball ball(ball_options("cross", radius), {}, 1);
      const RowBall around(ball, x, 0);
      const Answer answer = ours(network, around), truth = in_double(network, around);
      EXPECT_LE(error(answer.centre, truth.centre), 1e-14);
      EXPECT_LE(error(all(answer.differences), all(truth.differences)), 1e-13) << radius;
      EXPECT_LE(error(answer.sum, truth.sum), 1e-12) << radius;
    }
  }
}

TEST(Dense, SumsDoNotDependOnTheRowsBesideThem) {
  const DenseNetwork network = test::random_dense({33, 70, 50, 3}, kRelu, 13);
  const Ball ball(ball_options("simplex+anti", 0.1), {}, 1);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < 7; ++i) rows.push_back(random_row(33, 20 + i));
  std::vector<RowBall> balls;
  for (std::size_t i = 0; i < rows.size(); ++i) balls.emplace_back(ball, rows[i], i);
  const DenseBalls dense(network, ball);
  Matrix<double> centres(7, 3), sums(7, 3);
  std::vector<const RowBall*> asked;
  for (const RowBall& each : balls) asked.push_back(&each);
  dense.sums(asked, centres.view(), sums.view());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> centre(3), sum(3);
    dense.sums({&asked[i], 1}, {centre.data(), 1, 3}, {sum.data(), 1, 3});
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(sum[k], sums.row(i)[k]);
      EXPECT_EQ(centre[k], centres.row(i)[k]);
    }
  }
}

TEST(Dense, SaysWhatItDoesNotTake) {
  const DenseNetwork network = test::random_dense({4, 5, 2}, kRelu);
  EXPECT_EQ(dense_refused(network, Ball(ball_options("cross", 1), {}, 1)), "");
  EXPECT_EQ(dense_refused(network, Ball(ball_options("random:3", 1), {}, 1)),
            "ball random:3 moves more than one feature at a time");
  Schema bounded = scaled_schema(4);
  bounded[0].lower = 0;
  const Ball bounds(ball_options("cross", 1), bounded, 1);
  EXPECT_EQ(dense_refused(network, bounds), "the schema has bounds or whole numbers");
  test::expect_error(ErrorCode::usage, "the schema has bounds or whole numbers",
                     [&] { const DenseBalls balls(network, bounds); });
  const Ball ball(ball_options("cross", 1), {}, 1);
  const DenseBalls balls(network, ball);
  const std::vector<double> missing{1, NAN, 2, 3}, huge{1, 1e39, 2, 3}, fine{1, 2, 3, 4};
  EXPECT_FALSE(balls.takes(RowBall(ball, missing, 0)));
  EXPECT_FALSE(balls.takes(RowBall(ball, huge, 0)));
  EXPECT_TRUE(balls.takes(RowBall(ball, fine, 0)));
  EXPECT_FALSE(balls.takes(RowBall(bounds, fine, 0)));
}

TEST(Dense, SizesHaveToFit) {
  DenseNetwork network = test::random_dense({4, 5, 2}, kRelu);
  network.layers[1].inputs = 6;
  test::expect_error(ErrorCode::input, "network n: layer 1 has 6 inputs; expected 5",
                     [&] { check_dense(network, "n"); });
  network = test::random_dense({4, 5, 2}, kRelu);
  network.layers[0].weights[3] = INFINITY;
  test::expect_error(ErrorCode::input, "network n: layer 0 has a number that is not finite",
                     [&] { check_dense(network, "n"); });
}

}  // namespace
}  // namespace harmonia
