#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gamma_json.hpp"
#include "harmonia/report/persistence_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json options_of(const PersistenceRunRecord& record) {
  const PersistenceOptions& o = record.options;
  const bool scan = !o.paper;
  Json json{{"gammas", o.gammas},
            {"method", scan ? "scan" : "paper"},
            {"sigma", scan ? Json{o.lowest, o.highest} : Json(nullptr)},
            {"sigma_unit", scan ? or_null(record.unit) : Json(nullptr)},
            {"precision", scan ? o.precision : o.paper_precision},
            {"samples", scan ? o.most : o.samples},
            {"confidence", o.confidence},
            {"noise", noise_name(o.noise.kind)},
            {"directions", o.noise.directions.rows() > 0 ? Json(o.noise.directions.rows()) : Json(nullptr)},
            {"scale", record.scale},
            {"model_output", record.model_output.empty() ? Json(nullptr) : Json(record.model_output)},
            {"margin", record.margin},
            {"binary", record.model.binary},
            {"seed", record.seed}};
  if (record.steps > 0) json["steps"] = record.steps;
  if (record.against) json["against"] = record.against->source;
  if (record.radius) json["radius"] = *record.radius;
  add_selection(json, record.data);
  if (!o.noise.schema.empty()) json["schema"] = schema_json(o.noise.schema);
  return json;
}

double place_on_path(const PersistenceRunRecord& record, std::size_t row) {
  return static_cast<double>(row) / static_cast<double>(record.steps);
}

Json place_of(const PersistenceRunRecord& record, const PersistenceRow& row, bool natural) {
  Json json{{"row", row.row}};
  if (record.against) json["group"] = natural ? "natural" : "against";
  if (record.steps > 0) json["t"] = place_on_path(record, row.row);
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.label.empty()) json["label"] = row.label;
  json["class"] = or_null(row.decided_class);
  return json;
}

Json entry_of(const PersistenceRunRecord& record, const PersistenceRow& row, bool natural) {
  Json json = place_of(record, row, natural);
  json["gamma"] = row.gamma;
  json["sigma"] = or_null(row.sigma);
  json["low"] = or_null(row.low);
  json["high"] = or_null(row.high);
  json["samples"] = row.samples;
  json["certified_radius"] = or_null(row.certified_radius);
  json["certified_sigma"] = or_null(row.certified_sigma);
  json["outcome"] = outcome_name(row.outcome);
  return json;
}

// A number that may stand for a censored one: its value, and how it came about.
void add_ranked(Json& json, const std::string& key, const std::string& outcome_key,
                const std::optional<double>& value) {
  const bool inside = value && *value > 0 && std::isfinite(*value);
  json[key] = inside ? Json(*value) : Json(nullptr);
  PersistenceOutcome outcome = PersistenceOutcome::crossing;
  if (value && !inside)
    outcome = *value > 0 ? PersistenceOutcome::censored_high : PersistenceOutcome::censored_low;
  json[outcome_key] = value ? Json(outcome_name(outcome)) : Json(nullptr);
}

Json medians_of(const PersistenceRunRecord& record, const PersistenceResult& result) {
  Json list = Json::array();
  for (const double gamma : record.options.gammas) {
    for (const bool natural : {true, false}) {
      if (!natural && !record.against) continue;
      const PersistenceMedian median =
          persistence_median(natural ? result.rows : result.against, gamma, record.options.confidence);
      Json json{{"gamma", gamma}};
      if (record.against) json["group"] = natural ? "natural" : "against";
      json["rows"] = median.rows;
      add_ranked(json, "median", "outcome", median.median);
      const auto end = [&](double Interval::*side) {
        return median.interval ? std::optional(*median.interval.*side) : std::nullopt;
      };
      add_ranked(json, "low", "low_outcome", end(&Interval::low));
      add_ranked(json, "high", "high_outcome", end(&Interval::high));
      list.push_back(std::move(json));
    }
  }
  return list;
}

Json scan_of(const PersistenceOptions& options) {
  Json dips = Json::array();
  for (const double gamma : options.gammas)
    dips.push_back({{"gamma", gamma}, {"depth", visible_dip(options, gamma)}});
  return {{"lowest", options.lowest},       {"highest", options.highest},
          {"coarse_ratio", kCoarseRatio},   {"fine_ratio", kFineRatio},
          {"visible_dip", std::move(dips)}, {"text", persistence_scan_text(options)}};
}

Json score_json(const std::optional<DetectorScore>& score) {
  if (!score) return nullptr;
  return {{"auroc", score->auroc.value},
          {"low", score->auroc.interval.low},
          {"high", score->auroc.interval.high},
          {"natural", score->natural},
          {"against", score->against}};
}

Json detector_of(const PersistenceRunRecord& record, const PersistenceResult& result) {
  const PersistenceDetector& detector = *result.detector;
  Json list = Json::array();
  for (std::size_t g = 0; g < detector.persistence.size(); ++g) {
    if (!detector.persistence[g]) continue;
    Json json{{"gamma", record.options.gammas[g]}};
    json.update(score_json(detector.persistence[g]));
    list.push_back(std::move(json));
  }
  Json json{{"persistence", std::move(list)},
            {"confidence", score_json(detector.confidence)},
            {"confidence_form", confidence_form_name(detector.form)}};
  if (record.radius) json["gamma"] = score_json(detector.gamma);
  json["text"] = persistence_detector_text(record, result);
  return json;
}

