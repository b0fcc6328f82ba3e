#include <fmt/format.h>

#include <algorithm>

#include "harmonia/core/text.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kShownColumns = 20;

std::string name_of(const GammaRow& row) {
  const std::string name = row.id.empty() ? std::to_string(row.row) : printable(row.id);
  return row.column ? fmt::format("{}:{}", name, *row.column) : name;
}

std::string worst_table(const WorstRows& worst, std::size_t entries) {
  std::size_t width = 8;
  for (const GammaRow& row : worst.rows()) width = std::max(width, name_of(row).size());
  const bool columns = worst.rows().front().column.has_value();
  std::string text =
      fmt::format("\n  {:>{}}  {:>6}  {:>12}  {:>12}  {:<26} {:>8}  {}\n", columns ? "row:out" : "row", width,
                  "class", "value", "gamma", "interval", "points", "outcome");
  for (const GammaRow& row : worst.rows()) {
    text +=
        fmt::format("  {:>{}}  {:>6}  {:>12}  {:>12}  {:<26} {:>8}  {}\n", name_of(row), width,
                    row.decided_class ? std::to_string(*row.decided_class) : "-", number(row.value),
                    number(row.gamma), interval(row.low, row.high), row.points, outcome_name(row.outcome));
  }
  if (entries > worst.rows().size()) {
    text += fmt::format("  … the {} with the largest gamma, of {} that have one\n", worst.rows().size(),
                        grouped(entries));
  }
  return text;
}

std::string segments_table(const GammaRunRecord& record, const GammaSummary& summary) {
  if (summary.segments.empty()) return "";
  std::size_t width = 8;
  for (const GammaSegment& segment : summary.segments)
    width = std::max(width, printable(segment.value).size());
  std::string text = fmt::format("\n  {:>{}}  {:>8}  {:>12}  interval\n", printable(record.data.by), width,
                                 "rows", "mean gamma");
  for (const GammaSegment& segment : summary.segments) {
    text += fmt::format("  {:>{}}  {:>8}  {:>12}  {}\n", printable(segment.value), width, segment.gamma.rows,
                        number(segment.gamma.mean), interval(segment.gamma.low, segment.gamma.high));
  }
  return text;
}

}  // namespace

std::string gamma_table(const GammaRunRecord& record, const GammaSummary& summary, const WorstRows& worst) {
  std::size_t rows = 0;
  for (const std::size_t count : summary.outcomes) rows += count;
  std::string text = fmt::format("gamma of {} on {}\n", printable(record.model.name, std::string::npos),
                                 data_text(record.data, rows));
  text += fmt::format("{}; output {}; seed {}\n\n", what_was_done(record), output_name(record.options.output),
                      record.seed);
  const GammaStatistics& g = summary.gamma;
  const std::string percent = fmt::format("{:g}", 100 * record.options.confidence);
  text += fmt::format("  mean gamma   {:<12} {} % interval {}\n", number(g.mean), percent,
                      interval(g.low, g.high));
  text += fmt::format("  rms          {:<12}", number(g.rms));
  text += g.relative ? fmt::format(" {} of the output's spread\n", number(g.relative)) : "\n";
  text += fmt::format("  outcomes     {}\n", outcomes_text(summary));
  for (std::size_t k = 0; k < summary.columns.size() && k < kShownColumns; ++k) {
    const GammaStatistics& column = summary.columns[k];
    text += fmt::format("  output {:<5} {:<12} {} % interval {}\n", k, number(column.mean), percent,
                        interval(column.low, column.high));
  }
  if (!summary.explain.empty()) {
    text += "  features     ";
    for (std::size_t i = 0; i < summary.explain.size(); ++i) {
      text +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", feature_name(record.data, summary.explain[i].feature),
                      number(summary.explain[i].value));
    }
    text += "\n";
  }
  if (summary.columns.size() > kShownColumns) {
    text += fmt::format("  … {} more outputs\n", summary.columns.size() - kShownColumns);
  }
  text += segments_table(record, summary);
  if (!worst.rows().empty() && rows > 1)
    text += worst_table(worst, g.rows * std::max<std::size_t>(1, summary.columns.size()));
  text += "\n" + cost_text(summary.evaluations, record.seconds);
  return text + fast_paths_text({summary.fast_path});
}

}  // namespace harmonia
