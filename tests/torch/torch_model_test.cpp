#include "harmonia/model/torch_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harmonia/core/error.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

// A network of tests/data/torch: its shape, rows, and PyTorch's answers and gradients in double precision.
struct Network {
  std::string name;
  std::vector<std::size_t> shape;
  Matrix<double> x, y, gradient;
};

Matrix<double> matrix_of(const nlohmann::json& rows) {
  Matrix<double> matrix(rows.size(), rows[0].size());
  for (std::size_t i = 0; i < matrix.rows(); ++i)
    for (std::size_t j = 0; j < matrix.columns(); ++j) matrix.row(i)[j] = rows[i][j];
  return matrix;
}

Network read_network(const std::string& name) {
  std::ifstream in(std::string(HARMONIA_TEST_DATA) + "/torch/" + name + ".json");
  const nlohmann::json found = nlohmann::json::parse(in);
  return {name, found["shape"], matrix_of(found["x"]), matrix_of(found["y"]), matrix_of(found["gradient"])};
}

std::unique_ptr<Model> open(const Network& network, const char* precision, const char* device = "cpu") {
  ModelOptions options;
  options.row_shape = network.shape;
  options.device = device;
  return open_torch_model(std::string(HARMONIA_TEST_DATA) + "/torch/" + network.name + precision + ".pt",
                          options, {network.x.row(0), network.x.columns()});
}

// Calls with the rows in the model's own type.
template <class Call>
void with_rows(const Model& model, const Matrix<double>& x, const Call& call) {
  if (model.info().scalar == Scalar::float64) return call(RowsView(x.view()));
  const std::vector<float> single(x.row(0), x.row(0) + x.rows() * x.columns());
  call(RowsView(MatrixView<const float>{single.data(), x.rows(), x.columns()}));
}

Matrix<double> answers(const Model& model, const Matrix<double>& x) {
  Matrix<double> y(x.rows(), model.info().outputs);
  with_rows(model, x, [&](RowsView rows) { model.evaluate(rows, y.view()); });
  return y;
}

// The number whose gradient is asked for: y_0² − y_1, and its derivatives.
double number(const double* y) { return y[0] * y[0] - y[1]; }
void by_outputs(std::size_t, std::span<const double> y, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  out[0] = 2 * y[0];
  out[1] = -1;
}

Matrix<double> gradients(const Model& model, const Matrix<double>& x, Matrix<double>& y) {
  Matrix<double> out(x.rows(), x.columns());
  y.resize(x.rows(), model.info().outputs);
  with_rows(model, x,
            [&](RowsView rows) { model.differentiable()->gradient(rows, by_outputs, y.view(), out.view()); });
  return out;
}

// So many rows, these again and again.
Matrix<double> repeated(const Matrix<double>& from, std::size_t rows) {
  Matrix<double> out(rows, from.columns());
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(from.row(i % from.rows()), from.columns(), out.row(i));
  return out;
}

// By central differences of the network in double precision.
Matrix<double> differences(const Model& model, const Matrix<double>& x) {
  constexpr double kStep = 1e-5;
  Matrix<double> out(x.rows(), x.columns());
  for (std::size_t j = 0; j < x.columns(); ++j) {
    Matrix<double> up = x, down = x;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      up.row(i)[j] += kStep;
      down.row(i)[j] -= kStep;
    }
    const Matrix<double> above = answers(model, up), below = answers(model, down);
    for (std::size_t i = 0; i < x.rows(); ++i)
      out.row(i)[j] = (number(above.row(i)) - number(below.row(i))) / (2 * kStep);
  }
  return out;
}

// Row by row, relative to the row's largest number.
void expect_close(const Matrix<double>& found, const Matrix<double>& expected, double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.columns(), expected.columns());
  for (std::size_t i = 0; i < found.rows(); ++i) {
    double largest = 0;
    for (std::size_t j = 0; j < found.columns(); ++j)
      largest = std::max(largest, std::abs(expected.row(i)[j]));
    for (std::size_t j = 0; j < found.columns(); ++j)
      EXPECT_NEAR(found.row(i)[j], expected.row(i)[j], tolerance * largest)
          << "row " << i << ", column " << j;
  }
}

class TorchNetwork : public testing::TestWithParam<const char*> {};

