#include "gradient_space.hpp"

#include <algorithm>

namespace harmonia {

GradientSpace::GradientSpace(const SearchSetting& setting, const AttackRow& row, bool by_bounds)
    : moves_(setting.moves), row_(row) {
  const double width = setting.options.upper - setting.options.lower;
  if (by_bounds && std::isfinite(width)) width_ = width;
}

std::vector<double> GradientSpace::by_units(std::span<const double> gradient) const {
  std::vector<double> by(gradient.size());
  for (std::size_t j = 0; j < by.size(); ++j) by[j] = moves(j) ? gradient[j] * unit(j) : 0;
  return by;
}

void GradientSpace::place(std::span<const double> change, std::span<double> x) const {
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double from = row_.original[j], by = change[j] * unit(j);
    x[j] = moves_.settled(j, from, from + (moves_.whole(j) ? std::trunc(by) : by));
  }
}

void enter_nearer(const SearchSetting& setting, AttackRow& row, const Reading& reading,
                  std::span<const double> x, std::size_t step) {
  row.adversarial.assign(x.begin(), x.end());
  row.new_class = reading.label;
  row.last_logit = reading.value;
  if (!row.success) row.steps = step;
  row.success = true;
  row.outcome = AttackOutcome::changed;
  row.path.push_back({.feature = {},
                      .change = 0,
                      .label = reading.label,
                      .logit = reading.value,
                      .distortion_l2 = setting.moves.distance(row.original, x)});
}

void enter_none(AttackRow& row, const Reading& reading, std::span<const double> x, std::size_t steps) {
  row.adversarial.assign(x.begin(), x.end());
  row.new_class = reading.label;
  row.last_logit = reading.value;
  row.steps = steps;
  row.outcome = AttackOutcome::kept;
}

}  // namespace harmonia
