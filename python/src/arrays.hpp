#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

namespace harmonia::python {

/// The numbers as a NumPy array of `rows` × numbers/rows, or of one dimension if rows is 0; they move into
/// it.
template <class T>
nanobind::object numpy_array(std::vector<T> numbers, std::size_t rows = 0) {
  auto kept = std::make_unique<std::vector<T>>(std::move(numbers));
  T* const data = kept->data();
  const std::size_t count = kept->size();
  const nanobind::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  static_cast<void>(kept.release());
  using Array = nanobind::ndarray<nanobind::numpy, T>;
  if (rows == 0) return nanobind::cast(Array(data, {count}, owner));
  return nanobind::cast(Array(data, {rows, count / rows}, owner));
}

}  // namespace harmonia::python
