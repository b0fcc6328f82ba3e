#include "harmonia/core/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr int kMostSteps = 200, kMostHalvings = 40;
constexpr double kStill = 1e-12;  // a step this small, in units of 1 + |coefficient|, is the last

// The lower triangle L with L Lᵀ = a, in place. False if a is not positive definite.
bool factor(Matrix<double>& a) {
  for (std::size_t j = 0; j < a.rows(); ++j) {
    double pivot = a.row(j)[j];
    for (std::size_t k = 0; k < j; ++k) pivot -= a.row(j)[k] * a.row(j)[k];
    if (!(pivot > 0)) return false;
    a.row(j)[j] = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < a.rows(); ++i) {
      double sum = a.row(i)[j];
      for (std::size_t k = 0; k < j; ++k) sum -= a.row(i)[k] * a.row(j)[k];
      a.row(i)[j] = sum / a.row(j)[j];
    }
  }
  return true;
}

// Solves L Lᵀ b = b.
void solve(const Matrix<double>& lower, std::vector<double>& b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= lower.row(i)[k] * b[k];
    b[i] /= lower.row(i)[i];
  }
  for (std::size_t i = b.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < b.size(); ++k) b[i] -= lower.row(k)[i] * b[k];
    b[i] /= lower.row(i)[i];
  }
}

// What is minimised, over standardised inputs with a leading 1.
class Objective {
 public:
  Objective(const Matrix<double>& z, std::span<const char> outcome, double ridge)
      : z_(z), outcome_(outcome), ridge_(ridge) {}

  std::size_t size() const { return z_.columns(); }

  double log_odds(std::size_t row, const std::vector<double>& c) const {
    double sum = 0;
    for (std::size_t j = 0; j < size(); ++j) sum += z_.row(row)[j] * c[j];
    return sum;
  }

  double value(const std::vector<double>& c) const {
    CompensatedSum sum;
    for (std::size_t i = 0; i < z_.rows(); ++i) sum.add(log_loss(log_odds(i, c), outcome_[i] != 0));
    for (std::size_t j = 1; j < size(); ++j) sum.add(ridge_ / 2 * c[j] * c[j]);
    return sum.value();
  }

  /// The information at c; minus the gradient goes to `descent`.
  Matrix<double> information(const std::vector<double>& c, std::vector<double>& descent) const {
    Matrix<double> h(size(), size());
    std::vector<CompensatedSum> slope(size());
    for (std::size_t i = 0; i < z_.rows(); ++i) {
      const double l = log_odds(i, c), p = logistic(l), weight = p * logistic(-l);
      const double left = outcome_[i] != 0 ? logistic(-l) : -p;
      const double* z = z_.row(i);
      for (std::size_t j = 0; j < size(); ++j) {
        slope[j].add(left * z[j]);
        for (std::size_t k = 0; k <= j; ++k) h.row(j)[k] += weight * z[j] * z[k];
      }
    }
    descent.resize(size());
    for (std::size_t j = 0; j < size(); ++j) {
      descent[j] = slope[j].value() - (j > 0 ? ridge_ * c[j] : 0);
      if (j > 0) h.row(j)[j] += ridge_;
    }
    return h;
  }

 private:
  const Matrix<double>& z_;
  std::span<const char> outcome_;
  double ridge_;
};

bool is_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

// Where the gradient is 0; none if the information is singular on the way, or the way does not end.
std::optional<std::vector<double>> minimise(const Objective& objective, double share) {
  std::vector<double> c(objective.size()), step;
  c[0] = std::log(share / (1 - share));
  double value = objective.value(c);
  for (int round = 0; round < kMostSteps; ++round) {
    Matrix<double> h = objective.information(c, step);
    if (!factor(h)) return std::nullopt;
    solve(h, step);
    std::vector<double> next(c.size());
    double length = 1;
    for (int halving = 0; halving < kMostHalvings; ++halving, length /= 2) {
      for (std::size_t j = 0; j < c.size(); ++j) next[j] = c[j] + length * step[j];
      if (objective.value(next) <= value) break;
    }
    double moved = 0;
    for (std::size_t j = 0; j < c.size(); ++j)
      moved = std::max(moved, std::abs(next[j] - c[j]) / (1 + std::abs(c[j])));
    c = next;
    value = objective.value(c);
    if (!is_finite(c)) return std::nullopt;
    if (moved <= kStill) return c;
  }
  return std::nullopt;
}

