#include "harmonia/report/alignment_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "gamma_json.hpp"
#include "harmonia/core/text.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBins = 20, kBar = 30;

std::string intervals_text() {
  return "those of the mean over the population that the rows stand for, taken as a random "
         "sample of it; a row's own numbers are computed, not estimated";
}

Json mean_json(const AlignmentMean& mean) {
  return {{"mean", mean.rows > 0 ? Json(mean.mean) : Json(nullptr)},
          {"low", mean.interval ? Json(mean.interval->low) : Json(nullptr)},
          {"high", mean.interval ? Json(mean.interval->high) : Json(nullptr)},
          {"rows", mean.rows}};
}

Json row_json(const AlignmentRow& row) {
  const bool asked = row.outcome != AlignmentOutcome::budget;
  Json json{{"row", row.row}};
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.label.empty()) json["label"] = row.label;
  json["class"] = asked ? Json(row.decided_class) : Json(nullptr);
  json["cosine"] = or_null(row.cosine);
  json["ratio"] = or_null(row.ratio);
  json["rejection"] = or_null(row.rejection);
  json["outcome"] = alignment_outcome_name(row.outcome);
  return json;
}

// Rows by cosine, in bins of equal width from 0 to 1.
std::array<std::size_t, kBins> histogram_of(const AlignmentResult& result) {
  std::array<std::size_t, kBins> counts{};
  for (const AlignmentRow& row : result.rows) {
    if (row.cosine)
      ++counts[std::min(kBins - 1, static_cast<std::size_t>(*row.cosine * static_cast<double>(kBins)))];
  }
  return counts;
}

// Outcomes that occur, with their rows.
std::vector<std::pair<std::string, std::size_t>> outcomes_of(const AlignmentResult& result) {
  std::vector<std::pair<std::string, std::size_t>> outcomes;
  for (const AlignmentOutcome outcome : {AlignmentOutcome::measured, AlignmentOutcome::flat,
                                         AlignmentOutcome::across, AlignmentOutcome::budget}) {
    const auto rows = std::count_if(result.rows.begin(), result.rows.end(),
                                    [&](const AlignmentRow& row) { return row.outcome == outcome; });
    if (rows > 0) outcomes.emplace_back(alignment_outcome_name(outcome), rows);
  }
  return outcomes;
}

std::string mean_line(const char* name, const AlignmentMean& mean, double confidence) {
  if (mean.rows == 0) return fmt::format("  {:<15} -\n", name);
  return fmt::format("  {:<15} {:<8.4g} {:g} % interval {}\n", name, mean.mean, 100 * confidence,
                     mean.interval ? interval(mean.interval->low, mean.interval->high) : "-");
}

std::string bars(const AlignmentResult& result) {
  const auto counts = histogram_of(result);
  const std::size_t most = std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end()));
  std::string text;
  for (std::size_t i = 0; i < kBins; i += 2) {
    const std::size_t here = counts[i] + counts[i + 1];
    const std::string bar(here * kBar / (2 * most), '#');
    text += fmt::format("  {:.1f} to {:.1f}  {:>8}{}{}\n", static_cast<double>(i) / kBins,
                        static_cast<double>(i + 2) / kBins, grouped(here), bar.empty() ? "" : "  ", bar);
  }
  return text + "\n";
}

}  // namespace

std::string alignment_text(const AlignmentResult& result) {
  if (result.cosine.rows == 0) return "no row has a gradient";
  return fmt::format(
      "the cosine between a gradient and its part along the plane is {:.4g} on average, its square {:.4g}, "
      "where directions drawn at random have {:.4g} (the plane's {} of {} features)",
      result.cosine.mean, result.squared_cosine.mean, result.by_chance,
      counted(result.dimensions, "dimension"),
      std::llround(static_cast<double>(result.dimensions) / result.by_chance));
}

