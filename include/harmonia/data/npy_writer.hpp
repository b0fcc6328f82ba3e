#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace harmonia {

/// The bytes of a NumPy file of rows that all have `columns` numbers: T is float or double.
template <class T>
class NpyWriter {
 public:
  explicit NpyWriter(std::size_t columns) : columns_(columns) {}
  /// Adds a row, `columns` numbers from here on.
  void add(const T* row);
  /// Adds a number, the next of the row that is being filled.
  void add(T number);
  /// The whole file.
  std::string bytes() const;

 private:
  std::size_t columns_;
  std::vector<T> values_;
};

extern template class NpyWriter<float>;
extern template class NpyWriter<double>;

}  // namespace harmonia
