#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "harmonia/measure/boundary.hpp"
#include "harmonia/model/model.hpp"

/// What the tests of boundaries share.
namespace harmonia::test {

using Vector = std::vector<double>;

constexpr double kDegrees = 180 / std::numbers::pi;

inline double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline Vector unit(Vector v) {
  const double length = std::sqrt(dot(v, v));
  for (double& x : v) x /= length;
  return v;
}

inline Vector random_vector(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Vector v(n);
  for (double& x : v) x = normal(engine);
  return v;
}

// In degrees, of lines; exact where they are nearly the same.
inline double between(const Vector& a, const Vector& b) {
  const double sign = dot(a, b) < 0 ? -1 : 1;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(a[i] - sign * b[i], 2);
  return kDegrees * 2 * std::asin(std::sqrt(squares) / 2);
}

inline double angle_with(const Vector& normal, const Vector& a, const Vector& b) {
  Vector along(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) along[i] = b[i] - a[i];
  return kDegrees * std::asin(std::min(1.0, std::abs(dot(unit(normal), unit(along)))));
}

// Two outputs, or with `labels` the class alone: 1 where f > 0. In float32 the function gets rounded inputs,
// and its answers are rounded.
class Sides final : public Model {
 public:
  Sides(std::size_t n, std::function<double(const double*)> f, Scalar scalar, bool labels = false)
      : f_(std::move(f)), labels_(labels) {
    info_.name = "sides";
    info_.kind = "function";
    info_.inputs = n;
    info_.outputs = labels ? 1 : 2;
    info_.scalar = scalar;
  }
  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    Vector row(info_.inputs);
    for (std::size_t i = 0; i < x.rows(); ++i) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = x.scalar() == Scalar::float32 ? static_cast<double>(x.as<float>().row(i)[j])
                                               : x.as<double>().row(i)[j];
      }
      double f = f_(row.data());
      if (x.scalar() == Scalar::float32) f = static_cast<double>(static_cast<float>(f));
      if (labels_) {
        y.row(i)[0] = f > 0 ? 1 : 0;
      } else {
        y.row(i)[0] = 0;
        y.row(i)[1] = f;
      }
    }
  }

 private:
  ModelInfo info_;
  std::function<double(const double*)> f_;
  bool labels_;
};

inline BoundaryResult measure(const Model& model, const Vector& a, const Vector& b,
                              BoundaryOptions options = {}) {
  harmonia::Run run;
  const BoundaryResult result =
      boundary(model, {a.data(), a.size() / model.info().inputs, model.info().inputs},
               {b.data(), b.size() / model.info().inputs, model.info().inputs}, options, run);
  std::uint64_t sum = 0;
  for (const BoundaryRow& row : result.rows) sum += row.evaluations;
  EXPECT_EQ(sum, run.ledger.spent());
  EXPECT_EQ(sum, result.summary.evaluations);
  return result;
}

inline BoundaryOptions by(NormalMethod method) {
  BoundaryOptions options;
  options.normal = method;
  return options;
}

inline void expect_covers(const BoundaryRow& row, double angle) {
  ASSERT_TRUE(row.angle);
  EXPECT_LE(*row.angle_low, angle + 1e-9);
  EXPECT_GE(*row.angle_high, angle - 1e-9);
  EXPECT_LE(*row.angle_low, *row.angle);
  EXPECT_GE(*row.angle_high, *row.angle);
}

// 784-100-20-10, as the networks of the paper.
class Network final : public Model {
 public:
  explicit Network(Scalar scalar) {
    info_.name = "network";
    info_.kind = "function";
    info_.inputs = 784;
    info_.outputs = 10;
    info_.scalar = scalar;
    const std::array<std::size_t, 4> widths{784, 100, 20, 10};
    for (unsigned layer = 0; layer < 3; ++layer) {
      Vector w = random_vector(widths[layer] * widths[layer + 1], 10 + layer);
      for (double& x : w) x = static_cast<float>(x * std::sqrt(2 / static_cast<double>(widths[layer])));
      weights_.push_back({widths[layer], widths[layer + 1], std::move(w)});
    }
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    for (std::size_t i = 0; i < x.rows(); ++i) {
      if (x.scalar() == Scalar::float32) {
        forward(x.as<float>().row(i), y.row(i));
      } else {
        forward(x.as<double>().row(i), y.row(i));
      }
    }
  }
  // Of output `to` minus output `from`, with respect to the inputs.
  Vector gradient(const Vector& x, std::size_t from, std::size_t to) const {
    std::vector<Vector> values{x};
    for (const Layer& layer : weights_) values.push_back(apply(layer, values.back()));
    Vector back(10, 0.0);
    back[to] = 1;
    back[from] = -1;
    for (std::size_t l = 3; l-- > 0;) {
      Vector before(weights_[l].in, 0.0);
      for (std::size_t o = 0; o < weights_[l].out; ++o) {
        if (l < 2 && values[l + 1][o] <= 0) continue;
        for (std::size_t i = 0; i < weights_[l].in; ++i)
          before[i] += back[o] * weights_[l].w[o * weights_[l].in + i];
      }
      back = before;
    }
    return back;
  }

 private:
  struct Layer {
    std::size_t in, out;
    Vector w;
  };

  template <class T>
  std::vector<T> apply(const Layer& layer, const std::vector<T>& x) const {
    std::vector<T> y(layer.out);
    for (std::size_t o = 0; o < layer.out; ++o) {
      T sum = 0;
      for (std::size_t i = 0; i < layer.in; ++i) sum += static_cast<T>(layer.w[o * layer.in + i]) * x[i];
      y[o] = layer.out == 10 || sum > 0 ? sum : 0;
    }
    return y;
  }
  template <class T>
  void forward(const T* x, double* y) const {
    std::vector<T> values(x, x + 784);
    for (const Layer& layer : weights_) values = apply(layer, values);
    for (std::size_t k = 0; k < 10; ++k) y[k] = static_cast<double>(values[k]);
  }

  ModelInfo info_;
  std::vector<Layer> weights_;
};

}  // namespace harmonia::test
