#include "harmonia/data/npy_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <cassert>

namespace harmonia {

static_assert(std::endian::native == std::endian::little);

template <class T>
void NpyWriter<T>::add(const T* row) {
  values_.insert(values_.end(), row, row + columns_);
}

template <class T>
void NpyWriter<T>::add(T number) {
  values_.push_back(number);
}

template <class T>
std::string NpyWriter<T>::bytes() const {
  assert(columns_ > 0 && values_.size() % columns_ == 0);
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   sizeof(T), values_.size() / columns_, columns_);
  constexpr std::size_t preamble = 10, alignment = 64;
  header.append(alignment - 1 - (preamble + header.size()) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  // NOLINTNEXTLINE: the bytes of the numbers are what the format asks for
  return bytes.append(reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(T));
}

template class NpyWriter<float>;
template class NpyWriter<double>;

}  // namespace harmonia
