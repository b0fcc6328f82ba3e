#include "harmonia/data/image.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

std::string bytes_of(const std::string& name) {
  std::ifstream file(std::string(HARMONIA_TEST_DATA) + "/images/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_fault(const std::string& bytes, const std::string& beginning) {
  try {
    decode_image(bytes, "x");
    ADD_FAILURE() << "no error; expected: " << beginning;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, beginning.size()), beginning) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::input));
  }
}

TEST(ImageFault, NoImage) {
  expect_fault("", "x: the file is empty; expected a PNG or JPEG image");
  expect_fault("hello", "x: not an image; expected a PNG or JPEG file");
  expect_fault("GIF89a…", "x: not an image; expected a PNG or JPEG file");
}

TEST(ImageFault, Files) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::input, (folder / "no.png") + ": no such file",
                     [&] { read_image(folder / "no.png"); });
}

TEST(ImageFault, CutShort) {
  for (const char* name : {"colour.jpg", "grey.jpg", "progressive.jpg"}) {
    const std::string whole = bytes_of(name);
    for (std::size_t size = 3; size + 2 < whole.size(); ++size) {
      expect_fault(whole.substr(0, size), "x: the JPEG file is cut short or damaged (");
    }
  }
  for (const char* name : {"colour.png", "grey.png", "palette.png"}) {
    const std::string whole = bytes_of(name);
    for (std::size_t size = 8; size + 13 < whole.size(); ++size) {
      expect_fault(whole.substr(0, size), "x: the PNG file is cut short or damaged (");
    }
  }
}

TEST(ImageFault, PrintingColours) {
  expect_fault(bytes_of("cmyk.jpg"), "x: the JPEG file has printing colours (CMYK); expected grey or RGB");
}

TEST(ImageFault, GiantHeader) {
  // The size stands in the frame header of a JPEG file, two bytes each.
  std::string jpeg = bytes_of("grey.jpg");
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\x00\xff\x00", 4);
  expect_fault(jpeg, "x: the image has 65280×65280 pixels; expected at most 100 megapixels");
  EXPECT_THROW(decode_image(bytes_of("colour.png"), "x", 47), Error);
  EXPECT_NO_THROW(decode_image(bytes_of("colour.png"), "x", 48));
}

}  // namespace
}  // namespace harmonia
