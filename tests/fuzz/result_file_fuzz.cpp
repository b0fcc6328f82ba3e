#include <string>

#include "../../src/report/report_data.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/report/map_report.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  const fuzz::MemoryFile memory(fuzz::text_of(data, size));
  try {
    const ResultFile file = read_result_file(memory.path());
    fuzz::require(file.text.size() <= size);
    const std::string command = result_command(file);
    fuzz::require(report_data(file).is_object());
    if (command != "map") return 0;
    const SavedMap saved = read_map(file);
    MapQuestion question{1, 0.1, {0.05, 0.2}, std::vector<double>(saved.map.inputs.size() - 2, 0.5)};
    static_cast<void>(saved.map.predict(question));
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
