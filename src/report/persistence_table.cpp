#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/core/text.hpp"
#include "harmonia/report/persistence_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kShownRows = 20, kShownSteps = 26, kShownLeast = 5, kBins = 10, kBar = 40;

std::string name_of(const PersistenceRow& row) {
  return row.id.empty() ? std::to_string(row.row) : printable(row.id);
}

// A persistence that may be censored.
std::string sigma_of(const PersistenceRow& row) {
  switch (row.outcome) {
    case PersistenceOutcome::crossing:
      return number(row.sigma);
    case PersistenceOutcome::censored_low:
      return row.high ? fmt::format("< {}", number(row.high)) : "lost";
    case PersistenceOutcome::censored_high:
      return row.low ? fmt::format("> {}", number(row.low)) : "kept";
    case PersistenceOutcome::budget:
      return "-";
  }
  return "-";
}

std::string ends_of(const PersistenceRow& row) {
  if (row.outcome != PersistenceOutcome::crossing || !row.low) return "-";
  return fmt::format("[{}, {}]", number(row.low), number(row.high));
}

std::string ranked_text(const PersistenceRunRecord& record, double value) {
  if (value > 0 && std::isfinite(value)) return number(value);
  if (record.options.paper) return value > 0 ? "none, it is kept" : "0, it is lost";
  return value > 0 ? fmt::format("above {}", number(record.options.highest))
                   : fmt::format("below {}", number(record.options.lowest));
}

std::string row_lines(const PersistenceRunRecord& record, const std::vector<const PersistenceRow*>& rows) {
  std::size_t width = 6;
  for (const PersistenceRow* row : rows) width = std::max(width, name_of(*row).size());
  const bool path = record.steps > 0;
  std::string text =
      fmt::format("  {:>{}}  {:>6}  {:>6}  {:>11}  {:<22}  {:>9}  {:>9}  outcome\n", path ? "t" : "row",
                  width, "class", "gamma", "sigma*",
                  fmt::format("{:g} % interval", 100 * record.options.confidence), "samples", "certified");
  for (const PersistenceRow* row : rows) {
    const std::string place =
        path ? fmt::format("{:.4g}", static_cast<double>(row->row) / static_cast<double>(record.steps))
             : name_of(*row);
    text += fmt::format("  {:>{}}  {:>6}  {:>6}  {:>11}  {:<22}  {:>9}  {:>9}  {}\n", place, width,
                        row->decided_class ? std::to_string(*row->decided_class) : "-",
                        fmt::format("{:g}", row->gamma), sigma_of(*row), ends_of(*row), grouped(row->samples),
                        number(row->certified_radius), outcome_name(row->outcome));
  }
  return text;
}

std::string row_table(const PersistenceRunRecord& record, std::span<const PersistenceRow> rows) {
  std::vector<const PersistenceRow*> shown;
  const std::size_t all = rows.size(), limit = record.steps > 0 ? kShownSteps : kShownRows;
  const std::size_t kept = std::min(all, limit);
  for (std::size_t i = 0; i < kept; ++i) shown.push_back(&rows[kept == 1 ? 0 : i * (all - 1) / (kept - 1)]);
  std::string text = row_lines(record, shown);
  if (all > kept) text += fmt::format("  … {} of {}; all are in --json and --csv\n", kept, grouped(all));
  return text;
}

