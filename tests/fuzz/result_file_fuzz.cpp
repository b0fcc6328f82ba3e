#include <string>

#include "../../src/report/report_data.hpp"
#include "harmonia/core/error.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  const fuzz::MemoryFile memory(fuzz::text_of(data, size));
  try {
    const ResultFile file = read_result_file(memory.path());
    fuzz::require(file.text.size() <= size);
    result_command(file);
    fuzz::require(report_data(file).is_object());
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
