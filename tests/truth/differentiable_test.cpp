#include "harmonia/model/differentiable.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "harmonia/core/run.hpp"
#include "harmonia/model/function_model.hpp"
#include "harmonia/model/image_model.hpp"
#include "harmonia/model/point_asker.hpp"
#include "support/functions.hpp"
#include "support/networks.hpp"

namespace harmonia {
namespace {

// The number whose gradient is asked for: y_0² − y_1, and its derivatives.
double number(const double* y) { return y[0] * y[0] - y[1]; }
void by_outputs(std::size_t, std::span<const double> y, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  out[0] = 2 * y[0];
  out[1] = -1;
}

TEST(Differentiable, GradientsOfManyPointsAreCentralDifferences) {
  const test::DenseNetwork network = test::DenseNetwork::random({6, 9, 3});
  harmonia::Run run;
  run.threads = 2;
  PointAsker asker(network, 8, run);
  constexpr std::size_t kPoints = 37;
  const auto at = [](std::size_t i, std::size_t j) { return std::sin(static_cast<double>(7 * i + j)); };
  const auto write = [&](std::size_t i, std::span<double> x) {
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = at(i, j);
  };
  Matrix<double> y(kPoints, 3), gradients(kPoints, 6);
  asker.ask_gradients(kPoints, write, by_outputs, y.view(), gradients.view());
  EXPECT_EQ(run.ledger.spent(), kPoints);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < kPoints; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      Matrix<double> x(2, 6), out(2, 3);
      for (std::size_t k = 0; k < 6; ++k) x.row(0)[k] = x.row(1)[k] = at(i, k);
      x.row(0)[j] += kStep;
      x.row(1)[j] -= kStep;
      network.evaluate(std::as_const(x).view(), out.view());
      EXPECT_NEAR(gradients.row(i)[j], (number(out.row(0)) - number(out.row(1))) / (2 * kStep), 1e-8);
    }
  }
}

// Pixels go through a range, a mean and deviation a channel and an order: so does the gradient.
TEST(Differentiable, ImagesPassOnTheirNetworksGradient) {
  for (const char* entries :
       {R"("channels": "bgr", "mean": [0.4, 0, 0.1], "std": [1, 2, 0.5])",
        R"("channels": "rgb", "layout": "nhwc", "range": [-1, 1])",
        R"("channels": "rgb", "measure": "grey", "mean": [0, 0.2, 0], "std": [1, 2, 4])"}) {
    const ImageDescription d =
        read_image_description(std::string(R"({"height": 2, "width": 2, )") + entries + "}", "d.json");
    const auto network = [] {
      return std::make_unique<test::DenseNetwork>(test::DenseNetwork::random({12, 9, 3}));
    };
    const auto model = make_image_model(network(), d, "d.json");
    const std::size_t inputs = model->info().inputs;
    std::vector<float> pixels(inputs);
    for (std::size_t j = 0; j < inputs; ++j) pixels[j] = static_cast<float>((53 * j + 20) % 256);
    Matrix<double> y(1, 3), gradient(1, inputs), out(2, 3);
    ASSERT_NE(model->differentiable(), nullptr);
    model->differentiable()->gradient(MatrixView<const float>{pixels.data(), 1, inputs}, by_outputs, y.view(),
                                      gradient.view());
    for (std::size_t j = 0; j < inputs; ++j) {
      Matrix<float> x(2, inputs);
      for (std::size_t i = 0; i < 2; ++i) std::copy(pixels.begin(), pixels.end(), x.row(i));
      x.row(0)[j] += 0.5F;
      x.row(1)[j] -= 0.5F;
      model->evaluate(std::as_const(x).view(), out.view());
      EXPECT_NEAR(gradient.row(0)[j], number(out.row(0)) - number(out.row(1)), 1e-5) << entries << " " << j;
    }
  }
}

TEST(Differentiable, SoftFunctionsHaveTheGradientsOfTheirValues) {
  for (const char* name : {"soft-plane", "soft-ball"}) {
    const auto model = make_function_model(name, 3);
    const std::array<double, 3> at{0.3, -0.8, 0.5};
    const auto three = [](std::size_t, std::span<const double>, std::span<double> out) { out[0] = 3; };
    Matrix<double> y(1, 1), gradient(1, 3), out(2, 1);
    model->differentiable()->gradient(MatrixView<const double>{at.data(), 1, 3}, three, y.view(),
                                      gradient.view());
    for (std::size_t j = 0; j < 3; ++j) {
      Matrix<double> x(2, 3);
      for (std::size_t i = 0; i < 2; ++i) std::copy(at.begin(), at.end(), x.row(i));
      x.row(0)[j] += 1e-5;
      x.row(1)[j] -= 1e-5;
      model->evaluate(std::as_const(x).view(), out.view());
      EXPECT_NEAR(gradient.row(0)[j], 3 * (*out.row(0) - *out.row(1)) / 2e-5, 1e-9) << name;
    }
  }
  EXPECT_EQ(make_function_model("ball-class", 3)->differentiable(), nullptr);
}

TEST(Differentiable, AModelWithoutGradientsSaysSo) {
  const ImageDescription d =
      read_image_description(R"({"height": 1, "width": 2, "channels": "grey"})", "d.json");
  EXPECT_EQ(make_image_model(std::make_unique<test::RowFunction>(2, [](const double* x) { return *x; }), d,
                             "d.json")
                ->differentiable(),
            nullptr);
}

}  // namespace
}  // namespace harmonia
