#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harmonia/monitor/baseline.hpp"

namespace harmonia {

/// Feature space in units of the features' spreads among the reference rows.
class FeatureSpace {
 public:
  explicit FeatureSpace(const Baseline& baseline);

  /// Whether a feature may change.
  bool free(std::size_t feature) const { return schema_->empty() || !(*schema_)[feature].fixed; }
  /// What a value comes to that the feature can have.
  double rounded(std::size_t feature, double value) const;
  /// How far two values of a feature are apart; 0 or 1 if it is fixed or has no spread, or if one is missing.
  double step(std::size_t feature, double a, double b) const;
  /// The size of a change.
  double length(std::span<const double> a, std::span<const double> b) const;
  /// How far two rows are apart by the features that both have, as if they had all; none if there are none.
  std::optional<double> distance(std::span<const double> a, std::span<const double> b) const;

 private:
  const Schema* schema_;
  std::vector<double> spreads_;  // 0: values are equal or not
};

}  // namespace harmonia
