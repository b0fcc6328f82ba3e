#include "harmonia/report/monitor_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json statistics(const GammaStatistics& gamma) {
  return {{"rows", gamma.rows},
          {"mean", number(gamma.mean)},
          {"low", number(gamma.low)},
          {"high", number(gamma.high)}};
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json baseline_json(const Baseline& baseline) {
  Json regions = Json::array();
  for (std::size_t i = 0; i < baseline.regions.size(); ++i) {
    Json region = statistics(baseline.regions[i]);
    region["text"] = region_text(baseline.partition, i, baseline.features);
    regions.push_back(std::move(region));
  }
  return {{"gamma", statistics(baseline.gamma)},
          {"regions", std::move(regions)},
          {"learning_rows", baseline.learning_rows},
          {"reference_rows", baseline.reference_rows}};
}

// The curves of constant probability are those of the members that a result of `harmonia map` has too.
Json map_json(const MonitorMap& map) {
  Json inputs = Json::array();
  for (std::size_t j = 0; j < map.map.inputs.size(); ++j) {
    inputs.push_back({{"name", map.map.inputs[j]},
                      {"mean", map.map.fit.means[j]},
                      {"scale", map.map.fit.scales[j]},
                      {"low", map.map.ranges[j].low},
                      {"high", map.map.ranges[j].high}});
  }
  return {{"steps", map.steps},
          {"confidence", map.map.confidence},
          {"floor", map.map.floor},
          {"inputs", std::move(inputs)},
          {"coefficients", map.map.fit.coefficients},
          {"intercept", map.map.intercept},
          {"slope", map.map.slope}};
}

Json points_json(const std::vector<MapPoint>& points) {
  Json list = Json::array();
  for (const MapPoint& point : points) {
    const KeptRow& row = point.row;
    const RowStability& stability = row.stability.value();
    Json json{{"number", row.number},
              {"id", row.id},
              {"gamma", row.gamma},
              {"logit_p", stability.log_odds},
              {"stable_probability", stability.probability},
              {"stable_low", stability.interval.low},
              {"stable_high", stability.interval.high},
              {"outside", stability.outside},
              {"alert", point.alert}};
    list.push_back(std::move(json));
  }
  return list;
}

Json stability_json(const StabilityCounts& counts, double confidence) {
  const MeanStability mean = mean_stability(counts, confidence);
  return {{"rows", counts.rows},       {"mean", number(mean.mean)}, {"low", number(mean.low)},
          {"high", number(mean.high)}, {"outside", counts.outside}, {"bins", counts.bins}};
}

Json window_json(const Window& window, const Baseline& baseline) {
  const double confidence = baseline.options.confidence;
  Json means = Json::array(), rows = Json::array();
  for (std::size_t i = 0; i < window.counts.gamma.size(); ++i) {
    const std::uint64_t count = total(window.counts.gamma[i]);
    rows.push_back(count);
    means.push_back(count == 0 ? Json(nullptr) : number(mean_gamma(baseline, window.counts, i)));
  }
  Json json{{"partition", window.partition},
            {"first", window.first},
            {"first_number", window.first_number},
            {"next", window.next},
            {"begin", window.begin},
            {"end", window.end},
            {"rows", window.rows},
            {"measured", window.measured},
            {"refused", window.refused},
            {"gamma", statistics(counted_gamma(baseline, window.counts, confidence))},
            {"region_means", std::move(means)},
            {"region_rows", std::move(rows)}};
  if (window.stability.rows > 0) json["stability"] = stability_json(window.stability, confidence);
  return json;
}

Json windows_json(const std::vector<Window>& windows, const Baseline& baseline) {
  Json list = Json::array();
  const std::size_t from = windows.size() - std::min(windows.size(), kShownWindows);
  for (std::size_t i = from; i < windows.size(); ++i) list.push_back(window_json(windows[i], baseline));
  return list;
}

// As it is stored and sent, but for the rows, which are many.
Json alert_json(const Alert& alert, const Baseline& baseline) {
  Alert brief = alert;
  brief.rows.clear();
  Json json = Json::parse(alert_text(brief, baseline));
  json.erase("rows");
  json.erase("names");
  json["row_count"] = alert.rows.size();
  return json;
}

Json inference_json(const InferenceCounts& counts) {
  return {{"requests", counts.requests},         {"unread", counts.unread},
          {"last_unread", counts.last_unread},   {"rows", counts.rows},
          {"dropped_rows", counts.dropped_rows}, {"unanswered", counts.unanswered}};
}

Json model_json(const WatchedModel& model) {
  const Baseline& baseline = *model.baseline;
  const MonitorStatus& status = model.status;
  Json alerts = Json::array();
  for (const Alert& alert : status.alerts) alerts.push_back(alert_json(alert, baseline));
  Json json{{"name", model.name},
            {"features", baseline.features.size()},
            {"window", model.options.window},
            {"false_alarms", model.options.detectors.false_alarms},
            {"confidence", baseline.options.confidence},
            {"calls_per_second", model.options.calls_per_second},
            {"rows", status.rows},
            {"measured", status.measured},
            {"left_out", status.left_out},
            {"without_value", status.without_value},
            {"refused", status.refused},
            {"last_refused", status.last_refused},
            {"unsaved", status.unsaved},
            {"repeated_batches", status.repeated_batches},
            {"evaluations", status.evaluations},
            {"share", status.share},
            {"last_row", status.last_row},
            {"p_values", numbers(status.p_values)},
            {"baseline", baseline_json(baseline)},
            {"windows", windows_json(status.windows, baseline)},
            {"alerts", std::move(alerts)}};
  if (model.inference) json["inference"] = inference_json(*model.inference);
  if (model.options.map) {
    json["map"] = map_json(*model.options.map);
    json["points"] = points_json(status.points);
  }
  return json;
}

}  // namespace

std::string monitor_status_json(const std::vector<WatchedModel>& models) {
  Json list = Json::array();
  for (const WatchedModel& model : models) list.push_back(model_json(model));
  return Json{{"version", HARMONIA_VERSION}, {"models", std::move(list)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace harmonia