// How many rows lie where, evenly in the logarithm; the other group beside it.
std::string distribution(const PersistenceRunRecord& record, const PersistenceResult& result, double gamma) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto* rows : {&result.rows, &result.against}) {
    for (const PersistenceRow& row : *rows) {
      if (row.gamma != gamma || !row.sigma) continue;
      low = std::min(low, *row.sigma);
      high = std::max(high, *row.sigma);
    }
  }
  std::vector<std::size_t> counts[2] = {std::vector<std::size_t>(kBins + 2),
                                        std::vector<std::size_t>(kBins + 2)};
  for (const int group : {0, 1}) {
    for (const PersistenceRow& row : group == 0 ? result.rows : result.against) {
      const auto value = row.gamma == gamma ? ranked(row) : std::nullopt;
      if (!value) continue;
      std::size_t bin = 0;
      if (std::isinf(*value)) bin = kBins + 1;
      if (*value > 0 && std::isfinite(*value)) {
        const double share = high > low ? std::log(*value / low) / std::log(high / low) : 0;
        bin = 1 + std::min(kBins - 1, static_cast<std::size_t>(share * kBins));
      }
      ++counts[group][bin];
    }
  }
  const std::size_t most = std::max<std::size_t>(1, *std::max_element(counts[0].begin(), counts[0].end()));
  std::string text = fmt::format("  {:>23}  {:>9}", fmt::format("sigma*, gamma {:g}", gamma),
                                 record.against ? "natural" : "rows");
  text += record.against ? fmt::format("  {:>9}\n", "against") : "\n";
  for (std::size_t bin = 0; bin < kBins + 2; ++bin) {
    if (counts[0][bin] + counts[1][bin] == 0 && (bin == 0 || bin > kBins || !(high > low))) continue;
    std::string range = bin == 0 ? "class lost at the least" : "class never lost";
    if (bin > 0 && bin <= kBins) {
      const auto edge = [&](std::size_t i) {
        return low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(kBins));
      };
      range = high > low ? fmt::format("{} … {}", number(edge(bin - 1)), number(edge(bin))) : number(low);
    }
    // The character … is of three bytes and one column.
    text += fmt::format(
        "  {}{}  {:>9}",
        std::string(
            23 - std::min<std::size_t>(23, range.size() - (bin > 0 && bin <= kBins && high > low ? 2 : 0)),
            ' '),
        range, grouped(counts[0][bin]));
    if (record.against) text += fmt::format("  {:>9}", grouped(counts[1][bin]));
    text += fmt::format("  {}\n", std::string((counts[0][bin] * kBar + most - 1) / most, '#'));
  }
  return text;
}

std::string what_was_done(const PersistenceRunRecord& record) {
  const PersistenceOptions& o = record.options;
  std::string text = fmt::format("{} noise", noise_name(o.noise.kind));
  if (o.noise.directions.rows() > 0)
    text += fmt::format(" along {}", counted(o.noise.directions.rows(), "direction"));
  if (o.paper) {
    return text +
           fmt::format(", the paper's bracketing: {} samples at a sigma until the frequency is within {}",
                       grouped(o.samples), o.paper_precision);
  }
  text += fmt::format(", sigma from {} to {}", number(o.lowest), number(o.highest));
  if (record.unit) text += fmt::format(" (2^-20 … 2^20 times the data's scale, {})", number(*record.unit));
  return text + fmt::format(", precision {}", o.precision);
}

std::string one_row_text(const PersistenceRow& row) {
  switch (row.outcome) {
    case PersistenceOutcome::crossing:
      return fmt::format("class {} is kept with probability {:g} up to sigma {}{}", *row.decided_class,
                         row.gamma, number(row.sigma), row.low ? " " + ends_of(row) : "");
    case PersistenceOutcome::censored_low:
      return fmt::format("class {} is kept with probability {:g} for certain at no sigma{}",
                         *row.decided_class, row.gamma,
                         row.high ? fmt::format("; it is lost at {}", number(row.high)) : "");
    case PersistenceOutcome::censored_high:
      return fmt::format("class {} is kept with probability {:g} at every sigma{}", *row.decided_class,
                         row.gamma, row.low ? fmt::format(" up to {}", number(row.low)) : "");
    case PersistenceOutcome::budget:
      return "the row was not measured for want of evaluations";
  }
  return "";
}

std::string median_text(const PersistenceRunRecord& record, const PersistenceMedian& median) {
  if (!median.median) return "no row was measured: the evaluations ran out";
  std::string text = fmt::format("the median sigma* for gamma {:g} is {}", median.gamma,
                                 ranked_text(record, *median.median));
  if (median.interval) {
    text += fmt::format(" [{}, {}]", ranked_text(record, median.interval->low),
                        ranked_text(record, median.interval->high));
  }
  return text + fmt::format(" over {}", counted(median.rows, "row"));
}

std::string score_text(const char* name, const std::optional<DetectorScore>& score) {
  if (!score) return "";
  return fmt::format("{}{} [{}, {}]", name, number(score->auroc.value), number(score->auroc.interval.low),
                     number(score->auroc.interval.high));
}

}  // namespace

std::vector<const PersistenceRow*> least_persistent(std::span<const PersistenceRow> rows, double gamma,
                                                    std::size_t most) {
  std::vector<const PersistenceRow*> found;
  for (const PersistenceRow& row : rows) {
    const auto value = row.gamma == gamma ? ranked(row) : std::nullopt;
    if (value && std::isfinite(*value)) found.push_back(&row);
  }
  const auto less = [](const PersistenceRow* a, const PersistenceRow* b) {
    return std::pair(*ranked(*a), a->row) < std::pair(*ranked(*b), b->row);
  };
  const std::size_t kept = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(), less);
  found.resize(kept);
  return found;
}

