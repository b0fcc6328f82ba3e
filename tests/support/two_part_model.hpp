#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "dense_networks.hpp"
#include "harmonia/model/first_layer.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia::test {

/// A dense network in double that can be asked in two parts; its answers depend on nothing but the row.
class TwoPartModel final : public Model, public FirstLayer {
 public:
  explicit TwoPartModel(harmonia::DenseNetwork network, bool in_parts = true, Scalar scalar = Scalar::float64)
      : network_(std::move(network)), in_parts_(in_parts) {
    info_.name = "parts";
    info_.kind = "test";
    info_.inputs = network_.inputs();
    info_.outputs = network_.outputs();
    info_.scalar = scalar;
  }

  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    asked_points_ += x.rows();
    for (std::size_t i = 0; i < x.rows(); ++i) {
      std::vector<double> row(x.columns());
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = number(x, i, j);
      Matrix<double> sums(1, units());
      project({row.data(), 1, row.size()}, true, sums.view());
      rest({sums.row(0), sums.columns()}, y.row(i));
    }
  }
  const FirstLayer* first_layer() const override { return in_parts_ ? this : nullptr; }

  std::size_t units() const override { return network_.layers.front().outputs; }
  void project(MatrixView<const double> x, bool bias, MatrixView<double> out) const override {
    const DenseLayer& layer = network_.layers.front();
    for (std::size_t i = 0; i < x.rows; ++i) {
      for (std::size_t u = 0; u < layer.outputs; ++u) {
        double sum = bias ? layer.bias[u] : 0;
        for (std::size_t j = 0; j < layer.inputs; ++j)
          sum += layer.weights[u * layer.inputs + j] * x.row(i)[j];
        out.row(i)[u] = sum;
      }
    }
  }
  void answer(RowsView units, MutableRowsView y) const override {
    asked_units_ += units.rows();
    for (std::size_t i = 0; i < units.rows(); ++i) {
      std::vector<double> row(units.columns());
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = number(units, i, j);
      rest(row, y.row(i));
    }
  }

  std::size_t asked_points() const { return asked_points_; }
  std::size_t asked_units() const { return asked_units_; }

 private:
  static double number(RowsView x, std::size_t i, std::size_t j) {
    return x.scalar() == Scalar::float32 ? static_cast<double>(x.as<float>().row(i)[j])
                                         : x.as<double>().row(i)[j];
  }
  void rest(std::span<const double> units, double* y) const {
    std::vector<double> in, out(units.begin(), units.end());
    for (std::size_t l = 0; l < network_.layers.size(); ++l) {
      const DenseLayer& layer = network_.layers[l];
      if (l > 0) {
        out = layer.bias;
        for (std::size_t k = 0; k < layer.outputs; ++k) {
          for (std::size_t i = 0; i < layer.inputs; ++i)
            out[k] += layer.weights[k * layer.inputs + i] * in[i];
        }
      }
      in.clear();
      for (const double z : out) in.push_back(activated(layer.activation, z));
    }
    std::copy(in.begin(), in.end(), y);
  }

  harmonia::DenseNetwork network_;
  bool in_parts_;
  ModelInfo info_;
  mutable std::atomic<std::size_t> asked_points_ = 0, asked_units_ = 0;
};

}  // namespace harmonia::test