// Means and scales of the inputs; those that vary are named.
std::vector<std::size_t> learn_scales(MatrixView<const double> x, Logistic& fit) {
  std::vector<std::size_t> varying;
  for (std::size_t j = 0; j < x.columns; ++j) {
    Moments moments;
    for (std::size_t i = 0; i < x.rows; ++i) moments.add(x.row(i)[j]);
    const double deviation = moments.deviation();
    const bool varies = deviation > 1e-12 * std::abs(moments.mean()) && deviation > 0;
    if (varies) varying.push_back(j);
    fit.means.push_back(moments.mean());
    fit.scales.push_back(varies || !std::isfinite(deviation) ? deviation : 1);
  }
  return varying;
}

// A column of ones, then the standardised inputs that vary.
Matrix<double> with_ones(MatrixView<const double> x, const Logistic& fit,
                         const std::vector<std::size_t>& varying) {
  Matrix<double> z(x.rows, 1 + varying.size());
  for (std::size_t i = 0; i < x.rows; ++i) {
    z.row(i)[0] = 1;
    for (std::size_t v = 0; v < varying.size(); ++v) {
      const std::size_t j = varying[v];
      z.row(i)[1 + v] = (x.row(i)[j] - fit.means[j]) / fit.scales[j];
    }
  }
  return z;
}

bool separates(const Objective& objective, const std::vector<double>& c, std::span<const char> outcome) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    const double l = objective.log_odds(i, c);
    if (outcome[i] != 0) {
      least = std::min(least, l);
    } else {
      most = std::max(most, l);
    }
  }
  return least > most;
}

}  // namespace

double logistic(double log_odds) {
  const double e = std::exp(-std::abs(log_odds));
  return log_odds >= 0 ? 1 / (1 + e) : e / (1 + e);
}

double log_loss(double log_odds, bool outcome) {
  const double against = outcome ? -log_odds : log_odds;
  return std::max(against, 0.0) + std::log1p(std::exp(-std::abs(against)));
}

std::vector<double> Logistic::standardised(std::span<const double> x) const {
  std::vector<double> z{1};
  for (std::size_t j = 0; j < x.size(); ++j) z.push_back((x[j] - means[j]) / scales[j]);
  return z;
}

double Logistic::log_odds(std::span<const double> x) const {
  const std::vector<double> z = standardised(x);
  double sum = 0;
  for (std::size_t j = 0; j < z.size(); ++j) sum += coefficients[j] * z[j];
  return sum;
}

double Logistic::standard_error(std::span<const double> x) const {
  const std::vector<double> z = standardised(x);
  double sum = 0;
  for (std::size_t j = 0; j < z.size(); ++j) {
    for (std::size_t k = 0; k < z.size(); ++k) sum += z[j] * covariance.row(j)[k] * z[k];
  }
  return std::sqrt(std::max(0.0, sum));
}

std::optional<Logistic> fit_logistic(MatrixView<const double> x, std::span<const char> outcome,
                                     double ridge) {
  Logistic fit;
  fit.ridge = ridge;
  fit.rows = x.rows;
  fit.positives =
      static_cast<std::size_t>(std::count_if(outcome.begin(), outcome.end(), [](char o) { return o != 0; }));
  if (fit.positives == 0 || fit.positives == fit.rows)
    throw Error(ErrorCode::usage, "a logistic regression needs rows of both outcomes");
  const std::vector<std::size_t> varying = learn_scales(x, fit);
  if (!is_finite(fit.means) || !is_finite(fit.scales)) return std::nullopt;
  const Matrix<double> z = with_ones(x, fit, varying);
  const Objective objective(z, outcome, ridge);
  const std::optional<std::vector<double>> c =
      minimise(objective, static_cast<double>(fit.positives) / static_cast<double>(fit.rows));
  if (!c) return std::nullopt;
  fit.separated = separates(objective, *c, outcome);
  if (fit.separated && ridge == 0) return std::nullopt;
  std::vector<double> unused;
  Matrix<double> h = objective.information(*c, unused);
  if (!factor(h)) return std::nullopt;
  fit.coefficients.assign(1 + x.columns, 0);
  fit.covariance = Matrix<double>(1 + x.columns, 1 + x.columns);
  const auto place = [&](std::size_t v) { return v == 0 ? 0 : 1 + varying[v - 1]; };
  for (std::size_t v = 0; v < c->size(); ++v) {
    fit.coefficients[place(v)] = (*c)[v];
    std::vector<double> column(c->size());
    column[v] = 1;
    solve(h, column);
    if (!is_finite(column)) return std::nullopt;
    for (std::size_t w = 0; w < c->size(); ++w) fit.covariance.row(place(w))[place(v)] = column[w];
  }
  return fit;
}

}  // namespace harmonia
