#include "harmonia/report/map_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harmonia/core/text.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kShownClasses = 40;

std::string cell(const MapMean& mean) {
  if (!mean.mean) return "-";
  return mean.interval
             ? fmt::format("{} {}", number(mean.mean), interval(mean.interval->low, mean.interval->high))
             : fmt::format("{} [?, ?]", number(mean.mean));
}

std::string cell(const MapShare& share) {
  if (share.rows == 0) return "-";
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * *share.share(), 100 * share.interval.low,
                     100 * share.interval.high);
}

std::string cell(const GammaStatistics& gamma) {
  return gamma.mean ? fmt::format("{} {}", number(gamma.mean), interval(gamma.low, gamma.high)) : "-";
}

std::string cell(const std::optional<Correlation>& found) {
  if (!found) return "-";
  return fmt::format("{:+.2f} [{:+.2f}, {:+.2f}] n {}", found->value, found->interval.low,
                     found->interval.high, grouped(found->count));
}

std::string cell(const Auroc& auroc) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", auroc.value, auroc.interval.low, auroc.interval.high);
}

std::string cell(const AurocDifference& d) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", d.value, d.interval.low, d.interval.high);
}

std::string cell(const MapEstimate& e) {
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", e.value, e.interval.low, e.interval.high);
}

// Characters of UTF-8 text, not bytes.
std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Columns as wide as their widest cell.
std::string columns(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t j = 0; j < line.size(); ++j) widths[j] = std::max(widths[j], letters(line[j]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t j = 0; j < line.size(); ++j)
      row += "  " + line[j] + std::string(widths[j] - letters(line[j]), ' ');
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::vector<const MapGroup*> shown_groups(const MapTable& table) {
  std::vector<const MapGroup*> groups;
  for (std::size_t i = 0; i < std::min(kShownClasses, table.groups.size()); ++i)
    groups.push_back(&table.groups[i]);
  groups.push_back(&table.all);
  return groups;
}

std::string class_tables(const MapResult& result) {
  const std::size_t n = result.rows.steps;
  const std::string fall = fmt::format("{}·gamma", n);
  std::vector<std::vector<std::string>> first{{result.table.by_label ? "label" : "class", "rows", "P",
                                               "gamma", fmt::format("P·e^-{}", fall), "accuracy",
                                               fmt::format("stable after {} steps", n)}};
  std::vector<std::vector<std::string>> second{
      {first[0][0], "class logit", "mean logit", "two-exponential", "softmax", "logit drift", fall}};
  for (const MapGroup* group : shown_groups(result.table)) {
    const std::string name = printable(group->name);
    first.push_back({name, fmt::format("{}{}", grouped(group->rows), group->few() ? " (few)" : ""),
                     cell(group->probability), cell(group->gamma), cell(group->score), cell(group->correct),
                     cell(group->stable)});
    second.push_back(
        {name, cell(group->logit), cell(group->mean_logit), cell(group->two_exponential),
         cell(group->softmax), cell(group->drift),
         group->gamma.mean ? number(static_cast<double>(n) * *group->gamma.mean) : std::string("-")});
  }
  std::string text = columns(first);
  if (result.table.groups.size() > kShownClasses) {
    text += fmt::format("  … the first {} of {} classes; all are in --json\n", kShownClasses,
                        result.table.groups.size());
  }
  return text + "\n" + columns(second);
}

std::string correlation_table(const MapResult& result) {
  std::vector<std::vector<std::string>> lines{{"with stability", "r by row", "AUROC by row", "r by class"}};
  for (const MapCorrelation& entry : result.table.correlations) {
    lines.push_back(
        {entry.name, cell(entry.by_row), entry.auroc ? cell(*entry.auroc) : "-", cell(entry.by_class)});
  }
  std::string text = columns(lines);
  if (result.table.drift_with_gamma) {
    text += fmt::format("  |logit drift| with {}·gamma, by row: r {}\n", result.rows.steps,
                        cell(result.table.drift_with_gamma));
  }
  return text;
}

std::string map_lines(const MapFit& fit) {
  if (!fit.map) return fmt::format("{}\n", fit.reason);
  const GammaMap& map = *fit.map;
  std::string text = fmt::format("map: log-odds of stable = {:.4g}", map.fit.coefficients[0]);
  for (std::size_t j = 0; j < map.inputs.size(); ++j) {
    text += fmt::format(" {} {:.4g}·({} {} {:.4g})/{:.4g}", map.fit.coefficients[1 + j] < 0 ? "−" : "+",
                        std::abs(map.fit.coefficients[1 + j]), printable(map.inputs[j]),
                        map.fit.means[j] < 0 ? "+" : "−", std::abs(map.fit.means[j]), map.fit.scales[j]);
  }
  text += fmt::format("\n  {} stable and {} unstable rows, ridge {}; gamma below {} counts as that ({})\n",
                      grouped(fit.stable), grouped(fit.unstable), map.fit.ridge, number(map.floor),
                      counted(fit.floored, "row"));
  if (fit.left_out > 0)
    text += fmt::format("  {} left out: no gamma, no search or no further variable, or too large a one\n",
                        counted(fit.left_out, "row"));
  if (map.fit.separated)
    text += "  the map tells all stable rows from all others: the ridge alone bounds its coefficients\n";
  if (!fit.reason.empty()) text += fmt::format("  {}\n", fit.reason);
  if (!fit.validation) return text;
  const MapValidation& v = *fit.validation;
  text += fmt::format("on held-out rows, {} folds:\n", v.folds);
  text += columns({{"AUROC of the map", cell(v.map)},
                   {"AUROC of P alone", cell(v.probability), "map − P", cell(v.over_probability)},
                   {"AUROC of gamma alone", cell(v.gamma), "map − gamma", cell(v.over_gamma)},
                   {"Brier score", cell(v.brier), "of the share alone", number(v.brier_of_share)},
                   {"log loss", cell(v.log_loss)},
                   {"calibration slope", cell(v.slope), "intercept", cell(v.intercept)}});
  if (map.recalibrated) {
    text += fmt::format("  answers are recalibrated: {:.4g} + {:.4g} · log-odds, from the held-out rows\n",
                        map.intercept, map.slope);
  }
  return text;
}

}  // namespace

std::string map_text(const MapResult& result) {
  const MapShare& stable = result.table.all.stable;
  if (stable.rows == 0) return "no row was searched: the evaluations ran out";
  std::string text = fmt::format("{} of {} keep their class through {} steps", grouped(stable.hits),
                                 counted(stable.rows, "row"), result.rows.steps);
  if (!result.fit.reason.empty()) return text + "; " + result.fit.reason;
  if (!result.fit.validation) return text;
  const MapValidation& v = *result.fit.validation;
  return text + fmt::format(
                    "; the map tells them from the others with AUROC {:.3f} on held-out rows, P alone "
                    "with {:.3f}, gamma alone with {:.3f}",
                    v.map.value, v.probability.value, v.gamma.value);
}

std::string map_report(const MapRunRecord& record, const MapResult& result) {
  return fmt::format("map of {} on {}\n{}; {} steps of {}, {} tried a step; seed {}\n\n",
                     printable(record.gamma.model.name, std::string::npos),
                     data_text(record.gamma.data, result.rows.rows.size()), what_was_done(record.gamma),
                     result.rows.steps, number(record.step), counted(record.candidates, "feature"),
                     record.gamma.seed) +
         class_tables(result) + "\n" + correlation_table(result) + "\n" + map_lines(result.fit) +
         fmt::format("\n{}\n\n{}", map_text(result), cost_text(result.evaluations, record.gamma.seconds));
}

}  // namespace harmonia
