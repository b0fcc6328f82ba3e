#include "map_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gamma_json.hpp"
#include "harmonia/core/logistic.hpp"
#include "saved_gamma.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json mean_json(const MapMean& mean) {
  return {{"mean", or_null(mean.mean)},
          {"low", mean.interval ? Json(mean.interval->low) : Json(nullptr)},
          {"high", mean.interval ? Json(mean.interval->high) : Json(nullptr)},
          {"rows", mean.rows}};
}

Json share_json(const MapShare& share) {
  return {{"share", or_null(share.share())},
          {"low", share.rows > 0 ? Json(share.interval.low) : Json(nullptr)},
          {"high", share.rows > 0 ? Json(share.interval.high) : Json(nullptr)},
          {"count", share.hits},
          {"rows", share.rows}};
}

Json group_json(const MapGroup& group, std::size_t steps) {
  return {{"class", group.name},
          {"rows", group.rows},
          {"few", group.few()},
          {"logit", mean_json(group.logit)},
          {"mean_logit", mean_json(group.mean_logit)},
          {"probability", mean_json(group.probability)},
          {"gamma", statistics_json(group.gamma)},
          {"score", mean_json(group.score)},
          {"score_of_means", or_null(group.score_of_means)},
          {"two_exponential", mean_json(group.two_exponential)},
          {"softmax", mean_json(group.softmax)},
          {"accuracy", share_json(group.correct)},
          {"stability", share_json(group.stable)},
          {"drift", mean_json(group.drift)},
          {"steps_gamma",
           group.gamma.mean ? Json(static_cast<double>(steps) * *group.gamma.mean) : Json(nullptr)}};
}

Json correlation_json(const std::optional<Correlation>& found) {
  if (!found) return nullptr;
  return {{"value", found->value},
          {"low", found->interval.low},
          {"high", found->interval.high},
          {"count", found->count}};
}

Json auroc_json(const Auroc& auroc) {
  return {{"value", auroc.value}, {"low", auroc.interval.low}, {"high", auroc.interval.high}};
}

Json correlations_json(const MapTable& table) {
  Json list = Json::array();
  for (const MapCorrelation& entry : table.correlations) {
    list.push_back({{"of", entry.name},
                    {"rows", correlation_json(entry.by_row)},
                    {"auroc", entry.auroc ? auroc_json(*entry.auroc) : Json(nullptr)},
                    {"stable", entry.stable},
                    {"unstable", entry.unstable},
                    {"classes", correlation_json(entry.by_class)}});
  }
  return list;
}

Json estimate_json(const MapEstimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.interval.low}, {"high", estimate.interval.high}};
}

Json difference_json(const AurocDifference& difference) {
  return {{"value", difference.value}, {"low", difference.interval.low}, {"high", difference.interval.high}};
}

Json validation_json(const MapValidation& v) {
  Json bins = Json::array();
  for (const MapBin& bin : v.bins) {
    Json entry{{"from", bin.low}, {"to", bin.high}, {"mean", bin.mean}};
    entry.update(share_json(bin.stable));
    bins.push_back(std::move(entry));
  }
  return {{"folds", v.folds},
          {"auroc", auroc_json(v.map)},
          {"auroc_probability", auroc_json(v.probability)},
          {"auroc_gamma", auroc_json(v.gamma)},
          {"over_probability", difference_json(v.over_probability)},
          {"over_gamma", difference_json(v.over_gamma)},
          {"slope", estimate_json(v.slope)},
          {"intercept", estimate_json(v.intercept)},
          {"brier", mean_json(v.brier)},
          {"brier_of_share", v.brier_of_share},
          {"log_loss", mean_json(v.log_loss)},
          {"bins", std::move(bins)}};
}

// Of intercept and slope.
Json calibration_json(const GammaMap& map) {
  if (!map.recalibrated) return nullptr;
  const CalibrationErrors& errors = map.calibration;
  return {{errors.intercept, errors.together}, {errors.together, errors.slope}};
}

}  // namespace

