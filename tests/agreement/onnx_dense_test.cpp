// Dense networks as they are read from ONNX files, against ONNX Runtime on the same files.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/model/dense_balls.hpp"
#include "harmonia/model/dense_network.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "support/onnx_bytes.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using namespace test::onnx;

const std::string kName = "test.onnx";

struct File {
  const char* what;
  std::string bytes;
  std::size_t layers = 0;  // 0: it is no dense network
  bool doubles = false;    // the input's type
};

std::vector<File> files() {
  const std::string in = value(11, "x", {6}), out = value(12, "y", {3});
  const std::string constants =
      weights("v", 8, 6, 1) + weights("w", 8, 3, 2) + weights("u", 3, 3, 3) + tensor("a", {8}, drawn(8, 4)) +
      tensor("b", {1, 3}, drawn(3, 5)) + tensor("c", {}, drawn(1, 6)) + weights("m", 6, 8, 7) +
      tensor<std::int64_t>("rows", {2}, {-1, 6}) + tensor<std::int64_t>("other", {2}, {-1, 3}) +
      tensor<float>("low", {}, {-0.5F}) + tensor<float>("high", {}, {0.75F}) +
      tensor("wide", {8, 3}, std::vector<double>(24, 1));
  const auto all = [&](const std::string& nodes) { return model(nodes + constants + in + out); };
  const std::string gemm = node("Gemm", {"x", "v", "a"}, "h", integer_attribute("transB", 1));
  const std::string last = node("Gemm", {"r", "w", "b"}, "y");
  const std::string image = value(11, "x", {2, 3});
  return {
      {"Gemm and ReLU", all(gemm + node("Relu", {"h"}, "r") + last), 2},
      {"MatMul and Add, LeakyRelu",
       all(node("MatMul", {"x", "m"}, "p") + node("Add", {"a", "p"}, "h") +
           node("LeakyRelu", {"h"}, "r", real_attribute("alpha", 0.2F)) + last),
       2},
      {"LeakyRelu's own slope, softmax",
       all(gemm + node("LeakyRelu", {"h"}, "r") + node("Gemm", {"r", "w"}, "s") +
           node("Softmax", {"s"}, "y", integer_attribute("axis", 1))),
       2},
      {"Tanh, sigmoid at the end, a bias that is one number",
       all(gemm + node("Tanh", {"h"}, "r") + node("Gemm", {"r", "w", "c"}, "s") +
           node("Sigmoid", {"s"}, "y")),
       2},
      {"Sigmoid between, three layers, one without an activation",
       all(gemm + node("Sigmoid", {"h"}, "r") + node("MatMul", {"r", "w"}, "s") +
           node("MatMul", {"s", "u"}, "y")),
       3},
      {"Clip", all(gemm + node("Clip", {"h", "low", "high"}, "r") + last), 2},
      {"Clip from below alone", all(gemm + node("Clip", {"h", "low"}, "r") + last), 2},
      {"copies, flattening and reshaping",
       all(node("Identity", {"x"}, "i") + node("Flatten", {"i"}, "f") + node("Reshape", {"f", "rows"}, "g") +
           node("Gemm", {"g", "v", "a"}, "h", integer_attribute("transB", 1)) + node("Relu", {"h"}, "r") +
           node("Gemm", {"r", "w", "b"}, "s") + node("Reshape", {"s", "other"}, "y")),
       2},
      {"an image, flattened",
       model(node("Flatten", {"x"}, "f") +
             node("Gemm", {"f", "v", "a"}, "h", integer_attribute("transB", 1)) + node("Relu", {"h"}, "r") +
             last + constants + image + out),
       2},
      {"a cast from double",
       model(node("Cast", {"x"}, "f", integer_attribute("to", 1)) + node("MatMul", {"f", "m"}, "h") +
             node("Relu", {"h"}, "r") + last + constants + value(11, "x", {6}, 11) + out),
       2, true},
      {"a linear model", all(node("MatMul", {"x", "m"}, "h") + node("MatMul", {"h", "w"}, "y")), 2},
      {"a sum of two values",
       all(gemm + node("Relu", {"h"}, "r") + node("Add", {"r", "h"}, "s") + node("MatMul", {"s", "w"}, "y"))},
      {"an activation that is not known", all(gemm + node("Sin", {"h"}, "r") + last)},
      {"an activation of the row itself",
       all(node("Relu", {"x"}, "k") + node("MatMul", {"k", "m"}, "h") + node("MatMul", {"h", "w"}, "y")), 3},
      {"an activation at the end",
       all(gemm + node("Relu", {"h"}, "r") + node("Gemm", {"r", "w"}, "s") + node("Relu", {"s"}, "y")), 3},
      {"a product of Gemm",
       all(gemm + node("Relu", {"h"}, "r") + node("Gemm", {"r", "w", "b"}, "y", real_attribute("alpha", 2))),
       2},
      {"constants of two types",
       all(gemm + node("Relu", {"h"}, "r") + node("Cast", {"r"}, "d", integer_attribute("to", 11)) +
           node("MatMul", {"d", "wide"}, "e") + node("Cast", {"e"}, "y", integer_attribute("to", 1)))},
  };
}

