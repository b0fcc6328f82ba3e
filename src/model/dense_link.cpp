#include "dense_link.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace harmonia {
namespace {

double logistic(double z) { return z > 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

// σ(z + d) − σ(z), of s = σ(z) and rest = 1 − s: for d <= 0 it is s·rest·(e^d − 1) / (rest + s·e^d).
double sigmoid_difference(double s, double rest, double d) {
  if (d > 0) return -sigmoid_difference(rest, s, -d);
  return s * rest * std::expm1(d) / (rest + s * std::exp(d));
}

void link_sigmoid(std::span<double> centre, MutableRowsView differences) {
  std::vector<double> rest(centre.size());
  for (std::size_t k = 0; k < centre.size(); ++k) {
    rest[k] = logistic(-centre[k]);
    centre[k] = logistic(centre[k]);
  }
  for (std::size_t p = 0; p < differences.rows; ++p) {
    double* const row = differences.row(p);
    for (std::size_t k = 0; k < centre.size(); ++k) row[k] = sigmoid_difference(centre[k], rest[k], row[k]);
  }
}

// The logarithm of Σ p·e^d, where the p sum to 1.
double log_growth(std::span<const double> p, const double* d) {
  double most = 0;
  for (std::size_t k = 0; k < p.size(); ++k) most = std::max(most, std::abs(d[k]));
  double sum = 0;
  if (most < 1) {
    for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * std::expm1(d[k]);
    return std::log1p(sum);
  }
  const double top = *std::max_element(d, d + p.size());
  for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * std::exp(d[k] - top);
  return top + std::log(sum);
}

void link_softmax(bool logarithms, std::span<double> centre, MutableRowsView differences) {
  const double top = *std::max_element(centre.begin(), centre.end());
  double sum = 0;
  for (const double z : centre) sum += std::exp(z - top);
  std::vector<double> logarithm(centre.size());
  for (std::size_t k = 0; k < centre.size(); ++k) {
    logarithm[k] = (centre[k] - top) - std::log(sum);
    centre[k] = std::exp(logarithm[k]);
  }
  for (std::size_t p = 0; p < differences.rows; ++p) {
    double* const row = differences.row(p);
    const double growth = log_growth(centre, row);
    for (std::size_t k = 0; k < centre.size(); ++k) {
      const double more = row[k] - growth;
      if (logarithms) {
        row[k] = more;
      } else {
        row[k] = more < 1 ? centre[k] * std::expm1(more) : std::exp(logarithm[k] + more) - centre[k];
      }
    }
  }
  if (logarithms) std::copy(logarithm.begin(), logarithm.end(), centre.begin());
}

}  // namespace

void link_differences(DenseLink link, std::span<double> centre, MutableRowsView differences) {
  if (link == DenseLink::sigmoid) link_sigmoid(centre, differences);
  if (link == DenseLink::softmax) link_softmax(false, centre, differences);
  if (link == DenseLink::log_softmax) link_softmax(true, centre, differences);
}

}  // namespace harmonia
