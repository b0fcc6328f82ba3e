#include <string>

#include "harmonia/core/error.hpp"
#include "harmonia/data/image_source.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  try {
    const auto source = open_idx(file.path(), {});
    fuzz::require(source->info().inputs == source->info().image.values());
    RowBlock block;
    std::size_t rows = 0;
    for (; source->read(block, 3); rows += block.values.rows()) {
      fuzz::require(block.first == rows && block.values.columns() == source->info().inputs);
      for (std::size_t j = 0; j < block.values.columns(); ++j) {
        fuzz::require(block.values.row(0)[j] >= 0 && block.values.row(0)[j] <= 255);
      }
    }
    fuzz::require(source->info().rows == rows);
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
