#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace harmonia {

/// How the numbers of a flattened image lie: rows of the image, in them its pixels, in them its channels.
struct ImageShape {
  std::size_t height = 0, width = 0;
  std::size_t channels = 0;  ///< 1: grey, 3: red, green and blue; 0: rows are no images

  std::size_t values() const { return height * width * channels; }
  bool operator==(const ImageShape&) const = default;
};

/// A picture, its values from 0 to 255.
struct Image {
  ImageShape shape;
  std::vector<float> values;
};

/// Pixels that an image may have at most.
constexpr std::size_t kMostPixels = 100'000'000;

/// Reads the bytes of a PNG or JPEG file, grey as one channel and all else as three; transparency is laid on
/// white, 16 bits become 8, a note of how the camera was held (EXIF) is not followed. Throws Error(input)
/// that names `path` for what is no image, is cut short, is of printing colours (CMYK), or has more pixels
/// than `most_pixels`.
Image decode_image(const std::string& bytes, const std::string& path, std::size_t most_pixels = kMostPixels);

/// The same for a file.
Image read_image(const std::string& path);

/// How an image comes to a given size.
enum class ImageFit {
  crop,     ///< the shorter side is brought to `resize`, and the middle cut out
  stretch,  ///< each side is brought to its size by itself
};

/// The image in another shape. Grey becomes colour by repeating it, colour becomes grey by its luminance
/// (ITU-R 601). `resize` is the shorter side before the middle is cut out; 0, or too small for the shape: as
/// it just fits. Smaller images come by averaging (a triangle as wide as the step), larger ones by
/// interpolation.
Image fitted(const Image& image, const ImageShape& shape, ImageFit fit, std::size_t resize = 0);

/// The bytes of a PNG file. Values are rounded and cut to 0 … 255.
std::string encode_png(const Image& image);

}  // namespace harmonia