template <class T>
Matrix<double> asked(const Model& model, const Matrix<double>& x) {
  Matrix<T> typed(x.rows(), x.columns());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < x.columns(); ++j) typed.row(i)[j] = static_cast<T>(x.row(i)[j]);
  }
  Matrix<double> y(x.rows(), model.info().outputs);
  model.evaluate(RowsView(MatrixView<const T>(typed.view())), y.view());
  return y;
}

TEST(OnnxDense, AnswersAsOnnxRuntimeDoes) {
  for (const File& file : files()) {
    const test::TemporaryFile saved("network.onnx", file.bytes);
    std::unique_ptr<Model> runtime;
    try {
      runtime = open_onnx_model(saved.path(), {}, {});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::usage) GTEST_SKIP() << error.what();
      throw;
    }
    const auto network = read_onnx_dense(file.bytes, kName);
    ASSERT_EQ(network.has_value(), file.layers > 0) << file.what;
    if (!network) continue;
    EXPECT_EQ(network->layers.size(), file.layers) << file.what;
    Matrix<double> x(50, 6), y(50, 3);
    std::vector<float> row(6);
    for (std::size_t i = 0; i < x.rows(); ++i) {
      normals({.row = i}, row);
      std::copy(row.begin(), row.end(), x.row(i));
    }
    evaluate_dense(*network, x.view(), y.view());
    const Matrix<double> theirs = file.doubles ? asked<double>(*runtime, x) : asked<float>(*runtime, x);
    for (std::size_t i = 0; i < y.rows(); ++i) {
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(y.row(i)[k], theirs.row(i)[k], 1e-5 * (1 + std::abs(y.row(i)[k]))) << file.what;
    }
  }
}

TEST(OnnxDense, EveryCutIsNoticedOrHarmless) {
  for (const File& file : files()) {
    const std::string& bytes = file.bytes;
    for (std::size_t length = 0; length < bytes.size(); ++length)
      read_onnx_dense(bytes.substr(0, length), kName);
    EXPECT_FALSE(read_onnx_dense(bytes.substr(0, bytes.size() / 2), kName));
  }
}

// A byte that is another: what is still read as a network can be measured.
TEST(OnnxDense, EveryDamageIsNoticedOrHarmless) {
  BallOptions options = parse_ball("cross");
  options.radius = 0.5;
  const Ball ball(options, {}, 1);
  const std::vector<double> x(6, 0.25);
  const RowBall around(ball, x, 0);
  const RowBall* const row = &around;
  for (const File& file : files()) {
    std::string bytes = file.bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const char kept = bytes[i];
      bytes[i] = static_cast<char>(draw_below({.row = i}, 256));
      const auto network = read_onnx_dense(bytes, kName);
      if (network && network->inputs() == x.size()) {
        std::vector<double> centre(network->outputs()), sum(network->outputs());
        DenseBalls(*network, ball)
            .sums({&row, 1}, {centre.data(), 1, centre.size()}, {sum.data(), 1, sum.size()});
      }
      bytes[i] = kept;
    }
  }
}

TEST(OnnxDense, CirclesEnd) {
  const std::string bytes = model(node("Identity", {"a"}, "y") + node("Identity", {"y"}, "a") +
                                  value(11, "x", {6}) + value(12, "y", {6}));
  EXPECT_FALSE(read_onnx_dense(bytes, kName));
}

// With --margin, what goes into the softmax.
TEST(OnnxDense, TheMarginHasNoLink) {
  const std::string bytes = files()[2].bytes;
  ModelOptions options;
  EXPECT_EQ(read_onnx_dense(bytes, kName, options)->link, DenseLink::softmax);
  options.margin = true;
  EXPECT_EQ(read_onnx_dense(bytes, kName, options)->link, DenseLink::identity);
}

}  // namespace
}  // namespace harmonia
