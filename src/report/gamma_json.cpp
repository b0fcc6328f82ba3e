#include "gamma_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harmonia/ball/rotations.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamedFeatures = 1000;  // more names than that help nobody

Json explain_json(const std::vector<Contribution>& parts, const DataInfo& data) {
  Json list = Json::array();
  for (const Contribution& part : parts) {
    list.push_back({{"feature", feature_name(data, part.feature)},
                    {"column", part.feature},
                    {"contribution", part.value}});
  }
  return list;
}

// Which row it is.
Json place_json(const GammaRow& row) {
  Json json{{"row", row.row}};
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.label.empty()) json["label"] = row.label;
  return json;
}

void add_gamma(Json& json, const GammaRow& row) {
  json["class"] = or_null(row.decided_class);
  json["value"] = or_null(row.value);
  json["gamma"] = or_null(row.gamma);
  json["low"] = or_null(row.low);
  json["high"] = or_null(row.high);
}

Json named_values(const std::vector<double>& x, const DataInfo& data) {
  Json values = Json::object();
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::string name = feature_name(data, j);
    if (values.contains(name)) name = fmt::format("{} ({})", name, j);  // columns of the same name
    values[name] = or_null(x[j]);
  }
  return values;
}

// How images came to the model, and where steps out of 0 … 255 went.
Json images_json(const GammaRunRecord& record) {
  Json json{{"pixel_range", pixel_range_name(record.pixel_range)}, {"description", nullptr}};
  if (!record.description) return json;
  const ImageDescription& d = *record.description;
  json["description"] = {{"path", record.description_path},
                         {"height", d.shape.height},
                         {"width", d.shape.width},
                         {"channels", d.model_channels == 1 ? "grey"
                                      : d.reversed          ? "bgr"
                                                            : "rgb"},
                         {"measure", d.shape.channels == 1 ? "grey" : "colour"},
                         {"layout", d.channels_first ? "nchw" : "nhwc"},
                         {"range", d.range},
                         {"mean", d.mean},
                         {"std", d.deviation},
                         {"fit", d.fit == ImageFit::crop ? "crop" : "stretch"},
                         {"outputs", d.probabilities ? "probabilities" : "logits"}};
  if (d.resize != 0) json["description"]["resize"] = d.resize;
  return json;
}

}  // namespace

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json model_json(const ModelInfo& model, const char* name_key) {
  Json json{
      {name_key, model.name}, {"kind", model.kind}, {"inputs", model.inputs}, {"outputs", model.outputs}};
  if (!model.sha256.empty()) json["sha256"] = model.sha256;
  if (!model.warning.empty()) json["warning"] = model.warning;
  if (!model.fast_path.empty()) json["fast_path"] = model.fast_path;
  return json;
}

Json statistics_json(const GammaStatistics& s) {
  return {{"mean", or_null(s.mean)}, {"low", or_null(s.low)},
          {"high", or_null(s.high)}, {"stderr", or_null(s.standard_error)},
          {"rms", or_null(s.rms)},   {"relative", or_null(s.relative)},
          {"rows", s.rows}};
}

Json values_json(const std::vector<double>& x) {
  Json list = Json::array();
  for (const double value : x) list.push_back(or_null(value));
  return list;
}

Json worst_json(const WorstRows& worst, const GammaRunRecord& record) {
  Json list = Json::array();
  for (const GammaRow& row : worst.rows()) {
    Json json = place_json(row);
    if (row.column) json["column"] = *row.column;
    add_gamma(json, row);
    json["outcome"] = outcome_name(row.outcome);
    if (record.data.image.values() == 0) json["values"] = named_values(row.x, record.data);
    list.push_back(std::move(json));
  }
  return list;
}

Json data_json(const DataInfo& data, std::size_t rows) {
  Json json{{"source", data.source}, {"rows", rows}, {"inputs", data.inputs}, {"features", Json::array()}};
  for (std::size_t j = 0; data.image.values() == 0 && j < std::min(data.inputs, kNamedFeatures); ++j) {
    json["features"].push_back(feature_name(data, j));
  }
  if (data.image.values() > 0) {
    json["image"] = {
        {"height", data.image.height}, {"width", data.image.width}, {"channels", data.image.channels}};
  }
  return json;
}

void add_selection(Json& options, const DataInfo& data) {
  if (!data.regions.empty()) options["region"] = data.regions;
  if (!data.window.empty()) options["window"] = data.window;
  if (data.jittered) options["jitter"] = true;
  if (!data.by.empty()) options["by"] = data.by;
}

