#include <string>

#include "harmonia/core/error.hpp"
#include "harmonia/data/image_description.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  try {
    const ImageDescription d = read_image_description(std::string(fuzz::text_of(data, size)), "x");
    fuzz::require(d.shape.values() > 0 && d.shape.channels <= d.model_channels);
    fuzz::require(d.mean.empty() || d.mean.size() == d.model_channels);
    fuzz::require(d.deviation.empty() || d.deviation.size() == d.model_channels);
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
