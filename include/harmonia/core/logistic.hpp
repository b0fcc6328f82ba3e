#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/core/statistics.hpp"

namespace harmonia {

/// A fitted logistic regression: log-odds = c₀ + Σ cⱼ · (xⱼ − meanⱼ)/scaleⱼ.
struct Logistic {
  std::vector<double> means, scales;  ///< of the inputs; an input that never varies has scale 1 and c = 0
  std::vector<double> coefficients;   ///< c₀, then one an input
  Matrix<double> covariance;          ///< of the coefficients: the inverse of the penalised information
  double ridge = 0;
  std::size_t rows = 0, positives = 0;
  bool separated = false;  ///< the fit tells all positives from all negatives: the ridge alone bounds it

  /// 1, then the standardised inputs.
  std::vector<double> standardised(std::span<const double> x) const;
  double log_odds(std::span<const double> x) const;
  /// Standard error of the log-odds, from the coefficients' covariance alone.
  double standard_error(std::span<const double> x) const;
};

/// Fits by Newton's method, which maximises the log-likelihood minus ridge/2 · Σ cⱼ² (c₀ is free), of
/// standardised inputs: scikit-learn's C is 1/ridge. x: rows × inputs, finite; outcome: 0 or 1 a row. None if
/// there is no such maximum that numbers can hold: the ridge is too small, or 0, where inputs tell the
/// outcomes or each other apart, or inputs are too far apart. Throws Error(usage) if all outcomes are alike.
std::optional<Logistic> fit_logistic(MatrixView<const double> x, std::span<const char> outcome, double ridge);

/// 1/(1 + e^{−l}) without overflow.
double logistic(double log_odds);
/// −log of the probability that these log-odds give to the outcome, without overflow.
double log_loss(double log_odds, bool outcome);

}  // namespace harmonia
