#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/model/model.hpp"

namespace harmonia::test {

/// A model made of a function of one row.
class RowFunction final : public Model {
 public:
  using Function = std::function<void(const double* x, double* y)>;

  RowFunction(std::size_t inputs, std::size_t outputs, Function f) : f_(std::move(f)) {
    info_.name = "test";
    info_.kind = "test";
    info_.inputs = inputs;
    info_.outputs = outputs;
  }
  /// A model of one output.
  RowFunction(std::size_t inputs, const std::function<double(const double*)>& f)
      : RowFunction(inputs, 1, [f](const double* x, double* y) { *y = f(x); }) {}

  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) f_(rows.row(i), y.row(i));
  }

 private:
  ModelInfo info_;
  Function f_;
};

}  // namespace harmonia::test
