#include <algorithm>
#include <cmath>
#include <new>

#include "harmonia/data/image.hpp"
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
// It asserts that weights add up to about 1 before it makes them: those of 13 to 10 pixels do not.
#define STBIR_ASSERT(holds) static_cast<void>(holds)
#include <stb/stb_image_resize.h>

namespace harmonia {
namespace {

// ITU-R 601, the weights of every library that makes an image grey.
Image grey(const Image& image) {
  Image result{{image.shape.height, image.shape.width, 1}, {}};
  result.values.reserve(result.shape.values());
  for (std::size_t i = 0; i < image.values.size(); i += 3) {
    result.values.push_back(0.299F * image.values[i] + 0.587F * image.values[i + 1] +
                            0.114F * image.values[i + 2]);
  }
  return result;
}

Image colour(const Image& image) {
  Image result{{image.shape.height, image.shape.width, 3}, {}};
  result.values.reserve(result.shape.values());
  for (const float value : image.values) result.values.insert(result.values.end(), 3, value);
  return result;
}

// One side of an image: from `from` pixels it comes to `to`, of which `size` from `start` on are kept.
struct Side {
  std::size_t from, to, start, size;
  bool kept() const { return from == to; }
  float scale() const { return static_cast<float>(static_cast<double>(to) / static_cast<double>(from)); }
};

Side side(std::size_t from, std::size_t to, std::size_t size) { return {from, to, (to - size) / 2, size}; }

Image cut(const Image& image, const Side& y, const Side& x) {
  Image result{{y.size, x.size, image.shape.channels}, {}};
  result.values.reserve(result.shape.values());
  for (std::size_t i = 0; i < y.size; ++i) {
    const float* const row =
        image.values.data() + ((y.start + i) * image.shape.width + x.start) * image.shape.channels;
    result.values.insert(result.values.end(), row, row + x.size * image.shape.channels);
  }
  return result;
}

Image resized(const Image& image, const Side& y, const Side& x) {
  if (y.kept() && x.kept()) return cut(image, y, x);
  Image result{{y.size, x.size, image.shape.channels}, {}};
  result.values.resize(result.shape.values());
  const int done = stbir_resize_subpixel(
      image.values.data(), static_cast<int>(x.from), static_cast<int>(y.from), 0, result.values.data(),
      static_cast<int>(x.size), static_cast<int>(y.size), 0, STBIR_TYPE_FLOAT,
      static_cast<int>(image.shape.channels), STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_EDGE_CLAMP,
      STBIR_FILTER_TRIANGLE, STBIR_FILTER_TRIANGLE, STBIR_COLORSPACE_LINEAR, nullptr, x.scale(), y.scale(),
      static_cast<float>(x.start), static_cast<float>(y.start));
  if (done == 0) throw std::bad_alloc();
  return result;
}

}  // namespace

Image fitted(const Image& image, const ImageShape& shape, ImageFit fit, std::size_t resize) {
  if (image.shape.channels > shape.channels) return fitted(grey(image), shape, fit, resize);
  const std::size_t height = image.shape.height, width = image.shape.width;
  std::size_t new_height = shape.height, new_width = shape.width;
  if (fit == ImageFit::crop) {
    // Whichever side is short by more decides, unless `resize` asks for more than both.
    const auto brought = [](std::size_t a, std::size_t to, std::size_t from) {
      return static_cast<std::size_t>(static_cast<double>(a) * static_cast<double>(to) /
                                      static_cast<double>(from));
    };
    const std::size_t shorter = std::min(height, width);
    new_height = std::max(shape.height, brought(height, shape.width, width));
    new_width = std::max(shape.width, brought(width, shape.height, height));
    if (brought(height, resize, shorter) >= shape.height && brought(width, resize, shorter) >= shape.width) {
      new_height = brought(height, resize, shorter);
      new_width = brought(width, resize, shorter);
    }
  }
  Image small = resized(image, side(height, new_height, shape.height), side(width, new_width, shape.width));
  // Weights that add up to 1 but for rounding make white whiter than white.
  for (float& value : small.values) value = std::clamp(value, 0.0F, 255.0F);
  return small.shape.channels < shape.channels ? colour(small) : small;
}

}  // namespace harmonia
