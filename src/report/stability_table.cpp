#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harmonia/core/text.hpp"
#include "harmonia/report/stability_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kShownSigmas = 25, kShownRows = 20, kBar = 30;

std::string name_of(const StabilityRow& row) {
  return row.id.empty() ? std::to_string(row.row) : printable(row.id);
}

std::string bar(double share) {
  return std::string(static_cast<std::size_t>(std::lround(share * kBar)), '#');
}

std::string share(double value) { return fmt::format("{:.4f}", value); }

std::string interval_of(const Interval& ends) { return fmt::format("[{:.4f}, {:.4f}]", ends.low, ends.high); }

// A line without blanks at its end.
std::string line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

// The places of at most `limit` of `count` things, evenly, with the first and the last.
std::vector<std::size_t> shown(std::size_t count, std::size_t limit) {
  std::vector<std::size_t> places;
  const std::size_t kept = std::min(count, limit);
  for (std::size_t i = 0; i < kept; ++i) places.push_back(kept == 1 ? 0 : i * (count - 1) / (kept - 1));
  return places;
}

// The classes other than the row's, most frequent first.
std::string others(const StabilityPoint& point, long long own) {
  auto left = point.frequencies;
  std::erase_if(left, [&](const auto& entry) { return entry.first == own; });
  std::stable_sort(left.begin(), left.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < left.size() && i < 3; ++i) {
    text += fmt::format("{}{}: {:.3f}", i == 0 ? "" : ", ", left[i].first,
                        static_cast<double>(left[i].second) / static_cast<double>(point.samples));
  }
  return left.size() > 3 ? text + ", …" : text;
}

std::string omitted(std::size_t all) {
  return all > kShownSigmas
             ? fmt::format("  … {} of {} sigmas; all are in --json and --csv\n", kShownSigmas, all)
             : "";
}

std::string row_table(const StabilityRunRecord& record, const StabilityRow& row) {
  std::string text =
      fmt::format("  {:>10}  {:>9}  {:<18}  {:>9}  {:<{}}  others\n", "sigma",
                  fmt::format("class {}", *row.decided_class),
                  fmt::format("{:g} % interval", 100 * record.options.confidence), "certified", "", kBar);
  for (const std::size_t s : shown(row.points.size(), kShownSigmas)) {
    const StabilityPoint& p = row.points[s];
    text += line(fmt::format("  {:>10.4g}  {:>9}  {:<18}  {:>9}  {:<{}}  {}", p.sigma, share(p.probability),
                             interval_of(p.wilson), number(p.certified_radius), bar(p.probability), kBar,
                             others(p, *row.decided_class)));
  }
  return text + omitted(row.points.size());
}

std::string mean_table(const StabilityRunRecord& record, const StabilityResult& result) {
  std::string text =
      fmt::format("  {:>10}  {:>9}  {:<18}  {:>12}\n", "sigma", "own class",
                  fmt::format("{:g} % interval", 100 * record.options.confidence), "rows holding");
  for (const std::size_t s : shown(result.means.size(), kShownSigmas)) {
    const StabilityMean& mean = result.means[s];
    if (mean.rows == 0) continue;
    text += line(fmt::format("  {:>10.4g}  {:>9}  {:<18}  {:>12}  {}", mean.sigma, share(mean.probability),
                             mean.interval ? interval_of(*mean.interval) : "-",
                             fmt::format("{} of {}", mean.holding, mean.rows), bar(mean.probability)));
  }
  return text + omitted(result.means.size()) +
         fmt::format(
             "  own class: the mean over the rows of the share of noise samples that keep the row's "
             "class;\n  rows holding: those whose own class is still the most frequent\n");
}

std::string question_table(const StabilityRunRecord& record, const StabilityResult& result) {
  std::size_t width = 8;
  for (const StabilityRow& row : result.rows) width = std::max(width, name_of(row).size());
  std::string text =
      fmt::format("  {:>{}}  {:>6}  {:>11}  {:<18}  {:>9}  outcome\n", "row", width, "class", "probability",
                  fmt::format("{:g} % interval", 100 * record.options.confidence), "samples");
  for (std::size_t i = 0; i < std::min(result.rows.size(), kShownRows); ++i) {
    const StabilityRow& row = result.rows[i];
    if (row.points.empty()) {
      text += fmt::format("  {:>{}}  {:>6}  {:>11}  {:<18}  {:>9}  budget\n", name_of(row), width, "-", "-",
                          "-", "-");
      continue;
    }
    const StabilityPoint& p = row.points.front();
    text +=
        fmt::format("  {:>{}}  {:>6}  {:>11}  {:<18}  {:>9}  {}\n", name_of(row), width, *row.decided_class,
                    share(p.probability), interval_of(p.exact), p.samples, stability_outcome_name(p.outcome));
  }
  if (result.rows.size() > kShownRows)
    text += fmt::format("  … the first {} of {} rows\n", kShownRows, grouped(result.rows.size()));
  return text;
}