Json schema_json(const Schema& schema) {
  Json features = Json::object();
  for (const Feature& f : schema) {
    Json entry{{"scale", f.scale}};
    if (f.bounded()) {
      entry["bounds"] = {or_null(f.lower), or_null(f.upper)};
    }
    if (f.integer) entry["integer"] = true;
    if (f.fixed) entry["fixed"] = true;
    features[f.name] = std::move(entry);
  }
  return features;
}

Json options_json(const GammaRunRecord& record) {
  const GammaOptions& o = record.options;
  Json json{{"radius", o.ball.radius},
            {"radius_auto", record.automatic_radius},
            {"ball", ball_name(o.ball)},
            {"average", o.ball.average == Average::solid ? "solid" : "surface"},
            {"scale", record.scale},
            {"output", output_name(o.output)},
            {"model_output", record.model_output.empty() ? Json(nullptr) : Json(record.model_output)},
            {"margin", record.margin},
            {"binary", record.model.binary},
            {"sample", o.sample > 0 ? Json(o.sample) : Json(nullptr)},
            {"precision", o.precision > 0 ? Json(o.precision) : Json(nullptr)},
            {"floor", o.floor > 0 ? Json(o.floor) : Json(nullptr)},
            {"paper", o.paper},
            {"confidence", o.confidence},
            {"explain", o.explain},
            {"seed", record.seed}};
  add_selection(json, record.data);
  if (record.has_schema) json["schema"] = schema_json(o.schema);
  if (record.data.image.values() > 0) json["images"] = images_json(record);
  return json;
}

Json row_json(const GammaRow& row, const GammaRunRecord& record) {
  Json json = place_json(row);
  if (!row.segment.empty()) json["segment"] = row.segment;
  if (row.column) json["column"] = *row.column;
  if (record.data.inputs <= kDrawnFeatures) json["x"] = values_json(row.x);
  add_gamma(json, row);
  json["delta"] = or_null(row.delta);
  json["laplacian"] = or_null(row.laplacian);
  json["split"] = or_null(row.split);
  json["stderr"] = or_null(row.standard_error);
  json["points"] = row.points;
  json["outcome"] = outcome_name(row.outcome);
  if (row.moved < record.data.inputs) json["moved"] = row.moved;
  if (row.shortened > 0) json["shortened"] = row.shortened;
  if (record.options.explain > 0) json["explain"] = explain_json(row.explain, record.data);
  return json;
}

Json outcomes_json(const GammaSummary& summary) {
  Json outcomes = Json::object();
  for (std::size_t i = 0; i < summary.outcomes.size(); ++i) {
    if (summary.outcomes[i] > 0) outcomes[outcome_name(static_cast<Outcome>(i))] = summary.outcomes[i];
  }
  return outcomes;
}

Json summary_json(const GammaSummary& summary, const GammaRunRecord& record) {
  Json json{{"gamma", statistics_json(summary.gamma)}};
  if (!summary.columns.empty()) {
    for (const GammaStatistics& column : summary.columns) json["columns"].push_back(statistics_json(column));
  }
  if (!record.data.by.empty()) {
    Json values = Json::array();
    for (const GammaSegment& segment : summary.segments) {
      Json entry{{"value", segment.value}};
      entry.update(statistics_json(segment.gamma));
      values.push_back(std::move(entry));
    }
    json["segments"] = {{"by", record.data.by}, {"values", std::move(values)}};
  }
  json["outcomes"] = outcomes_json(summary);
  if (!summary.fast_path.empty()) json["fast_path"] = summary.fast_path;
  if (record.options.explain > 0) json["explain"] = explain_json(summary.explain, record.data);
  if (summary.rows_shortened > 0) {
    json["bounds"] = {{"rows_shortened", summary.rows_shortened},
                      {"rule", "a step that would leave the bounds is cut short on both sides alike"}};
  }
  if (summary.rows_partly_moved > 0) json["rows_partly_moved"] = summary.rows_partly_moved;
  if (record.options.ball.kind == BallKind::rotated ||
      record.options.ball.kind == BallKind::rotated_simplex) {
    std::size_t moved = record.data.inputs;
    for (const Feature& feature : record.options.schema) moved -= feature.fixed ? 1 : 0;
    json["shared_directions"] = true;
    json["rotation"] = moved <= Rotations::kHaarLimit ? "haar" : "hadamard approximation";
  }
  json["warnings"] = summary.warnings;
  return json;
}

}  // namespace harmonia
