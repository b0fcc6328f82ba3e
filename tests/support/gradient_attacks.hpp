#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "attacked.hpp"
#include "networks.hpp"

namespace harmonia::test {

using Method = AttackMethod;

inline constexpr std::array kSteppers{Method::fgsm, Method::rfgsm, Method::bim, Method::mifgsm, Method::pgd};
inline constexpr std::array kAll{Method::fgsm, Method::rfgsm,       Method::bim, Method::mifgsm,
                                 Method::pgd,  Method::pgd_penalty, Method::cw,  Method::lbfgs};

/// Logits W x + b.
inline DenseNetwork linear(const std::vector<std::vector<double>>& weights, std::vector<double> bias) {
  DenseNetwork::Layer layer{Matrix<double>(weights.size(), weights[0].size()), std::move(bias)};
  for (std::size_t k = 0; k < weights.size(); ++k)
    std::copy(weights[k].begin(), weights[k].end(), layer.weights.row(k));
  return DenseNetwork({layer});
}

// Two classes, of which the first leads by 1 + w·x.
inline const std::vector<double> kWeights{3, -4, 0.5, -1};
inline DenseNetwork plane() { return linear({kWeights, {0, 0, 0, 0}}, {1, 0}); }
inline constexpr double kMargin = 1, kL1 = 8.5;
inline const double kL2 = std::sqrt(9 + 16 + 0.25 + 1);

inline AttackOptions by(Method method, double epsilon = 0.25) {
  AttackOptions options;
  options.method = method;
  options.steps = standard_steps(method);
  if (needs_epsilon(method)) options.epsilon = epsilon;
  options.gradient.penalty = 0.5;
  return options;
}

inline AttackRow attacked_zero(const Model& model, const AttackOptions& options) {
  return attacked(model, Matrix<double>(1, model.info().inputs), options)[0];
}

inline Matrix<double> many_rows(std::size_t rows, std::size_t columns) {
  Matrix<double> x(rows, columns);
  for (std::size_t i = 0; i < rows * columns; ++i)
    x.row(0)[i] = 0.5 + 0.5 * std::sin(static_cast<double>(17 * i + 3 * (i % 7)) / 10);
  return x;
}

inline double distance(const AttackRow& row) {
  return row.distortion_l2 * std::sqrt(static_cast<double>(row.original.size()));
}

}  // namespace harmonia::test
