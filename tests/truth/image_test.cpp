#include "harmonia/data/image.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace harmonia {
namespace {

Image test_file(const std::string& name) {
  return read_image(std::string(HARMONIA_TEST_DATA) + "/images/" + name);
}

// What tests/data/make_images.py draws: 0, 5, 10, … in rows of 8.
Image ramp(std::size_t channels) {
  Image image{{6, 8, channels}, {}};
  for (int i = 0; i < 48; ++i) {
    const auto value = static_cast<float>(5 * i);
    if (channels == 1) {
      image.values.push_back(value);
    } else {
      for (const float part : {value, 255 - value, std::floor(value / 2)}) image.values.push_back(part);
    }
  }
  return image;
}

void expect_near(const Image& image, const Image& expected, float tolerance) {
  ASSERT_EQ(image.shape, expected.shape);
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    EXPECT_NEAR(image.values[i], expected.values[i], tolerance) << i;
  }
}

TEST(Image, PngComesBackAsItWasWritten) {
  for (const std::size_t channels : {1, 3}) {
    const Image image = ramp(channels);
    const Image back = decode_image(encode_png(image), "x.png");
    EXPECT_EQ(back.shape, image.shape);
    EXPECT_EQ(back.values, image.values);
  }
}

TEST(Image, PngRoundsAndCuts) {
  const Image image{{1, 5, 1}, {-3, 0.4F, 0.6F, 254.6F, 300}};
  EXPECT_EQ(decode_image(encode_png(image), "x.png").values, (std::vector<float>{0, 0, 1, 255, 255}));
}

TEST(Image, PngOfEveryKind) {
  expect_near(test_file("grey.png"), ramp(1), 0);
  expect_near(test_file("colour.png"), ramp(3), 0);
  expect_near(test_file("sixteen.png"), ramp(1), 0);
  expect_near(test_file("palette.png"), {{2, 2, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 0, 0}}, 0);
  expect_near(test_file("bits.png"), {{1, 2, 1}, {255, 0}}, 0);
  expect_near(test_file("one.png"), {{1, 1, 1}, {7}}, 0);
}

TEST(Image, TransparencyIsLaidOnWhite) {
  // 51/255 = 0.2 of black leaves 204; white stays white.
  expect_near(test_file("transparent.png"),
              {{2, 2, 3}, {10, 20, 30, 255, 255, 255, 204, 204, 204, 255, 255, 255}}, 0.01F);
  expect_near(test_file("grey_transparent.png"), {{1, 2, 1}, {100, 255}}, 0);
}

TEST(Image, Jpeg) {
  expect_near(test_file("grey.jpg"), ramp(1), 2);
  expect_near(test_file("colour.jpg"), ramp(3), 6);
  expect_near(test_file("progressive.jpg"), ramp(3), 80);  // its colours have half the resolution
}

TEST(Image, FittedByHand) {
  const Image image{{2, 4, 1}, {0, 10, 20, 30, 40, 50, 60, 70}};
  // Two to one: a triangle two pixels wide to both sides, at its corners ⅛ ⅜ ⅜ ⅛; outside stands the edge.
  // Columns: ½·0 + ⅜·10 + ⅛·20 = 6.25 and 23.75; both rows average to 20 more or less.
  const Image half = fitted(image, {1, 2, 1}, ImageFit::stretch);
  expect_near(half, {{1, 2, 1}, {26.25F, 43.75F}}, 1e-3F);
  // One to two: ¼ and ¾ between neighbours.
  const Image twice = fitted({{1, 2, 1}, {0, 100}}, {1, 4, 1}, ImageFit::stretch);
  expect_near(twice, {{1, 4, 1}, {0, 25, 75, 100}}, 1e-3F);
  // The middle of the long side.
  expect_near(fitted(image, {2, 2, 1}, ImageFit::crop), {{2, 2, 1}, {10, 20, 50, 60}}, 0);
  // The shorter side at 4, so 4×8, whose middle is 2×2.
  const Image large = fitted(image, {4, 8, 1}, ImageFit::stretch);
  const Image middle = fitted(image, {2, 2, 1}, ImageFit::crop, 4);
  expect_near(
      middle,
      {{2, 2, 1},
       {large.values[1 * 8 + 3], large.values[1 * 8 + 4], large.values[2 * 8 + 3], large.values[2 * 8 + 4]}},
      1e-3F);
  expect_near(fitted(image, image.shape, ImageFit::crop), image, 0);
}

TEST(Image, GreyAndColour) {
  const Image image{{1, 2, 3}, {255, 0, 0, 10, 20, 30}};
  expect_near(fitted(image, {1, 2, 1}, ImageFit::crop), {{1, 2, 1}, {76.245F, 18.15F}}, 1e-3F);
  expect_near(fitted({{1, 1, 1}, {7}}, {1, 1, 3}, ImageFit::crop), {{1, 1, 3}, {7, 7, 7}}, 0);
}

// Searches refuse a value above 255, be it by rounding alone.
TEST(Image, WhiteStaysWhite) {
  for (std::size_t size = 5; size <= 120; ++size) {
    const Image white{{size, size + 3, 3}, std::vector<float>(3 * size * (size + 3), 255)};
    for (const float value : fitted(white, {10, 10, 1}, ImageFit::crop).values) {
      EXPECT_LE(value, 255.0F) << size;
      EXPECT_GE(value, 254.99F) << size;
    }
  }
}

TEST(Image, OnePixelFillsAnySize) {
  const Image image = fitted(test_file("one.png"), {3, 5, 3}, ImageFit::crop, 8);
  expect_near(image, {{3, 5, 3}, std::vector<float>(45, 7)}, 1e-4F);
}

}  // namespace
}  // namespace harmonia