std::string persistence_scan_text(const PersistenceOptions& options) {
  if (options.paper) return "";
  std::string depths;
  for (const double gamma : options.gammas) {
    depths += fmt::format("{}{:.2g} for gamma {:g}", depths.empty() ? "" : ", ", visible_dip(options, gamma),
                          gamma);
  }
  return fmt::format(
      "sigma from {} to {} in steps of a factor {:g}, and of {:.3g} where the share of the row's class comes "
      "down to halfway between gamma and 1; a dip of that share below gamma can be missed if it is narrower "
      "than the steps, and is found half the time or less if it is shallower than {}",
      number(options.lowest), number(options.highest), kCoarseRatio, kFineRatio, depths);
}

std::string persistence_path_text(const PersistenceRunRecord& record, const PersistenceResult& result) {
  if (record.steps == 0 || result.rows.empty()) return "";
  const auto place = [&](std::size_t row) {
    return fmt::format("{:.4g}", static_cast<double>(row) / static_cast<double>(record.steps));
  };
  const std::vector<ClassChange> changes = class_changes(result.rows);
  if (changes.empty()) {
    const auto& first = result.rows.front().decided_class;
    return first ? fmt::format("class {} all along the path", *first) : "the path was not measured";
  }
  std::string text;
  for (const ClassChange& change : changes) {
    text += fmt::format("{}class {} becomes {} between t = {} and {}", text.empty() ? "" : ", ", change.from,
                        change.to, place(change.row), place(change.row + 1));
  }
  return text;
}

std::string persistence_detector_text(const PersistenceRunRecord& record, const PersistenceResult& result) {
  if (!result.detector) return "";
  const PersistenceDetector& detector = *result.detector;
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  for (std::size_t g = 0; g < detector.persistence.size(); ++g)
    add(score_text(fmt::format("persistence for gamma {:g} ", record.options.gammas[g]).c_str(),
                   detector.persistence[g]));
  add(score_text(
      detector.form == ConfidenceForm::softmax ? "largest output after softmax " : "largest output ",
      detector.confidence));
  if (record.radius)
    add(score_text(fmt::format("gamma of radius {} ", *record.radius).c_str(), detector.gamma));
  if (text.empty()) return "nothing was measured that could tell the rows from the others";
  return fmt::format("probability that a row scores higher than one of the others (AUROC): {}", text);
}

std::string persistence_text(const PersistenceRunRecord& record, const PersistenceResult& result) {
  if (record.steps > 0) return persistence_path_text(record, result);
  const std::size_t gammas = record.options.gammas.size();
  std::string text;
  for (std::size_t g = 0; g < gammas; ++g) {
    if (g > 0) text += "; ";
    if (result.rows.size() == gammas && !record.against) {
      text += one_row_text(result.rows[g]);
      continue;
    }
    const double gamma = record.options.gammas[g];
    text += median_text(record, persistence_median(result.rows, gamma, record.options.confidence));
    if (!record.against) continue;
    const PersistenceMedian others = persistence_median(result.against, gamma, record.options.confidence);
    if (others.median) {
      text += fmt::format(", {} over {} of the others", ranked_text(record, *others.median),
                          counted(others.rows, "row"));
    }
  }
  return text;
}

std::string persistence_table(const PersistenceRunRecord& record, const PersistenceResult& result) {
  const std::size_t gammas = record.options.gammas.size();
  std::string text = fmt::format("persistence of {} at {}\n", printable(record.model.name, std::string::npos),
                                 data_text(record.data, result.rows.size() / gammas));
  if (record.against)
    text += fmt::format("against {}\n", data_text(*record.against, result.against.size() / gammas));
  text += fmt::format("{}; seed {}\n\n", what_was_done(record), record.seed);
  if (record.steps > 0 || (result.rows.size() <= kShownRows && !record.against)) {
    text += row_table(record, result.rows);
  } else {
    for (const double gamma : record.options.gammas) {
      text += distribution(record, result, gamma);
      const auto least = least_persistent(result.rows, gamma, kShownLeast);
      if (!least.empty()) text += "\n  least persistent:\n" + row_lines(record, least);
      text += "\n";
    }
    text.pop_back();
  }
  text += "\n";
  text += persistence_text(record, result) + "\n";
  if (result.detector) text += persistence_detector_text(record, result) + "\n";
  if (!record.options.paper) text += persistence_scan_text(record.options) + "\n";
  text += "\n" + cost_text(result.evaluations, record.seconds);
  if (!result.fast_path.empty())
    text += fmt::format("by the fast path for {}; --no-fast-path asks for points\n", result.fast_path);
  return text;
}

}  // namespace harmonia
