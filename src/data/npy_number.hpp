#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace harmonia {

/// A type of number in an NPY file, in one byte order.
struct NpyNumber {
  std::size_t size = 0;  ///< bytes
  bool whole = false;    ///< integers and booleans
  /// Writes `count` numbers that lie `stride` bytes apart as doubles, `out_stride` doubles apart. Gives the
  /// index of the first that is infinite or that no double equals; `count` if there is none.
  std::size_t (*convert)(const char* raw, std::size_t stride, std::size_t count, double* out,
                         std::size_t out_stride) = nullptr;
  /// The number in the fewest digits that read back as it; integers in full.
  std::string (*text)(const char* raw) = nullptr;
};

/// The type that a NumPy descr such as "<f8" names; size 0 if it is none that we read.
NpyNumber npy_number(std::string_view descr);

}  // namespace harmonia