Json saved_map_json(const SavedMap& saved, const ModelInfo& model, const MapFit& fit) {
  const GammaMap& map = saved.map;
  Json inputs = Json::array(), covariance = Json::array();
  for (std::size_t j = 0; j < map.inputs.size(); ++j) {
    inputs.push_back({{"name", map.inputs[j]},
                      {"mean", map.fit.means[j]},
                      {"scale", map.fit.scales[j]},
                      {"low", map.ranges[j].low},
                      {"high", map.ranges[j].high}});
  }
  for (std::size_t j = 0; j < map.fit.covariance.rows(); ++j) {
    covariance.push_back(std::vector<double>(map.fit.covariance.row(j),
                                             map.fit.covariance.row(j) + map.fit.covariance.columns()));
  }
  return {{"inputs", std::move(inputs)},
          {"coefficients", map.fit.coefficients},
          {"covariance", std::move(covariance)},
          {"ridge", map.fit.ridge},
          {"rows", map.fit.rows},
          {"stable", map.fit.positives},
          {"separated", map.fit.separated},
          {"floored", fit.floored},
          {"floor", map.floor},
          {"recalibrated", map.recalibrated},
          {"intercept", map.intercept},
          {"slope", map.slope},
          {"calibration_covariance", calibration_json(map)},
          {"confidence", map.confidence},
          {"steps", saved.steps},
          {"search", saved.search},
          {"gamma", saved_gamma_json(saved.gamma, saved.scale)},
          {"outputs", saved.probabilities ? "probabilities" : "logits"},
          {"margin", saved.margin},
          {"model_output", saved.model_output},
          {"model", model_json(model, "path")}};
}

Json map_row_json(const MapRow& row, const MapRows& rows) {
  Json json{{"row", row.row}};
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.label.empty()) json["label"] = row.label;
  const auto placed = [&](auto value) { return row.place ? or_null(value(*row.place)) : Json(nullptr); };
  json["class"] = row.place ? Json(row.place->decided_class) : Json(nullptr);
  json["logit"] = placed([](const LogitPlace& p) { return p.logit; });
  json["mean_logit"] = placed([](const LogitPlace& p) { return p.mean; });
  json["probability"] = placed([](const LogitPlace& p) { return p.probability(); });
  json["logit_p"] = placed([](const LogitPlace& p) { return p.log_odds; });
  json["gamma"] = or_null(row.gamma.gamma);
  json["low"] = or_null(row.gamma.low);
  json["high"] = or_null(row.gamma.high);
  json["outcome"] = outcome_name(row.gamma.outcome);
  const double fall = static_cast<double>(rows.steps) * row.gamma.gamma.value_or(0);
  const auto fallen = [&](auto value) { return row.measured() ? or_null(value(*row.place)) : Json(nullptr); };
  json["score"] = fallen([&](const LogitPlace& p) { return p.score(fall); });
  json["two_exponential"] =
      fallen([&](const LogitPlace& p) { return logistic(p.two_exponential_log_odds(fall)); });
  json["softmax"] = fallen([&](const LogitPlace& p) { return logistic(p.softmax_log_odds(fall)); });
  json["correct"] = or_null(row.correct);
  if (!rows.extra.empty()) json["extra"] = values_json(row.extra);
  return json;
}

Json map_options_json(const MapRunRecord& record, std::size_t steps) {
  Json json = options_json(record.gamma);
  json.erase("explain");
  json["outputs"] = record.probabilities ? "probabilities" : "logits";
  json["steps"] = steps;
  return json;
}