Json path_of(const PersistenceRunRecord& record, const PersistenceResult& result) {
  Json changes = Json::array();
  for (const ClassChange& change : class_changes(result.rows)) {
    changes.push_back({{"after", place_on_path(record, change.row)},
                       {"before", place_on_path(record, change.row + 1)},
                       {"from", change.from},
                       {"to", change.to}});
  }
  return {{"steps", record.steps},
          {"changes", std::move(changes)},
          {"text", persistence_path_text(record, result)}};
}

Json least_of(const PersistenceRunRecord& record, const PersistenceResult& result) {
  Json list = Json::array();
  for (const double gamma : record.options.gammas) {
    for (const PersistenceRow* row : least_persistent(result.rows, gamma, kLeastPersistent))
      list.push_back(entry_of(record, *row, true));
  }
  return list;
}

Json outcomes_of(const PersistenceResult& result) {
  Json outcomes = Json::object();
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    if (result.outcomes[i] > 0)
      outcomes[outcome_name(static_cast<PersistenceOutcome>(i))] = result.outcomes[i];
  }
  return outcomes;
}

std::string intervals_text(const PersistenceRunRecord& record) {
  if (record.steps > 0) {
    return record.options.paper ? "the paper's bracketing gives none"
                                : "each step's interval holds for itself";
  }
  if (record.options.paper) {
    return fmt::format("the paper's bracketing gives no intervals of rows; of the median, {}",
                       interval_meaning(record.data));
  }
  return fmt::format("each row's interval holds for itself; of the median, {}",
                     interval_meaning(record.data));
}

}  // namespace

std::string persistence_json(const PersistenceRunRecord& record, const PersistenceResult& result,
                             const std::vector<std::string>& warnings) {
  const std::size_t gammas = record.options.gammas.size();
  const Json before{{"schema", "harmonia/1"},
                    {"command", "persistence"},
                    {"model", model_json(record.model, "path")},
                    {"options", options_of(record)},
                    {"command_line", record.command_line}};
  Json summary{
      {"outcomes", outcomes_of(result)},
      {"medians", medians_of(record, result)},
      {"least", least_of(record, result)},
      {"scan", record.options.paper ? Json(nullptr) : scan_of(record.options)},
      {"asked_twice", {{"asked", result.asked_twice.asked}, {"differed", result.asked_twice.differed}}},
      {"text", persistence_text(record, result)},
      {"intervals", intervals_text(record)},
      {"warnings", warnings}};
  if (!result.fast_path.empty()) summary["fast_path"] = result.fast_path;
  if (record.steps > 0) summary["path"] = path_of(record, result);
  if (result.detector) summary["detector"] = detector_of(record, result);
  Json after{{"data", data_json(record.data, result.rows.size() / gammas)},
             {"summary", std::move(summary)},
             {"evaluations", result.evaluations},
             {"seconds", record.seconds},
             {"version", HARMONIA_VERSION}};
  if (record.against) {
    after["against"] = {{"source", record.against->source}, {"rows", result.against.size() / gammas}};
  }
  // Rows are put together as text: as values, many of them would need much memory.
  std::string text = dump(before);
  text.back() = ',';
  text += "\"rows\":[";
  bool first = true;
  for (const bool natural : {true, false}) {
    for (const PersistenceRow& row : natural ? result.rows : result.against) {
      text += first ? "\n" : ",\n";
      first = false;
      text += dump(entry_of(record, row, natural));
    }
  }
  return text + "\n]," + dump(after).substr(1) + "\n";
}

std::string persistence_csv(const PersistenceRunRecord& record, const PersistenceResult& result) {
  bool ids = false, labels = false;
  for (const auto* rows : {&result.rows, &result.against}) {
    ids |= std::ranges::any_of(*rows, [](const PersistenceRow& row) { return !row.id.empty(); });
    labels |= std::ranges::any_of(*rows, [](const PersistenceRow& row) { return !row.label.empty(); });
  }
  std::string text = fmt::format(
      "row,{}{}{}{}class,gamma,sigma,low,high,samples,certified_radius,certified_sigma,outcome\n",
      record.against ? "group," : "", record.steps > 0 ? "t," : "", ids ? "id," : "", labels ? "label," : "");
  for (const bool natural : {true, false}) {
    for (const PersistenceRow& row : natural ? result.rows : result.against) {
      text += fmt::format("{},", row.row);
      if (record.against) text += natural ? "natural," : "against,";
      if (record.steps > 0) text += fmt::format("{},", place_on_path(record, row.row));
      if (ids) text += csv_field(row.id) + ",";
      if (labels) text += csv_field(row.label) + ",";
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(row.decided_class), row.gamma,
                          csv_field(row.sigma), csv_field(row.low), csv_field(row.high), row.samples,
                          csv_field(row.certified_radius), csv_field(row.certified_sigma),
                          outcome_name(row.outcome));
    }
  }
  return text;
}

}  // namespace harmonia
