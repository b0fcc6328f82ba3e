#include "harmonia/report/boundary_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <string_view>

#include "gamma_json.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/npy_writer.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWrittenFeatures = 50;  // of a crossing's point
constexpr std::size_t kShownRows = 12, kBar = 30, kBarsFrom = 8;

std::optional<double> radians(const std::optional<double>& degrees) {
  return degrees ? std::optional(*degrees * std::numbers::pi / 180) : std::nullopt;
}

std::string resolution_text(std::size_t steps) {
  return fmt::format(
      "every segment was looked at on {} points; a class that begins and ends between two of them is not "
      "seen",
      steps + 1);
}

std::string interval_text() {
  return "angle_low and angle_high are a numerical uncertainty: twice the distance between three estimates "
         "of "
         "the angle, at the step and at half of it, and what rounding does; the mean's interval is about the "
         "population that the pairs stand for, taken as a random sample of it";
}

Json row_json(const BoundaryRow& row, bool with_point) {
  Json json{{"row", row.row}, {"a", row.a}, {"b", row.b}};
  if (!row.a_id.empty()) json["a_id"] = row.a_id;
  if (!row.b_id.empty()) json["b_id"] = row.b_id;
  json["t"] = or_null(row.t);
  json["t_low"] = or_null(row.t_low);
  json["t_high"] = or_null(row.t_high);
  if (with_point && row.t) json["point"] = values_json(row.point);
  json["classes"] = row.from ? Json{*row.from, *row.to} : Json(nullptr);
  json["angle"] = or_null(row.angle);
  json["angle_low"] = or_null(row.angle_low);
  json["angle_high"] = or_null(row.angle_high);
  json["radians"] = or_null(radians(row.angle));
  json["method"] = normal_name(row.method);
  if (row.left_out > 0) json["left_out"] = row.left_out;
  json["evaluations"] = row.evaluations;
  json["outcome"] = boundary_outcome_name(row.outcome);
  return json;
}

Json outcomes_of(const BoundarySummary& summary) {
  Json outcomes = Json::object();
  for (std::size_t i = 0; i < summary.outcomes.size(); ++i) {
    if (summary.outcomes[i] > 0)
      outcomes[boundary_outcome_name(static_cast<BoundaryOutcome>(i))] = summary.outcomes[i];
  }
  return outcomes;
}

Json angle_json(const BoundarySummary& summary) {
  Json quantiles = Json::object();
  for (std::size_t i = 0; i < summary.quantiles.size(); ++i)
    quantiles[fmt::format("{:g}", BoundarySummary::kQuantiles[i])] = summary.quantiles[i];
  return {{"mean", or_null(summary.mean)},
          {"low", or_null(summary.low)},
          {"high", or_null(summary.high)},
          {"count", summary.angles},
          {"quantiles", std::move(quantiles)},
          {"histogram", summary.histogram},
          {"error_median", or_null(summary.median_error)},
          {"error_max", or_null(summary.max_error)}};
}

Json options_of(const BoundaryRunRecord& record, const BoundarySummary& summary) {
  const BoundaryOptions& o = record.options;
  Json json{{"steps", o.steps},
            {"normal", normal_name(o.normal)},
            {"step", o.normal == NormalMethod::none ? Json(nullptr) : or_null(summary.step)},
            {"step_auto", o.step == 0},
            {"scale", record.scale},
            {"model_output", record.model_output.empty() ? Json(nullptr) : Json(record.model_output)},
            {"margin", record.margin},
            {"binary", record.model.binary},
            {"confidence", o.confidence},
            {"seed", record.seed}};
  if (!record.a.window.empty()) json["window"] = record.a.window;
  if (o.schema.empty()) return json;
  Json features = Json::object();
  for (const Feature& f : o.schema) {
    Json entry{{"scale", f.scale}};
    if (f.fixed) entry["fixed"] = true;
    features[f.name] = std::move(entry);
  }
  json["schema"] = std::move(features);
  return json;
}

std::string by_crossings(const BoundarySummary& summary) {
  std::string text;
  for (std::size_t k = 0; k < summary.pairs_by_crossings.size(); ++k) {
    const std::size_t pairs = summary.pairs_by_crossings[k] - (k == 0 ? summary.not_looked_at : 0);
    if (pairs == 0) continue;
    text +=
        fmt::format("{}{} with {}", text.empty() ? "" : ", ", grouped(pairs), k == 0 ? "none" : grouped(k));
  }
  if (summary.not_looked_at > 0)
    text += fmt::format("{}{} not looked at", text.empty() ? "" : ", ", grouped(summary.not_looked_at));
  return text;
}

