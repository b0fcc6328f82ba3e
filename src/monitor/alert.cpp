#include "harmonia/monitor/alert.hpp"

#include <array>

#include "alert_words.hpp"
#include "monitor_json.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

constexpr std::array kAllChanges{Change::larger, Change::smaller, Change::slow, Change::shape};

Json statistics_json(const GammaStatistics& s) {
  return {{"rows", s.rows},
          {"mean", number_or_null(s.mean)},
          {"low", number_or_null(s.low)},
          {"high", number_or_null(s.high)}};
}

GammaStatistics read_statistics(const Json& json) {
  GammaStatistics s;
  json.at("rows").get_to(s.rows);
  s.mean = read_number_or_null(json.at("mean"));
  s.low = read_number_or_null(json.at("low"));
  s.high = read_number_or_null(json.at("high"));
  return s;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
std::optional<T> read_or_null(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

Json part_json(const AlertPart& part) {
  return {{"region", or_null(part.finding.region)},
          {"where", part.where},
          {"change", change_name(part.finding.change)},
          {"p_value", part.finding.p_value},
          {"since", part.finding.since},
          {"before", statistics_json(part.before)},
          {"now", statistics_json(part.since)}};
}

AlertPart read_part(const Json& json) {
  AlertPart part;
  part.finding.region = read_or_null<std::size_t>(json.at("region"));
  json.at("where").get_to(part.where);
  for (const Change change : kAllChanges) {
    if (change_name(change) == json.at("change").get<std::string>()) part.finding.change = change;
  }
  json.at("p_value").get_to(part.finding.p_value);
  json.at("since").get_to(part.finding.since);
  part.before = read_statistics(json.at("before"));
  part.since = read_statistics(json.at("now"));
  return part;
}

Json nearest_json(const BaselineRow& row) {
  return {
      {"id", row.id}, {"gamma", row.gamma}, {"region", row.region}, {"values", values_or_null(row.values)}};
}

BaselineRow read_nearest(const Json& json) {
  return {.values = read_values_or_null(json.at("values")),
          .gamma = json.at("gamma").get<double>(),
          .region = json.at("region").get<std::size_t>(),
          .id = json.at("id").get<std::string>()};
}

Json back_json(const Counterfactual& back) {
  return {{"features", back.features},
          {"values", values_or_null(back.values)},
          {"gamma", back.gamma},
          {"distance", back.distance}};
}

Json stability_json(const RowStability& stability) {
  return {{"logit_p", stability.log_odds},
          {"probability", stability.probability},
          {"low", stability.interval.low},
          {"high", stability.interval.high},
          {"outside", stability.outside}};
}

RowStability read_stability(const Json& json) {
  return {.log_odds = json.at("logit_p").get<double>(),
          .probability = json.at("probability").get<double>(),
          .interval = {json.at("low").get<double>(), json.at("high").get<double>()},
          .outside = json.at("outside").get<bool>()};
}

Counterfactual read_back(const Json& json) {
  return {.features = json.at("features").get<std::vector<std::size_t>>(),
          .values = read_values_or_null(json.at("values")),
          .gamma = json.at("gamma").get<double>(),
          .distance = json.at("distance").get<double>()};
}

}  // namespace

Json kept_row_json(const KeptRow& row) {
  Json json{{"partition", row.partition},
            {"position", row.position},
            {"number", row.number},
            {"time", row.time},
            {"id", row.id},
            {"gamma", row.gamma},
            {"low", number_or_null(row.low)},
            {"high", number_or_null(row.high)},
            {"class", or_null(row.decided_class)},
            {"region", row.region},
            {"values", values_or_null(row.values)}};
  if (row.stability) json["stability"] = stability_json(*row.stability);
  return json;
}

KeptRow read_kept_row(const Json& json) {
  KeptRow row;
  json.at("partition").get_to(row.partition);
  json.at("position").get_to(row.position);
  json.at("number").get_to(row.number);
  json.at("time").get_to(row.time);
  json.at("id").get_to(row.id);
  row.values = read_values_or_null(json.at("values"));
  json.at("gamma").get_to(row.gamma);
  row.low = read_number_or_null(json.at("low"));
  row.high = read_number_or_null(json.at("high"));
  row.decided_class = read_or_null<long long>(json.at("class"));
  json.at("region").get_to(row.region);
  if (json.contains("stability")) row.stability = read_stability(json.at("stability"));
  return row;
}

std::string alert_text(const Alert& alert, const Baseline& baseline) {
  Json parts = Json::array(), features = Json::array(), rows = Json::array();
  for (const AlertPart& part : alert.parts) parts.push_back(part_json(part));
  for (const AlertFeature& f : alert.features)
    features.push_back(
        {{"feature", f.feature}, {"name", f.name}, {"distance", f.distance}, {"text", f.text}});
  for (const AlertRow& row : alert.rows) {
    Json json = kept_row_json(row.row);
    json["nearest"] = row.nearest ? nearest_json(*row.nearest) : Json(nullptr);
    json["back"] = row.back ? back_json(*row.back) : Json(nullptr);
    json["reason"] = row.reason;
    json["looked"] = row.looked;
    rows.push_back(std::move(json));
  }
  return monitor_dump({{"alert", alert.id},
                       {"state", alert.ended ? "ended" : "open"},
                       {"text", alert.text},
                       {"raised", alert.raised},
                       {"since", alert.since},
                       {"ended", or_null(alert.ended)},
                       {"raised_number", alert.raised_number},
                       {"since_number", alert.since_number},
                       {"p_value", alert.p_value},
                       {"complete", alert.complete},
                       {"parts", std::move(parts)},
                       {"features", std::move(features)},
                       {"names", baseline.features},
                       {"rows", std::move(rows)}});
}

Alert read_alert(const std::string& text) {
  return read_stored<Alert>(text, "an alert", [](const Json& json) {
    Alert alert;
    json.at("alert").get_to(alert.id);
    json.at("text").get_to(alert.text);
    json.at("raised").get_to(alert.raised);
    json.at("since").get_to(alert.since);
    alert.ended = read_or_null<Time>(json.at("ended"));
    json.at("raised_number").get_to(alert.raised_number);
    json.at("since_number").get_to(alert.since_number);
    json.at("p_value").get_to(alert.p_value);
    json.at("complete").get_to(alert.complete);
    for (const Json& part : json.at("parts")) alert.parts.push_back(read_part(part));
    for (const Json& f : json.at("features"))
      alert.features.push_back({.feature = f.at("feature").get<std::size_t>(),
                                .name = f.at("name").get<std::string>(),
                                .distance = f.at("distance").get<double>(),
                                .text = f.at("text").get<std::string>()});
    for (const Json& row : json.at("rows")) {
      AlertRow kept{.row = read_kept_row(row),
                    .nearest = std::nullopt,
                    .back = std::nullopt,
                    .reason = {},
                    .looked = false};
      if (!row.at("nearest").is_null()) kept.nearest = read_nearest(row.at("nearest"));
      if (!row.at("back").is_null()) kept.back = read_back(row.at("back"));
      kept.reason = row.value("reason", "");  // earlier versions wrote none
      row.at("looked").get_to(kept.looked);
      alert.rows.push_back(std::move(kept));
    }
    return alert;
  });
}

}  // namespace harmonia
