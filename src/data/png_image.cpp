#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "image_file.hpp"

namespace harmonia {
namespace {

// libpng's own frame of a read or a write, which it leaves by a return value and never by a jump over our
// code.
struct PngFrame {
  png_image image{};
  PngFrame() { image.version = PNG_IMAGE_VERSION; }
  ~PngFrame() { png_image_free(&image); }
  PngFrame(const PngFrame&) = delete;
  PngFrame& operator=(const PngFrame&) = delete;
};

[[noreturn]] void broken(const std::string& path, const png_image& image) {
  image_fault(path, fmt::format("the PNG file is cut short or damaged ({})", sentence(image.message)));
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

Image decode_png(std::string_view bytes, const std::string& path, std::size_t most_pixels) {
  PngFrame frame;
  png_image& png = frame.image;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) broken(path, png);
  check_pixels(path, png.width, png.height, most_pixels);
  const bool grey = (png.format & PNG_FORMAT_FLAG_COLOR) == 0;
  const std::size_t channels = grey ? 1 : 3;
  png.format = grey ? PNG_FORMAT_GA : PNG_FORMAT_RGBA;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16 bits are the same colours as 8, with more digits
  std::vector<png_byte> samples(std::size_t{png.width} * png.height * (channels + 1));
  if (png_image_finish_read(&png, nullptr, samples.data(), 0, nullptr) == 0) broken(path, png);
  Image image{{png.height, png.width, channels}, {}};
  image.values.reserve(image.shape.values());
  for (std::size_t i = 0; i < samples.size(); i += channels + 1) {
    const float opaque = static_cast<float>(samples[i + channels]) / 255;
    for (std::size_t c = 0; c < channels; ++c) {
      const auto value = static_cast<float>(samples[i + c]);
      image.values.push_back(opaque == 1 ? value : value * opaque + 255 * (1 - opaque));
    }
  }
  return image;
}

std::string encode_png(const Image& image) {
  const bool known = image.shape.channels == 1 || image.shape.channels == 3;
  if (!known || image.values.size() != image.shape.values()) {
    throw Error(ErrorCode::input,
                fmt::format("{} values are no image of {}×{} pixels and {} channels", image.values.size(),
                            image.shape.height, image.shape.width, image.shape.channels));
  }
  PngFrame frame;
  png_image& png = frame.image;
  png.width = static_cast<png_uint_32>(image.shape.width);
  png.height = static_cast<png_uint_32>(image.shape.height);
  png.format = image.shape.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::vector<png_byte> samples(image.values.size());
  std::transform(image.values.begin(), image.values.end(), samples.begin(), [](float value) {
    return static_cast<png_byte>(std::lround(std::isnan(value) ? 0 : std::clamp(value, 0.0F, 255.0F)));
  });
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, samples.data(), 0, nullptr) == 0) {
    throw Error(ErrorCode::input, fmt::format("an image of {}×{} pixels cannot be written as PNG ({})",
                                              image.shape.width, image.shape.height, sentence(png.message)));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace harmonia
