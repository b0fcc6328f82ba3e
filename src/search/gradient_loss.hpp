#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "row_search.hpp"

namespace harmonia {

/// The numbers that attacks by gradients raise or lower, of the outputs at a point: for the row's own class,
/// which is to be left, or for the target, which is to be reached. Outputs are logits; of outputs that are
/// probabilities these are the logarithms, and a binary classifier's single one stands for two.
class GradientLoss {
 public:
  GradientLoss(const SearchSetting& setting, const AttackRow& row);

  /// Whether a point of this class is what is looked for.
  bool reached(long long label) const { return (label == static_cast<long long>(label_)) == targeted_; }

  /// What steps climb: the cross-entropy of the own class, or less that of the target. Writes its derivatives
  /// by the outputs.
  void ascent_by(std::span<const double> outputs, std::span<double> out) const;
  /// By how much the class that is to be left leads, and at least −kappa; and its derivatives.
  double margin(std::span<const double> outputs, double kappa) const;
  void margin_by(std::span<const double> outputs, double kappa, std::span<double> out) const;
  /// What is 0 when the point is surely of a class that is looked for: less the logarithm of the probability
  /// of these; and its derivatives.
  double escape(std::span<const double> outputs) const;
  void escape_by(std::span<const double> outputs, std::span<double> out) const;

 private:
  std::vector<double> logits(std::span<const double> outputs) const;
  void write(std::span<const double> outputs, std::span<const double> by_logits, std::span<double> out) const;
  std::size_t rival(std::span<const double> logits) const;

  bool probabilities_, targeted_;
  std::size_t label_;  // of the target, or the row's own class
};

}  // namespace harmonia
