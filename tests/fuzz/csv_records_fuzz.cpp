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

// Where the buffer ends must not matter. The delimiter comes from what the first buffer holds, so a fixed
// first line settles it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string delimiter(1, ",;\t"[data[0] % 3]);
  std::string text = "a" + delimiter + "b\n";
  text.append(data + 1, data + size);
  const harmonia::fuzz::MemoryFile file(text);
  const Reading whole = read(file.path(), text.size() + 1);
  for (const std::size_t buffer : {4, 5, 7, 11}) harmonia::fuzz::require(read(file.path(), buffer) == whole);
  return 0;
}
