#include <string>

#include "harmonia/core/error.hpp"
#include "harmonia/data/schema.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  try {
    for (const Feature& feature : load_schema(file.path(), {"a", "b", "age"})) {
      fuzz::require(feature.scale > 0 && feature.lower <= feature.upper);
    }
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
