#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "harmonia/ball/ball.hpp"
#include "harmonia/data/image_description.hpp"
#include "harmonia/measure/gamma.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

GammaOptions options_of(const std::string& ball, const ImageShape& image, double radius) {
  GammaOptions options;
  options.ball = parse_ball(ball);
  options.ball.image = image;
  options.ball.radius = radius;
  options.output = parse_output("column:0");
  return options;
}

std::vector<double> some_image(std::size_t values) {
  std::vector<double> x(values);
  for (std::size_t j = 0; j < values; ++j) x[j] = static_cast<double>(20 + 7 * j % 200);
  return x;
}

GammaRow measure(const test::RowFunction& model, const GammaOptions& options, const std::vector<double>& x) {
  Run run;
  return gamma(model, {x.data(), 1, x.size()}, options, run).rows.front();
}

// The square of the sum of every block, summed: along a block of s values it bends by s.
TEST(ImageBall, PixelsMoveAllChannelsTogether) {
  const ImageShape image{3, 4, 3};
  const test::RowFunction model(36, [](const double* x) {
    double sum = 0;
    for (std::size_t p = 0; p < 12; ++p) sum += std::pow(x[3 * p] + x[3 * p + 1] + x[3 * p + 2], 2);
    return sum;
  });
  const std::vector<double> x = some_image(36);
  const GammaRow pixel = measure(model, options_of("pixel", image, 2), x);
  EXPECT_NEAR(*pixel.gamma, 3 * 4, 1e-8);
  EXPECT_EQ(pixel.points, 24U);
  EXPECT_FALSE(pixel.laplacian);  // the directions are not those of a sphere
  EXPECT_NEAR(*measure(model, options_of("cross", image, 2), x).gamma, 4, 1e-8);
}

TEST(ImageBall, PatchesTileTheImage) {
  const ImageShape image{3, 5, 3};
  const test::RowFunction model(45,
                                [](const double* x) { return std::pow(std::accumulate(x, x + 45, 0.0), 2); });
  // 2×2 patches of 3×5 pixels: 4, 4, 2 above and 2, 2, 1 below, three values a pixel.
  const GammaRow row = measure(model, options_of("patch:2", image, 0.5), some_image(45));
  EXPECT_EQ(row.points, 12U);
  EXPECT_NEAR(*row.gamma, 0.25 * 3 * (4 + 4 + 2 + 2 + 2 + 1) / 6, 1e-6);
  // A patch larger than the image is the image.
  EXPECT_NEAR(*measure(model, options_of("patch:9", image, 0.5), some_image(45)).gamma, 0.25 * 45, 1e-6);
}

TEST(ImageBall, PixelsOfGreyAreTheCross) {
  const ImageShape image{4, 4, 1};
  const test::RowFunction model(16, [](const double* x) {
    double sum = 0;
    for (std::size_t j = 0; j < 16; ++j) sum += std::sin(x[j] * static_cast<double>(j)) + x[j] * x[0];
    return sum;
  });
  for (const std::uint64_t sample : {0, 8}) {
    GammaOptions pixel = options_of("pixel", image, 3), cross = options_of("cross", image, 3);
    pixel.sample = cross.sample = sample;
    const GammaRow a = measure(model, pixel, some_image(16)), b = measure(model, cross, some_image(16));
    EXPECT_EQ(a.gamma, b.gamma);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(a.high, b.high);
    EXPECT_EQ(a.laplacian, b.laplacian);
  }
}

TEST(ImageBall, SameForEveryBatchAndSample) {
  const ImageShape image{5, 5, 3};
  const test::RowFunction model(75, [](const double* x) {
    double sum = 0;
    for (std::size_t j = 0; j < 75; ++j) sum += std::sin(x[j] * static_cast<double>(j % 7)) * x[j / 2];
    return sum;
  });
  for (const std::uint64_t sample : {0, 6}) {
    GammaOptions options = options_of("patch:2", image, 3);
    options.sample = sample;
    const GammaRow whole = measure(model, options, some_image(75));
    for (const std::size_t batch : {1, 3, 7}) {
      options.batch = batch;
      EXPECT_EQ(measure(model, options, some_image(75)).gamma, whole.gamma) << batch;
    }
    EXPECT_LE(*whole.low, *whole.gamma);
  }
}

// f is the first value: delta is how far the average of its two places is from it.
TEST(ImageBall, StepsOutOfTheRange) {
  const ImageShape image{1, 1, 1};
  const test::RowFunction square(1, [](const double* x) { return x[0] * x[0]; });
  const auto delta = [&](double x, double radius, PixelRange range) {
    GammaOptions options = options_of("pixel", image, radius);
    bound_pixels(options.schema, 1, range);
    return *measure(square, options, {x}).delta;
  };
  const auto average = [](double a, double b, double x) { return (a * a + b * b) / 2 - x * x; };
  EXPECT_NEAR(delta(250, 10, PixelRange::free), average(260, 240, 250), 1e-9);
  EXPECT_NEAR(delta(250, 10, PixelRange::symmetric), average(255, 245, 250), 1e-9);
  EXPECT_NEAR(delta(250, 10, PixelRange::reflect), average(250, 240, 250), 1e-9);
  EXPECT_NEAR(delta(3, 10, PixelRange::reflect), average(13, 7, 3), 1e-9);
  EXPECT_NEAR(delta(100, 300, PixelRange::reflect), average(110, 200, 100), 1e-9);  // 400 and −200
  EXPECT_NEAR(delta(100, 10, PixelRange::reflect), average(110, 90, 100), 1e-9);
}

TEST(ImageBall, Faults) {
  test::expect_error(ErrorCode::usage, "ball patch needs a count, as in patch:8",
                     [] { parse_ball("patch"); });
  const test::RowFunction model(4, [](const double*) { return 0.0; });
  const std::vector<double> x(4);
  test::expect_error(ErrorCode::usage,
                     "ball pixel moves the pixels of images; the data has 4 columns that are no image",
                     [&] { measure(model, options_of("pixel", {}, 1), x); });
  test::expect_error(ErrorCode::usage,
                     "ball patch:2 moves the pixels of images; the data has 4 columns that are no image",
                     [&] {
                       measure(model, options_of("patch:2", {3, 3, 1}, 1), x);
                     });
}

}  // namespace
}  // namespace harmonia
