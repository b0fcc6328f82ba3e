#include "harmonia/data/image.hpp"

#include <fmt/format.h>

#include "harmonia/core/error.hpp"
#include "image_file.hpp"
#include "whole_file.hpp"

namespace harmonia {

void image_fault(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}: {}", path, what));
}

void check_pixels(const std::string& path, std::size_t width, std::size_t height, std::size_t most) {
  if (width == 0 || height == 0) image_fault(path, "the image has no pixels");
  if (width > most / height) {
    image_fault(path, fmt::format("the image has {}×{} pixels; expected at most {} megapixels", width, height,
                                  static_cast<double>(most) / 1e6));
  }
}

Image decode_image(const std::string& bytes, const std::string& path, std::size_t most_pixels) {
  if (is_png(bytes)) return decode_png(bytes, path, most_pixels);
  if (is_jpeg(bytes)) return decode_jpeg(bytes, path, most_pixels);
  image_fault(path, bytes.empty() ? "the file is empty; expected a PNG or JPEG image"
                                  : "not an image; expected a PNG or JPEG file");
}

Image read_image(const std::string& path) {
  return decode_image(read_whole_file(path, 1024, "an image"), path);
}

}  // namespace harmonia