std::string name_of(std::size_t number, const std::string& id) {
  return id.empty() ? std::to_string(number) : printable(id, 16);
}

std::string bars(const BoundarySummary& summary) {
  std::string text;
  std::size_t most = 1;
  const auto in_bin = [&](std::size_t i) { return summary.histogram[2 * i] + summary.histogram[2 * i + 1]; };
  for (std::size_t i = 0; i < summary.histogram.size() / 2; ++i) most = std::max(most, in_bin(i));
  for (std::size_t i = 0; i < summary.histogram.size() / 2; ++i) {
    const std::string bar(in_bin(i) * kBar / most, '#');
    text += fmt::format("  {:>3}° to {:>2}°  {:>8}{}{}\n", 10 * i, 10 * i + 10, grouped(in_bin(i)),
                        bar.empty() ? "" : "  ", bar);
  }
  return text + "\n";
}

}  // namespace

std::string boundary_text(const BoundarySummary& summary) {
  const std::size_t crossing =
      summary.pairs - (summary.pairs_by_crossings.empty() ? 0 : summary.pairs_by_crossings[0]);
  std::string text = fmt::format("{} of {} cross a decision boundary, {} in all", grouped(crossing),
                                 counted(summary.pairs, "pair"), counted(summary.crossings, "crossing"));
  if (summary.mean) {
    text += fmt::format("; the segments meet it at {:.4g}° on average", *summary.mean);
    if (summary.low) text += fmt::format(" {}", interval(summary.low, summary.high));
    text += ", where 90° is orthogonal";
  }
  const std::size_t partial = summary.outcomes[static_cast<std::size_t>(BoundaryOutcome::partial)];
  if (partial > 0)
    text += fmt::format("; {} with a partial normal left out of the angles", counted(partial, "crossing"));
  if (summary.not_looked_at > 0)
    text += fmt::format("; {} not looked at for want of evaluations", counted(summary.not_looked_at, "pair"));
  return text;
}

std::string boundary_json(const BoundaryRunRecord& record, const BoundaryResult& result,
                          const std::vector<std::string>& warnings) {
  const bool with_points = record.points || record.a.inputs <= kWrittenFeatures;
  const BoundarySummary& summary = result.summary;
  Json rows = Json::array();
  for (const BoundaryRow& row : result.rows) rows.push_back(row_json(row, with_points));
  Json data = data_json(record.a, summary.pairs);
  data["to"] = record.b.source;
  const Json json{{"schema", "harmonia/1"},
                  {"command", "boundary"},
                  {"model", model_json(record.model, "path")},
                  {"options", options_of(record, summary)},
                  {"command_line", record.command_line},
                  {"rows", std::move(rows)},
                  {"data", std::move(data)},
                  {"summary",
                   {{"pairs", summary.pairs},
                    {"crossings", summary.crossings},
                    {"pairs_by_crossings", summary.pairs_by_crossings},
                    {"outcomes", outcomes_of(summary)},
                    {"angle", angle_json(summary)},
                    {"text", boundary_text(summary)},
                    {"resolution", resolution_text(record.options.steps)},
                    {"intervals", interval_text()},
                    {"warnings", warnings}}},
                  {"evaluations", summary.evaluations},
                  {"seconds", record.seconds},
                  {"version", HARMONIA_VERSION}};
  return dump(json) + "\n";
}

std::string boundary_csv(const BoundaryResult& result) {
  const bool ids = std::any_of(result.rows.begin(), result.rows.end(),
                               [](const BoundaryRow& row) { return !row.a_id.empty() || !row.b_id.empty(); });
  std::string text = fmt::format(
      "row,a,b,{}t,t_low,t_high,from,to,angle,angle_low,angle_high,radians,method,left_out,evaluations,"
      "outcome\n",
      ids ? "a_id,b_id," : "");
  for (const BoundaryRow& row : result.rows) {
    text += fmt::format("{},{},{},{}{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.row, row.a, row.b,
                        ids ? fmt::format("{},{},", csv_field(row.a_id), csv_field(row.b_id)) : "",
                        csv_field(row.t), csv_field(row.t_low), csv_field(row.t_high), csv_field(row.from),
                        csv_field(row.to), csv_field(row.angle), csv_field(row.angle_low),
                        csv_field(row.angle_high), csv_field(radians(row.angle)), normal_name(row.method),
                        row.left_out, row.evaluations, boundary_outcome_name(row.outcome));
  }
  return text;
}

