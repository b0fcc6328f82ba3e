#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input_file.hpp"

namespace harmonia {

/// What an NPY file says of itself [NEP 1].
struct NpyHeader {
  std::string descr;  ///< such as "<f8"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0;  ///< where the numbers begin
};

/// Reads the header of versions 1, 2 and 3. Throws Error(input) for what is none.
NpyHeader read_npy_header(const InputFile& file);

/// The shape as Python writes it: (3,), (3, 4).
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace harmonia
