#include <fmt/format.h>

#include "gamma_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/map_report.hpp"
#include "map_json.hpp"
#include "result_json.hpp"
#include "saved_gamma.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostInputs = 1000;  // of a map

[[noreturn]] void fail(const ResultFile& file, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}: {}", printable(file.name, 500), what));
}

constexpr const char* kOwner = "the map";

double positive(const ResultFile& file, const ResultField& field, const char* key) {
  return positive_number(file, field, key, kOwner);
}

bool flag(const ResultFile& file, const ResultField& field, const char* key) {
  return read_flag(file, field, key, kOwner);
}

void read_inputs(const ResultFile& file, const ResultField& list, GammaMap& map) {
  if (list.size() < 2 || list.size() > kMostInputs)
    fail(file, fmt::format("the map has {}; expected at least 2", counted(list.size(), "input")));
  for (std::size_t j = 0; j < list.size(); ++j) {
    const ResultField input = list.at(j);
    map.inputs.push_back(input.at("name").text());
    map.fit.means.push_back(input.at("mean").number());
    map.fit.scales.push_back(positive(file, input, "scale"));
    map.ranges.push_back({input.at("low").number(), input.at("high").number()});
  }
  if (map.inputs[0] != "logit_p" || map.inputs[1] != "log_gamma")
    fail(file, "the map's first inputs are not logit_p and log_gamma");
}

std::vector<double> numbers(const ResultFile& file, const ResultField& list, std::size_t size,
                            const char* what) {
  if (list.size() != size) fail(file, fmt::format("the map has {} {}; expected {}", list.size(), what, size));
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(list.at(i).number());
  return values;
}

CalibrationErrors read_calibration(const ResultFile& file, const ResultField& field) {
  if (!field.has("calibration_covariance")) {
    fail(file,
         "the map is recalibrated and has no calibration_covariance: an older version wrote it; make it "
         "again");
  }
  const ResultField matrix = field.at("calibration_covariance");
  if (matrix.size() != 2)
    fail(file,
         fmt::format("the map's calibration_covariance has {}; expected 2", counted(matrix.size(), "row")));
  const std::vector<double> first = numbers(file, matrix.at(0), 2, "calibration covariances in a row");
  const std::vector<double> second = numbers(file, matrix.at(1), 2, "calibration covariances in a row");
  if (!(first[0] >= 0 && second[1] >= 0))
    fail(file, "the map's calibration_covariance has a variance below 0");
  return {first[0], second[1], first[1]};
}

GammaMap read_fit(const ResultFile& file, const ResultField& field) {
  GammaMap map;
  read_inputs(file, field.at("inputs"), map);
  const std::size_t size = 1 + map.inputs.size();
  map.fit.coefficients = numbers(file, field.at("coefficients"), size, "coefficients");
  map.fit.covariance = Matrix<double>(size, size);
  const ResultField covariance = field.at("covariance");
  if (covariance.size() != size)
    fail(file, fmt::format("the map's covariance has {} rows; expected {}", covariance.size(), size));
  for (std::size_t j = 0; j < size; ++j) {
    const std::vector<double> row = numbers(file, covariance.at(j), size, "covariances in a row");
    std::copy(row.begin(), row.end(), map.fit.covariance.row(j));
  }
  map.fit.ridge = field.at("ridge").number();
  map.fit.rows = field.at("rows").count();
  map.fit.positives = field.at("stable").count();
  map.fit.separated = flag(file, field, "separated");
  map.floor = positive(file, field, "floor");
  map.recalibrated = flag(file, field, "recalibrated");
  map.intercept = field.at("intercept").number();
  map.slope = field.at("slope").number();
  if (map.recalibrated) map.calibration = read_calibration(file, field);
  map.confidence = field.at("confidence").number();
  if (!is_confidence(map.confidence))
    fail(file, fmt::format("the map's confidence is {}; expected between 0 and 1", map.confidence));
  return map;
}

}  // namespace

SavedMap read_map(const ResultFile& file) {
  const Json frame = parse_result(file, {"map"}, [](Json&) {});
  const ResultField summary = ResultField(file, frame).at("summary");
  if (!summary.has("map"))
    fail(file,
         "this result has no map: expected one whose rows are some stable and some not, or a larger ridge");
  const ResultField field = summary.at("map"), model = field.at("model");
  SavedMap saved;
  saved.map = read_fit(file, field);
  saved.steps = field.at("steps").count();
  saved.search = field.at("search").text();
  saved.gamma = read_saved_gamma(file, field.at("gamma"), kOwner);
  saved.gamma.confidence = saved.map.confidence;
  saved.scale = field.at("gamma").at("scale").text();
  saved.probabilities = field.at("outputs").text() == "probabilities";
  saved.margin = flag(file, field, "margin");
  saved.model_output = field.at("model_output").text();
  saved.model = model.at("path").text();
  if (model.has("sha256")) saved.sha256 = model.at("sha256").text();
  return saved;
}

SavedMap saved_map(const MapRunRecord& record, const MapResult& result) {
  SavedMap saved;
  saved.map = result.fit.map.value();
  saved.steps = result.rows.steps;
  saved.search = fmt::format("gamma, {} of {}", counted(saved.steps, "step"), record.step);
  saved.gamma = record.gamma.options;
  saved.scale = record.gamma.scale;
  saved.probabilities = record.probabilities;
  saved.margin = record.gamma.margin;
  saved.model_output = record.gamma.model_output;
  saved.model = record.gamma.model.name;
  saved.sha256 = record.gamma.model.sha256;
  return saved;
}

