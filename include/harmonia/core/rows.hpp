#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

/// Layout, for the whole project: matrices are row-major and dense; row i of x is one input of a model,
/// row i of y its outputs.
namespace harmonia {

/// The type a model computes in.
enum class Scalar { float32, float64 };

/// A view of rows × columns numbers that somebody else owns.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;

  T* row(std::size_t i) const {
    assert(i < rows);
    return data + i * columns;
  }
  /// Rows first … first + count − 1.
  MatrixView slice(std::size_t first, std::size_t count) const {
    assert(first + count <= rows);
    return {data + first * columns, count, columns};
  }
  operator MatrixView<const T>() const { return {data, rows, columns}; }
};

/// Rows × columns numbers that it owns.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), data_(rows * columns) {}

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  T* row(std::size_t i) { return view().row(i); }
  const T* row(std::size_t i) const { return view().row(i); }
  MatrixView<T> view() { return {data_.data(), rows_, columns_}; }
  MatrixView<const T> view() const { return {data_.data(), rows_, columns_}; }
  /// Sets the shape; what was in it is lost, memory is kept.
  void resize(std::size_t rows, std::size_t columns) {
    rows_ = rows;
    columns_ = columns;
    data_.resize(rows * columns);
  }

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<T> data_;
};

/// Inputs in the model's own type.
class RowsView {
 public:
  RowsView(MatrixView<const float> x) : view_(x) {}
  RowsView(MatrixView<const double> x) : view_(x) {}

  std::size_t rows() const {
    return std::visit([](const auto& v) { return v.rows; }, view_);
  }
  std::size_t columns() const {
    return std::visit([](const auto& v) { return v.columns; }, view_);
  }
  Scalar scalar() const { return view_.index() == 0 ? Scalar::float32 : Scalar::float64; }
  /// The view itself; T must be the type that scalar() names.
  template <class T>
  MatrixView<const T> as() const {
    return std::get<MatrixView<const T>>(view_);
  }

 private:
  std::variant<MatrixView<const float>, MatrixView<const double>> view_;
};

/// Outputs: always double, whatever the model computes in.
using MutableRowsView = MatrixView<double>;

}  // namespace harmonia
