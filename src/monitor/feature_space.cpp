#include "feature_space.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>

namespace harmonia {
namespace {

// The edge that a share p of the values lies up to.
double edge_at(const std::vector<double>& edges, const std::vector<std::uint64_t>& counts, double p) {
  const std::uint64_t present = std::accumulate(counts.begin(), counts.end() - 1, std::uint64_t{0});
  std::uint64_t passed = 0;
  for (std::size_t b = 0; b < edges.size(); ++b) {
    passed += counts[b];
    if (static_cast<double>(passed) >= p * static_cast<double>(present)) return edges[b];
  }
  return edges.back();
}

double spread_of(const std::vector<double>& edges, const std::vector<std::uint64_t>& counts) {
  if (edges.size() <= 2) return 0;  // one value, or none
  const double quartiles = edge_at(edges, counts, 0.75) - edge_at(edges, counts, 0.25);
  return quartiles > 0 ? quartiles : edges.back() - edges.front();
}

}  // namespace

FeatureSpace::FeatureSpace(const Baseline& baseline) : schema_(&baseline.options.schema) {
  for (std::size_t j = 0; j < baseline.edges.size(); ++j) {
    spreads_.push_back(free(j) ? spread_of(baseline.edges[j], baseline.counts.features[j]) : 0);
  }
}

double FeatureSpace::rounded(std::size_t feature, double value) const {
  return !schema_->empty() && (*schema_)[feature].integer ? std::round(value) : value;
}

double FeatureSpace::step(std::size_t feature, double a, double b) const {
  const bool both = !std::isnan(a) && !std::isnan(b);
  if (both && spreads_[feature] > 0) return std::abs(a - b) / spreads_[feature];
  return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : 1;
}

double FeatureSpace::length(std::span<const double> a, std::span<const double> b) const {
  double squares = 0;
  for (std::size_t j = 0; j < a.size(); ++j) squares += std::pow(step(j, a[j], b[j]), 2);
  return std::sqrt(squares);
}

std::optional<double> FeatureSpace::distance(std::span<const double> a, std::span<const double> b) const {
  double squares = 0, common = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (std::isnan(a[j]) || std::isnan(b[j])) continue;
    squares += std::pow(step(j, a[j], b[j]), 2);
    ++common;
  }
  if (common == 0) return std::nullopt;
  return std::sqrt(squares / common * static_cast<double>(a.size()));
}

}  // namespace harmonia