std::string map_frame(const MapRunRecord& record, Json options, const std::vector<Json>& rows, Json summary,
                      std::uint64_t evaluations) {
  const Json before{{"schema", "harmonia/1"},
                    {"command", "map"},
                    {"model", model_json(record.gamma.model, "path")},
                    {"options", std::move(options)},
                    {"command_line", record.gamma.command_line}};
  const Json after{{"data", data_json(record.gamma.data, rows.size())},
                   {"summary", std::move(summary)},
                   {"evaluations", evaluations},
                   {"seconds", record.gamma.seconds},
                   {"version", HARMONIA_VERSION}};
  std::string text = dump(before);
  text.back() = ',';
  text += "\"rows\":[";
  for (std::size_t i = 0; i < rows.size(); ++i) text += (i == 0 ? "\n" : ",\n") + dump(rows[i]);
  return text + "\n]," + dump(after).substr(1) + "\n";
}

std::string map_json(const MapRunRecord& record, const MapResult& result) {
  Json options = map_options_json(record, result.rows.steps);
  options["step"] = record.step;
  options["candidates"] = record.candidates;
  options["lower"] = or_null(record.lower);
  options["upper"] = or_null(record.upper);
  options["ridge"] = record.fit.ridge;
  options["folds"] = record.fit.folds;
  if (!result.rows.extra.empty()) options["with"] = result.rows.extra;
  std::vector<Json> rows;
  for (const MapRow& row : result.rows.rows) {
    Json json = map_row_json(row, result.rows);
    json["stable"] = row.search ? Json(row.search->stable) : Json(nullptr);
    json["drift"] = row.search ? or_null(row.search->drift) : Json(nullptr);
    rows.push_back(std::move(json));
  }
  Json groups = Json::array();
  for (const MapGroup& group : result.table.groups) groups.push_back(group_json(group, result.rows.steps));
  const MapFit& fit = result.fit;
  Json summary{
      {"text", map_text(result)},
      {"outcomes", outcomes_json(result.rows.gamma)},
      {"table",
       {{"by", result.table.by_label ? "label" : "class"},
        {"classes", std::move(groups)},
        {"all", group_json(result.table.all, result.rows.steps)}}},
      {"correlations", correlations_json(result.table)},
      {"drift_with_gamma", correlation_json(result.table.drift_with_gamma)},
      {"fit",
       {{"stable", fit.stable},
        {"unstable", fit.unstable},
        {"left_out", fit.left_out},
        {"reason", fit.reason.empty() ? Json(nullptr) : Json(fit.reason)}}},
      {"map", fit.map ? saved_map_json(saved_map(record, result), record.gamma.model, fit) : Json(nullptr)},
      {"validation", fit.validation ? validation_json(*fit.validation) : Json(nullptr)},
      {"intervals", fmt::format("each interval holds for itself; {}", interval_meaning(record.gamma.data))},
      {"warnings", result.warnings}};
  return map_frame(record, std::move(options), rows, std::move(summary), result.evaluations);
}

std::string map_csv(const MapResult& result) {
  std::string text =
      "row,id,label,class,logit,mean_logit,probability,logit_p,gamma,low,high,outcome,score,two_exponential,"
      "softmax,correct,stable,drift";
  for (const std::string& name : result.rows.extra) text += "," + csv_field(name);
  text += "\n";
  const auto field = [](const Json& value) { return value.is_null() ? std::string() : value.dump(); };
  for (const MapRow& row : result.rows.rows) {
    const Json json = map_row_json(row, result.rows);
    text += fmt::format("{},{},{}", row.row, csv_field(row.id), csv_field(row.label));
    for (const char* key : {"class", "logit", "mean_logit", "probability", "logit_p", "gamma", "low", "high"})
      text += "," + field(json[key]);
    text += "," + outcome_name(row.gamma.outcome);
    for (const char* key : {"score", "two_exponential", "softmax", "correct"}) text += "," + field(json[key]);
    text += row.search ? fmt::format(",{},{}", row.search->stable, row.search->drift) : ",,";
    for (const double value : row.extra) text += std::isfinite(value) ? fmt::format(",{}", value) : ",";
    text += "\n";
  }
  return text;
}

}  // namespace harmonia
