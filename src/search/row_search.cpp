#include "row_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/measure/output.hpp"

namespace harmonia {

Reading Reading::of(std::span<const double> outputs, const ModelInfo& model, long long first) {
  const Observer observer({.kind = OutputChoice::Kind::label, .column = 0}, model);
  Reading reading;
  reading.label = observer.label(outputs);
  if (outputs.size() == 1) {
    if (model.binary) {
      reading.value = first == 1 ? outputs[0] : 1 - outputs[0];
    } else {
      reading.value = reading.label == first ? 1 : 0;
    }
    reading.margin = 2 * reading.value - 1;
    return reading;
  }
  const auto own = static_cast<std::size_t>(first);
  double other = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (k != own) other = std::max(other, outputs[k]);
  }
  reading.value = outputs[own];
  reading.margin = outputs[own] - other;
  return reading;
}

std::unique_ptr<RowSearch> make_search(const SearchSetting& setting, AttackRow& row) {
  switch (setting.options.method) {
    case AttackMethod::gamma:
      return setting.options.paper ? make_paper_search(setting, row) : make_gamma_search(setting, row);
    case AttackMethod::greedy:
      return make_gamma_search(setting, row);
    case AttackMethod::random:
      return make_random_search(setting, row);
    case AttackMethod::nes:
      return make_nes_search(setting, row);
    case AttackMethod::boundary:
      return make_boundary_search(setting, row);
    case AttackMethod::cw:
      return make_cw_search(setting, row);
    case AttackMethod::lbfgs:
      return make_lbfgs_search(setting, row);
    default:
      return make_step_search(setting, row);
  }
}

std::optional<long long> target_of(const SearchSetting& setting, const AttackRow& row,
                                   std::span<const double> outputs) {
  const AttackTarget& target = setting.options.gradient.target;
  // A binary classifier's single output stands for two classes.
  const auto classes = static_cast<long long>(std::max<std::size_t>(2, outputs.size()));
  switch (target.kind) {
    case AttackTarget::Kind::none:
      return std::nullopt;
    case AttackTarget::Kind::given:
      return target.label;
    case AttackTarget::Kind::next:
      return (row.first_class + 1) % classes;
    case AttackTarget::Kind::random: {
      const DrawKey key{.seed = setting.seed, .stream = Stream::search, .row = row.row, .sample = 0};
      const auto drawn = static_cast<long long>(draw_below(key, static_cast<std::uint64_t>(classes - 1)));
      return drawn < row.first_class ? drawn : drawn + 1;
    }
    case AttackTarget::Kind::least:
      break;
  }
  if (outputs.size() == 1) return 1 - row.first_class;
  long long least = row.first_class == 0 ? 1 : 0;
  for (long long k = 0; k < classes; ++k) {
    if (k != row.first_class &&
        outputs[static_cast<std::size_t>(k)] < outputs[static_cast<std::size_t>(least)])
      least = k;
  }
  return least;
}

bool enter_step(const SearchSetting& setting, AttackRow& row, AttackStep step, std::span<const double> x) {
  step.distortion_l2 = setting.moves.distance(row.original, x);
  row.new_class = step.label;
  row.last_logit = step.logit;
  row.adversarial.assign(x.begin(), x.end());
  row.path.push_back(step);
  if (!row.success) {
    row.success = row.target ? step.label == *row.target : step.label != row.first_class;
    row.steps = row.path.size();
  }
  row.outcome = row.success ? AttackOutcome::changed : AttackOutcome::kept;
  return (row.success && !setting.options.go_on) || row.path.size() >= setting.options.steps;
}

void enter_stuck(AttackRow& row, std::span<const double> x) {
  row.adversarial.assign(x.begin(), x.end());
  if (!row.success) row.outcome = AttackOutcome::stuck;
}

}  // namespace harmonia
