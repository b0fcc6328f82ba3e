#include <string>
#include <vector>

#include "../../src/data/csv_records.hpp"
#include "harmonia/core/error.hpp"
#include "memory_file.hpp"

namespace {

struct Reading {
  std::vector<std::vector<std::string>> records;
  std::vector<std::size_t> lines;
  std::string error;

  bool operator==(const Reading&) const = default;
};

Reading read(const std::string& path, std::size_t buffer) {
  Reading reading;
  try {
    harmonia::CsvRecords records(path, buffer);
    while (records.next()) {
      reading.records.emplace_back(records.fields().begin(), records.fields().end());
      reading.lines.push_back(records.line());
    }
  } catch (const harmonia::Error& error) {
    reading.error = error.what();
  }
  return reading;
}

}  // namespace

// Where the buffer ends must not matter. It holds the first line at least, which the delimiter is found in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const harmonia::fuzz::MemoryFile file(data, size);
  std::size_t first_line = 0;
  while (first_line < size && data[first_line] != '\n' && data[first_line] != '\r') ++first_line;
  const Reading whole = read(file.path(), size + 1);
  for (const std::size_t more : {2, 3, 5, 8}) {
    const Reading part = read(file.path(), first_line + more);
    harmonia::fuzz::require(part == whole);
  }
  return 0;
}