std::string boundary_table(const BoundaryRunRecord& record, const BoundaryResult& result) {
  const BoundarySummary& summary = result.summary;
  std::string text = fmt::format(
      "boundary of {} from {} to {}: {} of {}\n", printable(record.model.name, std::string::npos),
      printable(record.a.source, std::string::npos), printable(record.b.source, std::string::npos),
      counted(summary.pairs, "pair"), counted(record.a.inputs, "feature"));
  text += fmt::format(
      "{} points a segment; normal {}{}\n\n", record.options.steps + 1, normal_name(record.options.normal),
      record.options.normal == NormalMethod::none
          ? ""
          : fmt::format(", step {:.4g}{}", summary.step, record.options.step == 0 ? " (found)" : ""));
  text += fmt::format("  crossings    {} in {}: {}\n", grouped(summary.crossings),
                      counted(summary.pairs, "pair"), by_crossings(summary));
  if (summary.mean) {
    text += fmt::format("  mean angle   {:.4g}°  {:g} % interval {}; 90° is orthogonal\n", *summary.mean,
                        100 * record.options.confidence, interval(summary.low, summary.high));
    text += "  quantiles   ";
    for (std::size_t i = 0; i < summary.quantiles.size(); ++i) {
      text += fmt::format(" {:g} %: {:.4g}°{}", 100 * BoundarySummary::kQuantiles[i], summary.quantiles[i],
                          i + 1 < summary.quantiles.size() ? "," : "\n");
    }
    text += fmt::format("  known to     ±{}° (median), ±{}° (worst)\n", number(summary.median_error),
                        number(summary.max_error));
  }
  text += "  outcomes     ";
  bool first = true;
  for (std::size_t i = 0; i < summary.outcomes.size(); ++i) {
    if (summary.outcomes[i] == 0) continue;
    text += fmt::format("{}{} {}", first ? "" : ", ", grouped(summary.outcomes[i]),
                        boundary_outcome_name(static_cast<BoundaryOutcome>(i)));
    first = false;
  }
  text += "\n\n";
  if (summary.angles >= kBarsFrom) text += bars(summary);
  if (summary.crossings > 0)
    text += fmt::format("  {:>8}  {:>8}  {:>18}  {:>9}  {:>8}  {:<20} {:<6}  outcome\n", "a", "b", "t",
                        "classes", "angle", "known within", "normal");
  std::size_t shown = 0;
  for (const BoundaryRow& row : result.rows) {
    if (!row.t || ++shown > kShownRows) continue;
    text += fmt::format("  {:>8}  {:>8}  {:>18}  {:>9}  {:>8}  {:<20} {:<6}  {}\n", name_of(row.a, row.a_id),
                        name_of(row.b, row.b_id), row.t ? fmt::format("{:.16f}", *row.t) : "-",
                        row.from ? fmt::format("{} > {}", *row.from, *row.to) : "-",
                        row.angle ? fmt::format("{:.4f}", *row.angle) : "-",
                        row.angle ? fmt::format("[{:.4f}, {:.4f}]", *row.angle_low, *row.angle_high) : "-",
                        row.angle ? normal_name(row.method) : "-", boundary_outcome_name(row.outcome));
  }
  if (shown > kShownRows)
    text += fmt::format("  … and {} more (--json, --csv)\n", grouped(shown - kShownRows));
  return text + fmt::format("\n{}\n({})\n\n{}", boundary_text(summary), resolution_text(record.options.steps),
                            cost_text(summary.evaluations, record.seconds));
}

std::string normals_npy(const BoundaryResult& result, std::size_t inputs) {
  NpyWriter<double> file(inputs);
  const std::vector<double> none(inputs, std::numeric_limits<double>::quiet_NaN());
  for (const BoundaryRow& row : result.rows) file.add(row.normal.empty() ? none.data() : row.normal.data());
  return file.bytes();
}

}  // namespace harmonia
