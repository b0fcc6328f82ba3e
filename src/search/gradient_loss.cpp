#include "gradient_loss.hpp"

#include <algorithm>
#include <cmath>

#include "harmonia/model/logit_model.hpp"

namespace harmonia {
namespace {

double at_least(double probability) { return std::clamp(probability, kLeastProbability, 1.0); }

// The logarithm of the sum of the exponentials of all but `without`.
double log_sum(std::span<const double> logits, std::size_t without) {
  double most = -INFINITY, sum = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k != without) most = std::max(most, logits[k]);
  }
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k != without) sum += std::exp(logits[k] - most);
  }
  return most + std::log(sum);
}

double log_sum(std::span<const double> logits) { return log_sum(logits, logits.size()); }

// The cross-entropy's derivatives by the logits. That of the label's own is less the sum of the others, which
// keeps digits that 1 less a probability near 1 has not.
std::vector<double> cross_entropy_by(std::span<const double> logits, std::size_t label) {
  const double all = log_sum(logits);
  std::vector<double> by(logits.size());
  double others = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k == label) continue;
    by[k] = std::exp(logits[k] - all);
    others += by[k];
  }
  by[label] = -others;
  return by;
}

}  // namespace

GradientLoss::GradientLoss(const SearchSetting& setting, const AttackRow& row)
    : probabilities_(setting.options.gradient.probabilities || setting.model.outputs == 1),
      targeted_(row.target.has_value()),
      label_(static_cast<std::size_t>(row.target.value_or(row.first_class))) {}

std::vector<double> GradientLoss::logits(std::span<const double> outputs) const {
  if (outputs.size() == 1) return {std::log(at_least(1 - outputs[0])), std::log(at_least(outputs[0]))};
  std::vector<double> logits(outputs.begin(), outputs.end());
  if (probabilities_) {
    for (double& value : logits) value = std::log(at_least(value));
  }
  return logits;
}

void GradientLoss::write(std::span<const double> outputs, std::span<const double> by_logits,
                         std::span<double> out) const {
  if (outputs.size() == 1) {
    out[0] = by_logits[1] / at_least(outputs[0]) - by_logits[0] / at_least(1 - outputs[0]);
    return;
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    out[k] = probabilities_ ? by_logits[k] / at_least(outputs[k]) : by_logits[k];
}

// The class of the largest logit but the label's.
std::size_t GradientLoss::rival(std::span<const double> logits) const {
  std::size_t most = label_ == 0 ? 1 : 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k != label_ && logits[k] > logits[most]) most = k;
  }
  return most;
}

void GradientLoss::ascent_by(std::span<const double> outputs, std::span<double> out) const {
  std::vector<double> by = cross_entropy_by(logits(outputs), label_);
  if (targeted_) {
    for (double& value : by) value = -value;
  }
  write(outputs, by, out);
}

double GradientLoss::margin(std::span<const double> outputs, double kappa) const {
  const std::vector<double> z = logits(outputs);
  const double lead = z[label_] - z[rival(z)];
  return std::max(targeted_ ? -lead : lead, -kappa);
}

void GradientLoss::margin_by(std::span<const double> outputs, double kappa, std::span<double> out) const {
  const std::vector<double> z = logits(outputs);
  std::vector<double> by(z.size());
  if (margin(outputs, kappa) > -kappa) {
    by[label_] = targeted_ ? -1 : 1;
    by[rival(z)] = -by[label_];
  }
  write(outputs, by, out);
}

double GradientLoss::escape(std::span<const double> outputs) const {
  const std::vector<double> z = logits(outputs);
  return log_sum(z) - (targeted_ ? z[label_] : log_sum(z, label_));
}

void GradientLoss::escape_by(std::span<const double> outputs, std::span<double> out) const {
  const std::vector<double> z = logits(outputs);
  if (targeted_) return write(outputs, cross_entropy_by(z, label_), out);
  const double all = log_sum(z), others = log_sum(z, label_), own = std::exp(z[label_] - all);
  std::vector<double> by(z.size());
  // Of the others p − p / (1 − own), which is less own's part of them.
  for (std::size_t k = 0; k < z.size(); ++k) by[k] = k == label_ ? own : -own * std::exp(z[k] - others);
  write(outputs, by, out);
}

}  // namespace harmonia
