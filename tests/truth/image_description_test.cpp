#include "harmonia/data/image_description.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

ImageDescription read(const std::string& entries) {
  return read_image_description(R"({"height": 4, "width": 6, "channels": "rgb")" + entries + "}", "d.json");
}

void expect_fault(const std::string& entries, const std::string& message) {
  test::expect_error(ErrorCode::input, "d.json: " + message, [&] { read(entries); });
}

TEST(ImageDescription, LeftToItself) {
  const ImageDescription d = read("");
  EXPECT_EQ(d.shape, (ImageShape{4, 6, 3}));
  EXPECT_EQ(d.model_channels, 3U);
  EXPECT_TRUE(d.channels_first);
  EXPECT_FALSE(d.reversed);
  EXPECT_FALSE(d.probabilities);
  EXPECT_EQ(d.range, (std::array<double, 2>{0, 1}));
  EXPECT_TRUE(d.mean.empty());
  EXPECT_EQ(d.resize, 0U);
}

TEST(ImageDescription, EveryEntry) {
  const ImageDescription d = read_image_description(
      R"({"height": 4, "width": 6, "channels": "bgr", "measure": "grey", "layout": "nhwc", "range": [-1, 1],
          "mean": [1, 2, 3], "std": 4, "fit": "crop", "resize": 8, "outputs": "probabilities",
          "classes": ["cat", "dog"]})",
      "d.json");
  EXPECT_EQ(d.shape, (ImageShape{4, 6, 1}));
  EXPECT_EQ(d.model_channels, 3U);
  EXPECT_FALSE(d.channels_first);
  EXPECT_TRUE(d.reversed);
  EXPECT_TRUE(d.probabilities);
  EXPECT_EQ(d.range, (std::array<double, 2>{-1, 1}));
  EXPECT_EQ(d.mean, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(d.deviation, (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(d.resize, 8U);
  EXPECT_EQ(d.classes, (std::vector<std::string>{"cat", "dog"}));
}

TEST(ImageDescription, BesideTheModel) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "net.onnx") << "x";
  EXPECT_FALSE(description_beside(folder / "net.onnx"));
  std::ofstream(folder / "net.image.json") << R"({"height": 8, "width": 8, "channels": "rgb", "resize": 12,
    "classes": "names.txt"})";
  std::ofstream(folder / "names.txt") << "cat\ndog\n\n";
  EXPECT_EQ(description_beside(folder / "net.onnx"), folder / "net.image.json");
  EXPECT_FALSE(description_beside("fn:f2"));
  const AskedImages plain = ask_images(folder / "net.onnx", {});
  ASSERT_TRUE(plain.description);
  EXPECT_EQ(plain.description->classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(plain.path, folder / "net.image.json");
  // Another size keeps the part of the image that is cut out.
  const AskedImages asked = ask_images(folder / "net.onnx", {.description = "", .size = "4x6", .grey = true});
  EXPECT_EQ(asked.shape, (ImageShape{4, 6, 1}));
  EXPECT_EQ(asked.description->shape, asked.shape);
  EXPECT_EQ(asked.description->model_channels, 3U);
  EXPECT_EQ(asked.resize, 6U);
  test::expect_error(ErrorCode::usage, "--size '4'; expected HEIGHTxWIDTH in pixels, from 1 to 10000 each",
                     [&] { ask_images("net.onnx", {.description = "", .size = "4", .grey = false}); });
}

TEST(ImageDescription, Faults) {
  test::expect_error(ErrorCode::input, "d.json: height and width are not both given",
                     [] { read_image_description("{}", "d.json"); });
  test::expect_error(ErrorCode::input, "d.json: channels is not given; expected \"rgb\", \"bgr\" or \"grey\"",
                     [] { read_image_description(R"({"height": 1, "width": 1})", "d.json"); });
  test::expect_error(ErrorCode::input, "d.json: found a list of 0; expected an object",
                     [] { read_image_description("[]", "d.json"); });
  test::expect_error(ErrorCode::input, "d.json line 1, byte 2: not valid JSON",
                     [] { read_image_description("{", "d.json"); });
  expect_fault(R"(, "height": 4)", "'height' is given twice");
  expect_fault(R"(, "layout": "hwc")", R"(layout is the text 'hwc'; expected "nchw" or "nhwc")");
  expect_fault(R"(, "mean": [1, 2])", "mean has 2 numbers; expected 3, one a channel");
  expect_fault(R"(, "std": [1, 0, 1])", "std holds 0; expected numbers above 0");
  expect_fault(R"(, "range": [1, 1])", "range is twice 1; expected two different numbers");
  expect_fault(R"(, "range": 1)", "range is the number 1; expected [WHAT 0 BECOMES, WHAT 255 BECOMES]");
  expect_fault(R"(, "resize": 5)", "resize is 5; expected at least the 4×6 that are cut out of it");
  expect_fault(R"(, "resize": -5)",
               "resize is the number -5; expected a whole number of pixels from 1 to 10000");
  expect_fault(R"(, "fit": "stretch", "resize": 9)",
               "resize is given, and fit is \"stretch\", which has no use for it; expected one of them");
  expect_fault(R"(, "classes": 3)",
               "classes is the number 3; expected a list of names, or the name of a file of one a line");
  expect_fault(
      R"(, "colour": 3)",
      "'colour' is not known; known are height, width, channels, measure, layout, range, mean, std, fit, "
      "resize, outputs and classes");
}

TEST(PixelRange, Bounds) {
  Schema schema;
  bound_pixels(schema, 3, PixelRange::free);
  EXPECT_TRUE(schema.empty());
  bound_pixels(schema, 3, PixelRange::reflect);
  ASSERT_EQ(schema.size(), 3U);
  EXPECT_EQ(schema[1].lower, 0);
  EXPECT_EQ(schema[1].upper, 255);
  EXPECT_TRUE(schema[1].mirrored);
  for (const char* name : {"free", "symmetric", "reflect"})
    EXPECT_EQ(pixel_range_name(parse_pixel_range(name)), name);
  EXPECT_THROW(parse_pixel_range("clip"), Error);
}

}  // namespace
}  // namespace harmonia
