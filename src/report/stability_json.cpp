#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gamma_json.hpp"
#include "harmonia/report/stability_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json options_of(const StabilityRunRecord& record) {
  const StabilityOptions& o = record.options;
  Json json{{"sigmas", o.sigmas},
            {"samples", o.gamma ? Json(nullptr) : Json(stability_samples(o))},
            {"half_width", o.half_width > 0 && !o.gamma ? Json(o.half_width) : Json(nullptr)},
            {"gamma", or_null(o.gamma)},
            {"within", o.gamma ? Json(o.margin) : Json(nullptr)},
            {"confidence", o.confidence},
            {"noise", noise_name(o.noise.kind)},
            {"directions", o.noise.directions.rows() > 0 ? Json(o.noise.directions.rows()) : Json(nullptr)},
            {"scale", record.scale},
            {"model_output", record.model_output.empty() ? Json(nullptr) : Json(record.model_output)},
            {"margin", record.margin},
            {"binary", record.model.binary},
            {"seed", record.seed}};
  if (record.width > 0) json["image"] = {record.height, record.width};
  add_selection(json, record.data);
  if (!o.noise.schema.empty()) json["schema"] = schema_json(o.noise.schema);
  return json;
}

Json place_of(const StabilityRow& row) {
  Json json{{"row", row.row}};
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.label.empty()) json["label"] = row.label;
  json["class"] = or_null(row.decided_class);
  return json;
}

Json entry_of(const StabilityRow& row, double sigma, const StabilityPoint* point) {
  Json json = place_of(row);
  json["sigma"] = sigma;
  if (point == nullptr) {
    for (const char* key : {"probability", "low", "high", "exact_low", "exact_high"}) json[key] = nullptr;
    json["samples"] = 0;
    json["frequencies"] = Json::object();
    json["certified_radius"] = nullptr;
    json["outcome"] = stability_outcome_name(StabilityOutcome::budget);
    return json;
  }
  json["probability"] = point->probability;
  json["low"] = point->wilson.low;
  json["high"] = point->wilson.high;
  json["exact_low"] = point->exact.low;
  json["exact_high"] = point->exact.high;
  json["samples"] = point->samples;
  Json frequencies = Json::object();
  for (const auto& [decided_class, count] : point->frequencies)
    frequencies[std::to_string(decided_class)] = count;
  json["frequencies"] = std::move(frequencies);
  json["certified_radius"] = or_null(point->certified_radius);
  json["outcome"] = stability_outcome_name(point->outcome);
  return json;
}

Json takeovers_of(const StabilityResult& result) {
  Json list = Json::array();
  for (const StabilityRow& row : result.rows) {
    Json json = place_of(row);
    json["background"] = or_null(row.background);
    json["sigma"] = or_null(row.takeover);
    list.push_back(std::move(json));
  }
  return list;
}

Json curve_of(const StabilityResult& result) {
  Json list = Json::array();
  for (const StabilityMean& mean : result.means) {
    const bool any = mean.rows > 0;
    list.push_back({{"sigma", mean.sigma},
                    {"mean", any ? Json(mean.probability) : Json(nullptr)},
                    {"low", mean.interval ? Json(mean.interval->low) : Json(nullptr)},
                    {"high", mean.interval ? Json(mean.interval->high) : Json(nullptr)},
                    {"rows", mean.rows},
                    {"holding", mean.holding}});
  }
  return list;
}

Json outcomes_of(const StabilityResult& result) {
  Json outcomes = Json::object();
  for (const StabilityRow& row : result.rows) {
    const StabilityOutcome outcome = row.points.empty() ? StabilityOutcome::budget : row.points[0].outcome;
    Json& count = outcomes[stability_outcome_name(outcome)];
    count = count.is_null() ? 1 : count.get<std::size_t>() + 1;
  }
  return outcomes;
}

