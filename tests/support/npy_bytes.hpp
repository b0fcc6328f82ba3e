#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace harmonia::test {

/// An NPY file by hand: this header text behind a version's preamble, then the data.
inline std::string npy_bytes(const std::string& header, const std::string& data, int version = 1) {
  std::string text = header + '\n';
  std::string bytes = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(text.size() >> (8U * static_cast<unsigned>(i)));
  return bytes + text + data;
}

/// NumPy's header for this type, order and shape.
inline std::string npy_header(const std::string& descr, const std::string& shape,
                              bool fortran_order = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

/// The bytes of the numbers in the order of the descr: '>' is the other one than this machine's.
template <class T>
std::string raw_bytes(const std::vector<T>& numbers, char order) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes;
  for (const T number : numbers) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &number, sizeof(T));
    if (order == '>') std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

}  // namespace harmonia::test
