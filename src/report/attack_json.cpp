#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base64.hpp"
#include "gamma_json.hpp"
#include "harmonia/report/attack_pictures.hpp"
#include "harmonia/report/attack_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json gradient_json(const AttackOptions& o, const ModelInfo& model) {
  const GradientOptions& g = o.gradient;
  const auto given = [](double value) { return value > 0 ? Json(value) : Json(nullptr); };
  const std::string target = attack_target_name(g.target);
  return {{"norm", attack_norm_name(g.norm.value_or(standard_norm(o.method)))},
          {"step_size", given(g.step_size)},
          {"target", target.empty() ? Json(nullptr) : Json(target)},
          {"decay", g.decay},
          {"kappa", g.kappa},
          {"constant", given(g.constant)},
          {"penalty", given(g.penalty)},
          {"random_start", g.random_start},
          {"outputs", g.probabilities || model.outputs == 1 ? "probabilities" : "logits"}};
}

Json options_of(const AttackRunRecord& record) {
  const AttackOptions& o = record.options;
  Json json{{"method", attack_method_name(o.method)},
            {"against", record.against ? Json(attack_method_name(*record.against)) : Json(nullptr)},
            {"steps", o.steps},
            {"radius", o.radius > 0 ? Json(o.radius) : Json(nullptr)},
            {"candidates", o.candidates},
            {"lower", or_null(o.lower)},
            {"upper", or_null(o.upper)},
            {"epsilon", o.epsilon > 0 ? Json(o.epsilon) : Json(nullptr)},
            {"paper", o.paper},
            {"go_on", o.go_on},
            {"confidence", record.confidence},
            {"scale", record.scale},
            {"model_output", record.model_output.empty() ? Json(nullptr) : Json(record.model_output)},
            {"margin", record.margin},
            {"binary", record.model.binary},
            {"seed", record.seed}};
  if (uses_gradients(o.method) || (record.against && uses_gradients(*record.against)))
    json["gradient"] = gradient_json(o, record.model);
  if (o.image.channels > 0) json["image"] = {o.image.height, o.image.width, o.image.channels};
  add_selection(json, record.data);
  if (!o.schema.empty()) json["schema"] = schema_json(o.schema);
  return json;
}

Json row_of(AttackMethod method, const AttackRow& row) {
  Json json{{"row", row.row}};
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.label.empty()) json["label"] = row.label;
  json["method"] = attack_method_name(method);
  if (row.outcome == AttackOutcome::budget) {
    for (const char* key : {"class", "new_class", "success", "steps", "changed", "distortion_l2",
                            "distortion_linf", "first_logit", "last_logit"})
      json[key] = nullptr;
  } else {
    json["class"] = row.first_class;
    if (row.target) json["target"] = *row.target;
    json["new_class"] = row.new_class;
    json["success"] = row.success;
    json["steps"] = row.steps;
    json["changed"] = row.changed;
    json["distortion_l2"] = row.distortion_l2;
    json["distortion_linf"] = row.distortion_linf;
    json["first_logit"] = row.first_logit;
    json["last_logit"] = row.last_logit;
  }
  json["evaluations"] = row.evaluations;
  json["outcome"] = attack_outcome_name(row.outcome);
  return json;
}

Json median_json(const std::optional<Median>& median) {
  if (!median) return nullptr;
  const auto end = [&](double Interval::*side) {
    return median->interval ? Json(*median->interval.*side) : Json(nullptr);
  };
  return {{"median", median->value}, {"low", end(&Interval::low)}, {"high", end(&Interval::high)}};
}

Json method_json(const AttackRun& run) {
  const AttackSummary& s = run.summary;
  Json outcomes = Json::object(), curve = Json::array();
  for (std::size_t i = 0; i < s.outcomes.size(); ++i) {
    if (s.outcomes[i] > 0) outcomes[attack_outcome_name(static_cast<AttackOutcome>(i))] = s.outcomes[i];
  }
  for (const AttackCurvePoint& p : s.curve) {
    curve.push_back({{"step", p.step},
                     {"changed", p.changed},
                     {"share", p.share},
                     {"low", p.interval.low},
                     {"high", p.interval.high}});
  }
  const bool any = s.rows > 0;
  return {{"method", attack_method_name(run.method)},
          {"rows", s.rows},
          {"changed", s.changed},
          {"share", any ? Json(s.share) : Json(nullptr)},
          {"low", any ? Json(s.interval.low) : Json(nullptr)},
          {"high", any ? Json(s.interval.high) : Json(nullptr)},
          {"steps", median_json(s.steps)},
          {"features", median_json(s.features)},
          {"distortion_l2", median_json(s.l2)},
          {"distortion_linf", median_json(s.linf)},
          {"curve", std::move(curve)},
          {"outcomes", std::move(outcomes)},
          {"evaluations", s.evaluations}};
}

Json comparison_json(const AttackStudy& study) {
  const AttackComparison& c = *study.comparison;
  const bool any = c.rows > 0;
  return {{"a", attack_method_name(study.runs[0].method)},
          {"b", attack_method_name(study.runs[1].method)},
          {"rows", c.rows},
          {"both", c.both},
          {"a_alone", c.first_alone},
          {"b_alone", c.second_alone},
          {"difference", any ? Json(c.difference.difference) : Json(nullptr)},
          {"low", any ? Json(c.difference.interval.low) : Json(nullptr)},
          {"high", any ? Json(c.difference.interval.high) : Json(nullptr)},
          {"p_value", any ? Json(c.difference.p_value) : Json(nullptr)}};
}