std::string alignment_json(const AlignmentRunRecord& record, const AlignmentResult& result) {
  Json rows = Json::array();
  for (const AlignmentRow& row : result.rows) rows.push_back(row_json(row));
  Json outcomes = Json::object();
  for (const auto& [name, count] : outcomes_of(result)) outcomes[name] = count;
  Json options{{"manifold", record.plane.source},
               {"components", record.manifold.components},
               {"by_label", record.manifold.by_label},
               {"gradient", aligned_gradient_name(record.options.gradient)},
               {"outputs", record.options.probabilities ? "probabilities" : "logits"},
               {"paper", record.options.paper},
               {"confidence", record.options.confidence},
               {"seed", record.seed}};
  add_selection(options, record.data);
  const Json json{
      {"schema", "harmonia/1"},
      {"command", "alignment"},
      {"model", model_json(record.model, "path")},
      {"options", std::move(options)},
      {"command_line", record.command_line},
      {"rows", std::move(rows)},
      {"data", data_json(record.data, result.rows.size())},
      {"summary",
       {{"cosine", mean_json(result.cosine)},
        {"squared_cosine", mean_json(result.squared_cosine)},
        {"ratio", mean_json(result.ratio)},
        {"by_chance", result.by_chance},
        {"plane",
         {{"dimensions", result.dimensions}, {"explained", record.explained}, {"rows", record.plane_rows}}},
        {"histogram", histogram_of(result)},
        {"outcomes", std::move(outcomes)},
        {"text", alignment_text(result)},
        {"intervals", intervals_text()},
        {"warnings", result.warnings}}},
      {"evaluations", result.evaluations},
      {"seconds", record.seconds},
      {"version", HARMONIA_VERSION}};
  return dump(json) + "\n";
}

std::string alignment_csv(const AlignmentResult& result) {
  const auto has = [&](std::string AlignmentRow::*name) {
    return std::any_of(result.rows.begin(), result.rows.end(),
                       [&](const AlignmentRow& row) { return !(row.*name).empty(); });
  };
  const bool ids = has(&AlignmentRow::id), labels = has(&AlignmentRow::label);
  std::string text =
      fmt::format("row,{}{}class,cosine,ratio,rejection,outcome\n", ids ? "id," : "", labels ? "label," : "");
  for (const AlignmentRow& row : result.rows) {
    text += fmt::format("{},{}{}{},{},{},{},{}\n", row.row, ids ? csv_field(row.id) + "," : "",
                        labels ? csv_field(row.label) + "," : "",
                        row.outcome == AlignmentOutcome::budget ? "" : std::to_string(row.decided_class),
                        csv_field(row.cosine), csv_field(row.ratio), csv_field(row.rejection),
                        alignment_outcome_name(row.outcome));
  }
  return text;
}

std::string alignment_table(const AlignmentRunRecord& record, const AlignmentResult& result) {
  std::string text = fmt::format("alignment of {} on {}\n", printable(record.model.name, std::string::npos),
                                 data_text(record.data, result.rows.size()));
  text += fmt::format(
      "plane of {} in {}: {}{} of {}, {:.3g} % of the variance; gradient of the {}{}\n\n",
      counted(result.dimensions, "dimension"), counted(record.data.inputs, "feature"),
      counted(record.manifold.components, "component"), record.manifold.by_label ? " a label" : "",
      printable(record.plane.source, std::string::npos), 100 * record.explained,
      aligned_gradient_name(record.options.gradient), record.options.paper ? ", equations as printed" : "");
  const double confidence = record.options.confidence;
  text += mean_line("cosine", result.cosine, confidence);
  text += mean_line("cosine, squared", result.squared_cosine, confidence);
  text += mean_line("ratio", result.ratio, confidence);
  text += "  outcomes        ";
  for (const char* separator = ""; const auto& [name, rows] : outcomes_of(result)) {
    text += fmt::format("{}{} {}", separator, grouped(rows), name);
    separator = ", ";
  }
  text += "\n\n";
  if (result.cosine.rows > 1) text += bars(result);
  return text +
         fmt::format("{}\n\n{}", alignment_text(result), cost_text(result.evaluations, record.seconds));
}

}  // namespace harmonia