TEST_P(TorchNetwork, AnswersAndGradientsArePyTorchsOwn) {
  const Network network = read_network(GetParam());
  for (const auto& [precision, tolerance] : {std::pair{"64", 1e-12}, std::pair{"32", 2e-5}}) {
    const auto model = open(network, precision);
    EXPECT_EQ(model->info().kind, "torch");
    EXPECT_EQ(model->info().sha256.size(), 64U);
    EXPECT_EQ(model->info().scalar, precision[0] == '6' ? Scalar::float64 : Scalar::float32);
    expect_close(answers(*model, network.x), network.y, tolerance);
    Matrix<double> y;
    ASSERT_NE(model->differentiable(), nullptr);
    expect_close(gradients(*model, network.x, y), network.gradient, tolerance);
    expect_close(y, network.y, tolerance);
  }
}

TEST_P(TorchNetwork, GradientsAreCentralDifferences) {
  const Network network = read_network(GetParam());
  const Matrix<double> expected = differences(*open(network, "64"), network.x);
  Matrix<double> y;
  expect_close(gradients(*open(network, "64"), network.x, y), expected, 1e-7);
  expect_close(gradients(*open(network, "32"), network.x, y), expected, 1e-3);
}

// What is written in place by the module is not what the caller owns.
TEST_P(TorchNetwork, TheCallersRowsStayAsTheyAre) {
  const Network network = read_network(GetParam());
  const auto model = open(network, "64");
  const Matrix<double> first = answers(*model, network.x);
  Matrix<double> y;
  gradients(*model, network.x, y);
  expect_close(answers(*model, network.x), first, 0);
}

TEST_P(TorchNetwork, ThreadsDoNotDisturbEachOther) {
  const Network network = read_network(GetParam());
  const auto model = open(network, "32");
  const Matrix<double> y = answers(*model, network.x);
  Matrix<double> ignored;
  const Matrix<double> gradient = gradients(*model, network.x, ignored);
  std::vector<Matrix<double>> found(4), found_gradients(4);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 20; ++repeat) found_gradients[t] = gradients(*model, network.x, found[t]);
    });
  }
  threads.clear();
  for (std::size_t t = 0; t < found.size(); ++t) {
    expect_close(found[t], y, 0);
    expect_close(found_gradients[t], gradient, 0);
  }
}

// Batches are filled up there, which nobody sees.
TEST_P(TorchNetwork, OnAGpuEveryNumberOfRowsIsAnswered) {
  const Network network = read_network(GetParam());
  std::unique_ptr<Model> model, single;
  try {
    model = open(network, "64", "cuda");
    single = open(network, "32", "cuda");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (std::size_t rows = 1; rows < 70; ++rows) {
    const Matrix<double> x = repeated(network.x, rows), y = repeated(network.y, rows),
                         gradient = repeated(network.gradient, rows);
    Matrix<double> found;
    expect_close(answers(*model, x), y, 1e-11);
    expect_close(gradients(*model, x, found), gradient, 1e-11);
    expect_close(found, y, 1e-11);
    expect_close(answers(*single, x), y, 2e-5);
    expect_close(gradients(*single, x, found), gradient, 2e-5);
  }
  std::vector<Matrix<double>> found(9);  // more callers than streams
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] { found[t] = answers(*model, repeated(network.x, 1 + t)); });
  threads.clear();
  for (std::size_t t = 0; t < found.size(); ++t) expect_close(found[t], repeated(network.y, 1 + t), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Networks, TorchNetwork, testing::Values("dense", "conv", "residual"),
                         [](const auto& each) { return std::string(each.param); });

// A dense network takes the rows of images as plain lists, if nobody flattens them inside.
TEST(TorchModel, RowsAreFlatWhereTheModuleRefusesTheirShape) {
  Network network = read_network("dense");
  network.shape = {1, 2, 3};
  const auto model = open(network, "64");
  EXPECT_TRUE(model->info().row_shape.empty());
  expect_close(answers(*model, network.x), network.y, 1e-12);
}

TEST(TorchModel, AnErrorOfTheLibraryIsAnErrorHere) {
  Network network = read_network("dense");
  network.x = Matrix<double>(1, 4);
  network.shape = {};
  test::expect_error(ErrorCode::model,
                     "model " HARMONIA_TEST_DATA
                     "/torch/dense64.pt failed: RuntimeError: mat1 and mat2 shapes cannot be "
                     "multiplied (2x4 and 6x12)",
                     [&] { open(network, "64"); });
}

}  // namespace
}  // namespace harmonia