std::optional<std::string> other_model(const SavedMap& map, const ModelInfo& model) {
  const bool files = !map.sha256.empty() && !model.sha256.empty();
  if (files ? map.sha256 == model.sha256 : map.model == model.name) return std::nullopt;
  return fmt::format("the map was fitted on {}{}; what it says about {} is a guess", printable(map.model),
                     files && map.model == model.name ? " with other contents" : "", printable(model.name));
}

std::vector<std::optional<MapAnswer>> ask_map(const GammaMap& map, const MapRows& rows) {
  std::vector<std::optional<MapAnswer>> answers;
  for (const MapRow& row : rows.rows) answers.push_back(answer_of(map, row));
  return answers;
}

std::string map_use_json(const MapRunRecord& record, const SavedMap& map, const std::string& path,
                         const MapUse& use) {
  Json options = map_options_json(record, map.steps);
  options["use"] = path;
  if (!use.rows.extra.empty()) options["with"] = use.rows.extra;
  std::vector<Json> rows;
  Moments mean;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < use.answers.size(); ++i) {
    const std::optional<MapAnswer>& answer = use.answers[i];
    Json json = map_row_json(use.rows.rows[i], use.rows);
    json["stable_probability"] = answer ? Json(answer->probability) : Json(nullptr);
    json["stable_low"] = answer ? Json(answer->interval.low) : Json(nullptr);
    json["stable_high"] = answer ? Json(answer->interval.high) : Json(nullptr);
    json["outside"] = answer ? Json(answer->outside) : Json(nullptr);
    if (answer) mean.add(answer->probability);
    outside += answer && answer->outside ? 1 : 0;
    rows.push_back(std::move(json));
  }
  Json summary{
      {"text", fmt::format("{} of {} answered without a search", use.answers.empty() ? 0 : mean.count(),
                           counted(use.answers.size(), "row"))},
      {"outcomes", outcomes_json(use.rows.gamma)},
      {"stable_probability", mean.count() > 0 ? Json(mean.mean()) : Json(nullptr)},
      {"answered", mean.count()},
      {"outside", outside},
      {"warnings", use.warnings}};
  return map_frame(record, std::move(options), rows, std::move(summary), use.evaluations);
}

std::string map_use_csv(const MapUse& use) {
  std::string text =
      "row,id,label,class,probability,logit_p,gamma,low,high,outcome,stable_probability,stable_low,"
      "stable_high,outside\n";
  for (std::size_t i = 0; i < use.answers.size(); ++i) {
    const MapRow& row = use.rows.rows[i];
    const std::optional<MapAnswer>& answer = use.answers[i];
    text += fmt::format("{},{},{},", row.row, csv_field(row.id), csv_field(row.label));
    text += row.place ? fmt::format("{},{},{}", row.place->decided_class, row.place->probability(),
                                    row.place->log_odds)
                      : ",,";
    text += fmt::format(",{},{},{},{}", csv_field(row.gamma.gamma), csv_field(row.gamma.low),
                        csv_field(row.gamma.high), outcome_name(row.gamma.outcome));
    text += answer ? fmt::format(",{},{},{},{}\n", answer->probability, answer->interval.low,
                                 answer->interval.high, answer->outside)
                   : ",,,,\n";
  }
  return text;
}

std::string map_use_report(const MapRunRecord& record, const SavedMap& map, const std::string& path,
                           const MapUse& use) {
  constexpr std::size_t kShown = 20;
  std::string text =
      fmt::format("map {} of {} asked about {}\n{}; stable: the class outlasts {}\n\n", printable(path),
                  printable(map.model), data_text(record.gamma.data, use.rows.rows.size()),
                  what_was_done(record.gamma), counted(map.steps, "step"));
  text += fmt::format("  {:>8}  {:>6}  {:>10}  {:>10}  {:>8}  {:g} % interval\n", "row", "class", "P",
                      "gamma", "stable", 100 * map.map.confidence);
  for (std::size_t i = 0; i < std::min(kShown, use.answers.size()); ++i) {
    const MapRow& row = use.rows.rows[i];
    const std::optional<MapAnswer>& answer = use.answers[i];
    const std::string name = row.id.empty() ? std::to_string(row.row) : printable(row.id);
    text +=
        fmt::format("  {:>8}  {:>6}  {:>10}  {:>10}  {:>8}  {}\n", name,
                    row.place ? std::to_string(row.place->decided_class) : "-",
                    number(row.place ? std::optional(row.place->probability()) : std::nullopt),
                    number(row.gamma.gamma), answer ? fmt::format("{:.4f}", answer->probability) : "-",
                    answer ? fmt::format("[{:.4f}, {:.4f}]{}", answer->interval.low, answer->interval.high,
                                         answer->outside ? "  outside of what the map was fitted on" : "")
                           : outcome_name(row.gamma.outcome));
  }
  if (use.answers.size() > kShown)
    text += fmt::format("  … the first {} of {} rows; all are in --json and --csv\n", kShown,
                        grouped(use.answers.size()));
  return text + "\n" + cost_text(use.evaluations, record.gamma.seconds);
}

}  // namespace harmonia
