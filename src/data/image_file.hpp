#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harmonia/data/image.hpp"

namespace harmonia {

/// Throws Error(input): the file, and what is wrong with it.
[[noreturn]] void image_fault(const std::string& path, const std::string& what);

/// Throws Error(input) for an image of no or too many pixels.
void check_pixels(const std::string& path, std::size_t width, std::size_t height, std::size_t most);

/// Whether bytes begin as a PNG file does.
bool is_png(std::string_view bytes);
/// Whether bytes begin as a JPEG file does.
bool is_jpeg(std::string_view bytes);

/// decode_image of the two formats.
Image decode_png(std::string_view bytes, const std::string& path, std::size_t most_pixels);
Image decode_jpeg(std::string_view bytes, const std::string& path, std::size_t most_pixels);

}  // namespace harmonia
