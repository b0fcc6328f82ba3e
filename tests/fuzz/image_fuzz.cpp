#include <string>

#include "harmonia/core/error.hpp"
#include "harmonia/data/image.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  try {
    // Fewer pixels than a user may have, so that a header alone does not take the time of the run.
    const Image image = decode_image(std::string(fuzz::text_of(data, size)), "x", 1 << 18);
    fuzz::require(image.values.size() == image.shape.values());
    for (const float value : image.values) fuzz::require(value >= 0 && value <= 255);
    const ImageShape shape{5, 7, 4 - image.shape.channels};
    for (const ImageFit fit : {ImageFit::crop, ImageFit::stretch}) {
      const Image small = fitted(image, shape, fit, fit == ImageFit::crop ? 9 : 0);
      fuzz::require(small.shape == shape && small.values.size() == shape.values());
      for (const float value : small.values) fuzz::require(value > -0.01F && value < 255.01F);
    }
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
