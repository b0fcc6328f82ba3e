#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia::test {

/// A dense network with gradients by the chain rule, in double: tanh between its layers, none after the last.
class DenseNetwork final : public Model, public Differentiable {
 public:
  struct Layer {
    Matrix<double> weights;  // outputs × inputs
    std::vector<double> bias;
  };

  explicit DenseNetwork(std::vector<Layer> layers) : layers_(std::move(layers)) {
    info_.name = "network";
    info_.kind = "test";
    info_.inputs = layers_.front().weights.columns();
    info_.outputs = layers_.back().weights.rows();
  }

  /// Random weights of the usual size, for layers of these widths.
  static DenseNetwork random(const std::vector<std::size_t>& widths, std::uint64_t seed = 1) {
    std::vector<Layer> layers;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      Layer layer{Matrix<double>(widths[l + 1], widths[l]), std::vector<double>(widths[l + 1])};
      std::vector<float> drawn(widths[l]);
      for (std::size_t k = 0; k < widths[l + 1]; ++k) {
        normals({.seed = seed, .row = l, .sample = k}, drawn);
        for (std::size_t j = 0; j < drawn.size(); ++j)
          layer.weights.row(k)[j] = 1.5 * static_cast<double>(drawn[j]) / std::sqrt(widths[l]);
        layer.bias[k] = 0.1 * layer.weights.row(k)[0];
      }
      layers.push_back(std::move(layer));
    }
    return DenseNetwork(std::move(layers));
  }

  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }
  const Differentiable* differentiable() const override { return this; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    for (std::size_t i = 0; i < x.rows(); ++i) answer(x.as<double>().row(i), y.row(i));
  }

  void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                MutableRowsView gradients) const override {
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const std::vector<std::vector<double>> values = answer(x.as<double>().row(i), y.row(i));
      std::vector<double> by(info_.outputs);
      by_outputs(i, {y.row(i), info_.outputs}, by);
      for (std::size_t l = layers_.size(); l-- > 0;) by = pull_back(layers_[l], values[l], by, l > 0);
      std::copy(by.begin(), by.end(), gradients.row(i));
    }
  }

 private:
  // The inputs of every layer; the last one's answer goes to y.
  std::vector<std::vector<double>> answer(const double* x, double* y) const {
    std::vector<std::vector<double>> values{{x, x + info_.inputs}};
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      std::vector<double> out = layers_[l].bias;
      for (std::size_t k = 0; k < out.size(); ++k)
        for (std::size_t j = 0; j < values[l].size(); ++j)
          out[k] += layers_[l].weights.row(k)[j] * values[l][j];
      if (l + 1 == layers_.size()) {
        std::copy(out.begin(), out.end(), y);
        break;
      }
      for (double& value : out) value = std::tanh(value);
      values.push_back(std::move(out));
    }
    return values;
  }

  // By a layer's inputs, from what is by its outputs; `bent`: the inputs came through tanh.
  static std::vector<double> pull_back(const Layer& layer, const std::vector<double>& inputs,
                                       const std::vector<double>& by, bool bent) {
    std::vector<double> out(inputs.size());
    for (std::size_t j = 0; j < out.size(); ++j) {
      for (std::size_t k = 0; k < by.size(); ++k) out[j] += layer.weights.row(k)[j] * by[k];
      if (bent) out[j] *= 1 - inputs[j] * inputs[j];
    }
    return out;
  }

  ModelInfo info_;
  std::vector<Layer> layers_;
};

}  // namespace harmonia::test