Json changes_json(const AttackRow& row) {
  constexpr std::size_t kWritten = 200;  // features; a dense change has no list
  if (row.changed > kWritten) return nullptr;
  Json changes = Json::array();
  for (std::size_t j = 0; j < row.original.size(); ++j) {
    if (std::abs(row.adversarial[j] - row.original[j]) > 0)
      changes.push_back({{"feature", j}, {"from", row.original[j]}, {"to", row.adversarial[j]}});
  }
  return changes;
}

constexpr std::size_t kStripSteps = 4;

// The row as an image, after some steps, and at the end.
void add_pictures(Json& json, const AttackRow& row, const AttackOptions& options) {
  json["png"] = base64(attack_png(row, options, row.original));
  json["adversarial_png"] = base64(attack_png(row, options, row.adversarial));
  Json strip = Json::array();
  for (const std::size_t step : strip_steps(row, kStripSteps)) {
    strip.push_back({{"step", step},
                     {"class", row.path[step - 1].label},
                     {"png", base64(attack_png(row, options, attacked_row(row, options, step)))}});
  }
  json["strip"] = std::move(strip);
}

Json path_json(const AttackRow& row) {
  Json path = Json::array();
  for (const AttackStep& step : row.path) {
    path.push_back({{"feature", or_null(step.feature)},
                    {"class", step.label},
                    {"logit", step.logit},
                    {"distortion_l2", step.distortion_l2}});
  }
  return path;
}

// Rows that are kept whole: those that changed, then others.
std::vector<const AttackRow*> kept_rows(const AttackRun& run) {
  std::vector<const AttackRow*> kept;
  for (const AttackRow& row : run.rows) {
    if (!row.original.empty()) kept.push_back(&row);
  }
  std::stable_partition(kept.begin(), kept.end(), [](const AttackRow* row) { return row->success; });
  return kept;
}

// A few rows whole: their steps, and what changed in them.
Json shown_json(const AttackRunRecord& record, const AttackStudy& study) {
  Json list = Json::array();
  for (const AttackRun& run : study.runs) {
    for (const AttackRow* row : kept_rows(run)) {
      Json json{{"row", row->row}};
      if (!row->id.empty()) json["id"] = row->id;
      json["method"] = attack_method_name(run.method);
      json["class"] = row->first_class;
      json["new_class"] = row->new_class;
      json["success"] = row->success;
      json["changed"] = row->changed;
      json["path"] = path_json(*row);
      json["changes"] = changes_json(*row);
      if (record.options.image.channels > 0) add_pictures(json, *row, record.options);
      list.push_back(std::move(json));
    }
  }
  return list;
}

}  // namespace

std::string attack_json(const AttackRunRecord& record, const AttackStudy& study,
                        const std::vector<std::string>& warnings) {
  const Json before{{"schema", "harmonia/1"},
                    {"command", "attack"},
                    {"model", model_json(record.model, "path")},
                    {"options", options_of(record)},
                    {"command_line", record.command_line}};
  Json methods = Json::array();
  for (const AttackRun& run : study.runs) methods.push_back(method_json(run));
  const std::size_t rows = study.runs.front().rows.size();
  const Json after{
      {"data", data_json(record.data, rows)},
      {"summary",
       {{"methods", std::move(methods)},
        {"comparison", study.comparison ? comparison_json(study) : Json(nullptr)},
        {"text", attack_text(record, study)},
        {"intervals", fmt::format("of shares by Wilson's score, of medians over the rows that changed by "
                                  "ranks, of the difference of two methods by Tango's score; {}",
                                  interval_meaning(record.data))},
        {"warnings", warnings}}},
      {"shown", shown_json(record, study)},
      {"evaluations", study.evaluations},
      {"seconds", record.seconds},
      {"version", HARMONIA_VERSION}};
  // Rows are put together as text: as values they would need much memory.
  std::string text = dump(before);
  text.back() = ',';
  text += "\"rows\":[";
  bool first = true;
  for (const AttackRun& run : study.runs) {
    for (const AttackRow& row : run.rows) {
      text += first ? "\n" : ",\n";
      first = false;
      text += dump(row_of(run.method, row));
    }
  }
  return text + "\n]," + dump(after).substr(1) + "\n";
}

std::string attack_csv(const AttackStudy& study) {
  const auto any = [&](auto has) {
    return std::ranges::any_of(study.runs,
                               [&](const AttackRun& run) { return std::ranges::any_of(run.rows, has); });
  };
  const bool ids = any([](const AttackRow& row) { return !row.id.empty(); });
  const bool labels = any([](const AttackRow& row) { return !row.label.empty(); });
  const bool targets = any([](const AttackRow& row) { return row.target.has_value(); });
  std::string text = fmt::format(
      "row,{}{}method,class,{}new_class,success,steps,changed,distortion_l2,distortion_linf,first_logit,"
      "last_logit,evaluations,outcome\n",
      ids ? "id," : "", labels ? "label," : "", targets ? "target," : "");
  for (const AttackRun& run : study.runs) {
    for (const AttackRow& row : run.rows) {
      text += fmt::format("{},{}{}{},", row.row, ids ? csv_field(row.id) + "," : "",
                          labels ? csv_field(row.label) + "," : "", attack_method_name(run.method));
      if (row.outcome == AttackOutcome::budget) {
        text += fmt::format("{},,,,,,,,,0,budget\n", targets ? "," : "");
        continue;
      }
      text += fmt::format("{},{}{},{},{},{},{},{},{},{},{},{}\n", row.first_class,
                          targets ? csv_field(row.target) + "," : "", row.new_class, row.success ? 1 : 0,
                          row.steps, row.changed, row.distortion_l2, row.distortion_linf, row.first_logit,
                          row.last_logit, row.evaluations, attack_outcome_name(row.outcome));
    }
  }
  return text;
}

}  // namespace harmonia