std::string noise_text(const StabilityRunRecord& record, const StabilityResult& result) {
  const StabilityOptions& o = record.options;
  std::string text = fmt::format("{} noise", noise_name(o.noise.kind));
  if (o.noise.directions.rows() > 0)
    text += fmt::format(" along {}", counted(o.noise.directions.rows(), "direction"));
  text += result.looks
              ? fmt::format(" of sigma {}; {}", o.sigmas.front(), stability_looks_text(o, *result.looks))
              : fmt::format(", {} samples a sigma", grouped(stability_samples(o)));
  return text;
}

std::string question_text(const StabilityRunRecord& record, const StabilityResult& result) {
  std::map<StabilityOutcome, std::size_t> rows;
  for (const StabilityRow& row : result.rows)
    ++rows[row.points.empty() ? StabilityOutcome::budget : row.points.front().outcome];
  std::string text =
      fmt::format("{} of {} {} ({}, {})-stable", grouped(rows[StabilityOutcome::stable]),
                  counted(result.rows.size(), "row"), rows[StabilityOutcome::stable] == 1 ? "is" : "are",
                  *record.options.gamma, record.options.sigmas.front());
  if (rows[StabilityOutcome::unstable] > 0)
    text += fmt::format(", {} not", grouped(rows[StabilityOutcome::unstable]));
  if (rows[StabilityOutcome::borderline] > 0) {
    text += fmt::format(", {} borderline (gamma lies in the interval, which is at most ± {} wide)",
                        grouped(rows[StabilityOutcome::borderline]), record.options.margin);
  }
  if (rows[StabilityOutcome::budget] > 0)
    text += fmt::format(", {} not measured for want of evaluations", grouped(rows[StabilityOutcome::budget]));
  return text;
}

}  // namespace

std::string stability_looks_text(const StabilityOptions& options, const StabilityLooks& looks) {
  return fmt::format(
      "which side of gamma {} at confidence {}, or an interval at most ± {} wide, takes from {} to {} "
      "samples a row",
      *options.gamma, options.confidence, options.margin, looks.first, grouped(looks.most));
}

std::string stability_text(const StabilityRunRecord& record, const StabilityResult& result) {
  if (record.options.gamma) return question_text(record, result);
  const std::string up_to = fmt::format("up to sigma {:.4g}", record.options.sigmas.back());
  std::size_t measured = 0, taken = 0;
  std::map<long long, std::size_t> classes;
  const StabilityRow* only = nullptr;
  for (const StabilityRow& row : result.rows) {
    if (row.points.empty()) continue;
    ++measured;
    only = &row;
    if (!row.takeover) continue;
    ++taken;
    ++classes[*row.background];
  }
  if (measured == 0) return "no row was measured: the evaluations ran out";
  const std::string unmeasured = measured == result.rows.size()
                                     ? ""
                                     : fmt::format("; {} not measured for want of evaluations",
                                                   counted(result.rows.size() - measured, "row"));
  if (measured == 1) {
    return (only->takeover
                ? fmt::format("class {} takes over from class {} at sigma {:.4g}", *only->background,
                              *only->decided_class, *only->takeover)
                : fmt::format("class {} stays the most frequent {}", *only->decided_class, up_to)) +
           unmeasured;
  }
  if (taken == 0) {
    return fmt::format("in all {} rows their own class stays the most frequent {}", measured, up_to) +
           unmeasured;
  }
  const auto most = std::max_element(classes.begin(), classes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("another class takes over in {} of {} rows {}, most often class {} ({})", taken,
                     measured, up_to, most->first, counted(most->second, "row")) +
         unmeasured;
}

std::string stability_table(const StabilityRunRecord& record, const StabilityResult& result) {
  std::string text = fmt::format(
      "classes of {} around the rows of {}\n{}; seed {}\n\n", printable(record.model.name, std::string::npos),
      data_text(record.data, result.rows.size()), noise_text(record, result), record.seed);
  if (record.options.gamma) {
    text += question_table(record, result);
  } else if (result.rows.size() == 1 && !result.rows.front().points.empty()) {
    text += row_table(record, result.rows.front());
  } else {
    text += mean_table(record, result);
  }
  text += fmt::format("\n{}\n\n{}", stability_text(record, result),
                      cost_text(result.evaluations, record.seconds));
  if (!result.fast_path.empty())
    text += fmt::format("by the fast path for {}, sigmas together; --no-fast-path asks one by one\n",
                        result.fast_path);
  return text;
}

}  // namespace harmonia
