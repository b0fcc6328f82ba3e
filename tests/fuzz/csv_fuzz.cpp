#include "harmonia/data/csv_source.hpp"
#include "read_twice.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  harmonia::fuzz::read_twice(data, size, harmonia::open_csv);
  return 0;
}
