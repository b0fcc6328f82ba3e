#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/data/row_source.hpp"
#include "memory_file.hpp"

namespace harmonia::fuzz {

/// Options that the first byte of an input picks, so that the fuzzer reaches every use of a column.
inline DataOptions options_of(std::uint8_t byte) {
  DataOptions options;
  if ((byte & 1U) != 0) options.columns = {"1", "0"};
  if ((byte & 2U) != 0) options.drop = {"x1"};
  if ((byte & 4U) != 0) options.id = "2";
  if ((byte & 8U) != 0) options.label = "a";
  return options;
}

/// Reads a source in blocks of `limit` rows and checks what every source promises; ends at the first Error.
inline std::vector<double> read_checked(RowSource& source, std::size_t limit, bool has_id, bool has_label) {
  std::vector<double> values;
  RowBlock block;
  std::size_t rows = 0;
  while (source.read(block, limit)) {
    require(block.first == rows && block.values.rows() > 0 && block.values.rows() <= limit);
    require(block.values.columns() == source.info().features.size());
    require(block.ids.size() == (has_id ? block.values.rows() : 0));
    require(block.labels.size() == (has_label ? block.values.rows() : 0));
    rows += block.values.rows();
    const auto view = block.values.view();
    for (std::size_t i = 0; i < view.rows * view.columns; ++i) {
      require(!std::isinf(view.data[i]));
      // NaN equals nothing, and two readings are compared.
      values.push_back(std::isnan(view.data[i]) ? -1e300 : view.data[i]);
    }
  }
  require(rows > 0 && (!source.info().rows || *source.info().rows == rows));
  return values;
}

/// Opens the bytes behind the first one and reads them twice, in small and in large blocks.
template <class Open>
void read_twice(const std::uint8_t* data, std::size_t size, Open open) {
  if (size == 0) return;
  const DataOptions options = options_of(data[0]);
  const MemoryFile file(text_of(data + 1, size - 1));
  try {
    const auto source = open(file.path(), options);
    const auto small = read_checked(*source, 3, !options.id.empty(), !options.label.empty());
    source->rewind();
    require(read_checked(*source, 4096, !options.id.empty(), !options.label.empty()) == small);
  } catch (const Error& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
}

}  // namespace harmonia::fuzz
