#include "harmonia/model/image_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

// Answers what it is given.
std::unique_ptr<Model> echo(std::size_t inputs, const std::vector<std::size_t>& shape = {}) {
  auto model = std::make_unique<test::RowFunction>(
      inputs, inputs, [inputs](const double* x, double* y) { std::copy_n(x, inputs, y); });
  model->info().row_shape = shape;
  return model;
}

std::vector<double> prepared(const std::string& entries, const std::vector<float>& pixels,
                             std::size_t outputs) {
  const ImageDescription d =
      read_image_description(R"({"height": 1, "width": 2, )" + entries + "}", "d.json");
  const auto model = make_image_model(echo(outputs), d, "d.json");
  EXPECT_EQ(model->info().inputs, pixels.size());
  EXPECT_EQ(model->info().scalar, Scalar::float32);
  std::vector<double> y(outputs);
  model->evaluate(MatrixView<const float>{pixels.data(), 1, pixels.size()}, {y.data(), 1, outputs});
  return y;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6) << i;
}

const std::vector<float> kPixels{0, 51, 102, 153, 204, 255};  // 0, .2, .4 and .6, .8, 1 of white

TEST(ImageModel, LayoutAndOrder) {
  expect_near(prepared(R"("channels": "rgb")", kPixels, 6), {0, .6, .2, .8, .4, 1});
  expect_near(prepared(R"("channels": "rgb", "layout": "nhwc")", kPixels, 6), {0, .2, .4, .6, .8, 1});
  expect_near(prepared(R"("channels": "bgr", "layout": "nhwc")", kPixels, 6), {.4, .2, 0, 1, .8, .6});
  expect_near(prepared(R"("channels": "bgr")", kPixels, 6), {.4, 1, .2, .8, 0, .6});
}

TEST(ImageModel, RangeMeanAndDeviation) {
  expect_near(prepared(R"("channels": "grey", "range": [-1, 1])", {0, 255}, 2), {-1, 1});
  expect_near(prepared(R"("channels": "grey", "range": [0, 255], "mean": 127, "std": 128)", {0, 255}, 2),
              {-127.0 / 128, 1});
  // The numbers of a channel go with the model's own order.
  expect_near(
      prepared(R"("channels": "bgr", "layout": "nhwc", "mean": [0.4, 0, 0], "std": [1, 2, 1])", kPixels, 6),
      {0, .1, 0, .6, .4, .6});
}

TEST(ImageModel, GreyIsRepeated) {
  expect_near(prepared(R"("channels": "rgb", "measure": "grey")", {51, 255}, 6), {.2, 1, .2, 1, .2, 1});
  expect_near(prepared(R"("channels": "rgb", "measure": "grey", "layout": "nhwc", "mean": [0, 0.2, 0])",
                       {51, 255}, 6),
              {.2, 0, .2, 1, .8, 1});
}

TEST(ImageModel, AnotherShapeSaysWhatIsExpected) {
  const auto fault = [](const std::string& entries, const std::vector<std::size_t>& shape) {
    const ImageDescription d =
        read_image_description(R"({"height": 4, "width": 5, )" + entries + "}", "d.json");
    std::size_t inputs = 1;
    for (const std::size_t size : shape) inputs *= size;
    try {
      make_image_model(echo(inputs, shape.size() == 1 ? std::vector<std::size_t>{} : shape), d, "d.json");
      return std::string("no error");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(fault(R"("channels": "rgb")", {3, 4, 5}), "no error");
  EXPECT_EQ(fault(R"("channels": "rgb")", {60}), "no error");
  EXPECT_EQ(fault(R"("channels": "rgb")", {61}),
            "model test takes images of 61 numbers; d.json describes 3×4×5");
  EXPECT_EQ(
      fault(R"("channels": "rgb")", {4, 5, 3}),
      "model test takes images of 4×5×3; d.json describes 3×4×5 (\"layout\": \"nhwc\" puts channels last)");
  EXPECT_EQ(
      fault(R"("channels": "rgb", "layout": "nhwc")", {3, 4, 5}),
      "model test takes images of 3×4×5; d.json describes 4×5×3 (\"layout\": \"nchw\" puts channels first)");
  EXPECT_EQ(fault(R"("channels": "rgb")", {3, 8, 8}),
            "model test takes images of 3×8×8; d.json describes 3×4×5 (another size or number of channels)");
  EXPECT_EQ(fault(R"("channels": "grey", "classes": ["a"])", {1, 4, 5}),
            "d.json: classes has 1 names; model test has 20 outputs");
}

}  // namespace
}  // namespace harmonia