// Grey values 0 … 255 between the least and the largest value of the rows themselves.
Json pictures_of(const StabilityRunRecord& record, const StabilityResult& result) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const StabilityRow& row : result.rows) {
    if (row.pictures.empty()) continue;
    for (const double value : row.pictures.front().values) {
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low <= high)) return nullptr;
  const double scale = high > low ? 255 / (high - low) : 0;
  Json rows = Json::array();
  for (const StabilityRow& row : result.rows) {
    Json samples = Json::array();
    for (const StabilityPicture& picture : row.pictures) {
      Json pixels = Json::array();
      for (const double value : picture.values) {
        pixels.push_back(std::isnan(value) ? 0 : std::lround(std::clamp((value - low) * scale, 0.0, 255.0)));
      }
      samples.push_back(
          {{"sigma", picture.sigma}, {"class", picture.decided_class}, {"pixels", std::move(pixels)}});
    }
    rows.push_back({{"row", row.row}, {"samples", std::move(samples)}});
  }
  return {{"height", record.height},
          {"width", record.width},
          {"black", low},
          {"white", high},
          {"rows", std::move(rows)}};
}

}  // namespace

std::string stability_json(const StabilityRunRecord& record, const StabilityResult& result,
                           const std::vector<std::string>& warnings) {
  const Json before{{"schema", "harmonia/1"},
                    {"command", "stability"},
                    {"model", model_json(record.model, "path")},
                    {"options", options_of(record)},
                    {"command_line", record.command_line}};
  Json summary{
      {"outcomes", outcomes_of(result)},
      {"curve", curve_of(result)},
      {"takeovers", takeovers_of(result)},
      {"asked_twice", {{"asked", result.asked_twice.asked}, {"differed", result.asked_twice.differed}}},
      {"text", stability_text(record, result)},
      {"intervals", result.looks
                        ? std::string("each row's interval holds for itself, whenever its sampling ended")
                        : fmt::format("each row's interval holds for itself; of the mean, {}",
                                      interval_meaning(record.data))},
      {"warnings", warnings}};
  if (!result.fast_path.empty()) summary["fast_path"] = result.fast_path;
  if (result.looks) {
    summary["looks"] = {
        {"first", result.looks->first}, {"most", result.looks->most}, {"looks", result.looks->looks}};
  }
  Json after{{"data", data_json(record.data, result.rows.size())},
             {"summary", std::move(summary)},
             {"evaluations", result.evaluations},
             {"seconds", record.seconds},
             {"version", HARMONIA_VERSION}};
  if (record.width > 0) {
    Json pictures = pictures_of(record, result);
    if (!pictures.is_null()) after["pictures"] = std::move(pictures);
  }
  // Rows are put together as text: as values, those of a fine curve around many rows would need much memory.
  std::string text = dump(before);
  text.back() = ',';
  text += "\"rows\":[";
  bool first = true;
  for (const StabilityRow& row : result.rows) {
    for (std::size_t s = 0; s < record.options.sigmas.size(); ++s) {
      text += first ? "\n" : ",\n";
      first = false;
      text += dump(entry_of(row, record.options.sigmas[s], row.points.empty() ? nullptr : &row.points[s]));
    }
  }
  return text + "\n]," + dump(after).substr(1) + "\n";
}

std::string stability_csv(const StabilityRunRecord& record, const StabilityResult& result) {
  const bool ids = std::ranges::any_of(result.rows, [](const StabilityRow& row) { return !row.id.empty(); });
  const bool labels =
      std::ranges::any_of(result.rows, [](const StabilityRow& row) { return !row.label.empty(); });
  std::string text = fmt::format(
      "row,{}{}class,sigma,probability,low,high,exact_low,exact_high,samples,most_frequent,certified_radius,"
      "outcome\n",
      ids ? "id," : "", labels ? "label," : "");
  for (const StabilityRow& row : result.rows) {
    const std::string place =
        fmt::format("{},{}{}{}", row.row, ids ? csv_field(row.id) + "," : "",
                    labels ? csv_field(row.label) + "," : "", csv_field(row.decided_class));
    for (std::size_t s = 0; s < record.options.sigmas.size(); ++s) {
      if (row.points.empty()) {
        text += fmt::format("{},{},,,,,,0,,,budget\n", place, record.options.sigmas[s]);
        continue;
      }
      const StabilityPoint& p = row.points[s];
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", place, p.sigma, p.probability, p.wilson.low,
                          p.wilson.high, p.exact.low, p.exact.high, p.samples,
                          p.most_frequent(*row.decided_class), csv_field(p.certified_radius),
                          stability_outcome_name(p.outcome));
    }
  }
  return text;
}

}  // namespace harmonia
