#include "harmonia/report/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gamma_json.hpp"
#include "harmonia/core/text.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBar = 30;

std::size_t rows_of(const GammaSummary& summary) {
  std::size_t rows = 0;
  for (const std::size_t count : summary.outcomes) rows += count;
  return rows;
}

Json growth_json(const std::optional<GrowthExponent>& growth) {
  if (!growth) return nullptr;
  return {{"value", growth->value}, {"low", or_null(growth->low)}, {"high", or_null(growth->high)}};
}

}  // namespace

std::string sweep_text(const SweepResult& result) {
  if (!result.growth) {
    return result.points.size() < 2 ? "one radius says nothing about growth"
                                    : "at some radius gamma is 0 or has no value: no growth to state";
  }
  const GrowthExponent& growth = *result.growth;
  const std::string exponent =
      growth.low
          ? fmt::format("{:.3f} {}", growth.value, interval(growth.low, growth.high))
          : fmt::format("{:.3f} (no interval: rows were sampled, or too few carry gamma)", growth.value);
  return fmt::format(
      "mean gamma grows as radius^{}; a sharp boundary gives 1, smooth curvature 2, and a boundary as steep "
      "as the radius is long lies between",
      exponent);
}

std::string sweep_json(const GammaRunRecord& record, const SweepResult& result,
                       const std::vector<std::string>& warnings) {
  Json options = options_json(record), radii = Json::array(), rows = Json::array();
  for (const SweepPoint& point : result.points) {
    radii.push_back(point.radius);
    Json row{{"radius", point.radius}};
    row.update(statistics_json(point.summary.gamma));
    row["outcomes"] = outcomes_json(point.summary);
    if (!point.summary.fast_path.empty()) row["fast_path"] = point.summary.fast_path;
    rows.push_back(std::move(row));
  }
  options.erase("radius");
  options.erase("radius_auto");
  options["radii"] = std::move(radii);
  const Json json{{"schema", "harmonia/1"},
                  {"command", "sweep"},
                  {"model", model_json(record.model, "path")},
                  {"options", std::move(options)},
                  {"command_line", record.command_line},
                  {"rows", std::move(rows)},
                  {"data", data_json(record.data, rows_of(result.points.front().summary))},
                  {"summary",
                   {{"growth", growth_json(result.growth)},
                    {"text", sweep_text(result)},
                    {"intervals", fmt::format("each radius's interval holds for itself; {}",
                                              interval_meaning(record.data))},
                    {"warnings", warnings}}},
                  {"evaluations", result.evaluations},
                  {"seconds", record.seconds},
                  {"version", HARMONIA_VERSION}};
  return dump(json) + "\n";
}

std::string sweep_csv(const SweepResult& result) {
  std::string text = "radius,mean,low,high,stderr,rms,relative,rows\n";
  for (const SweepPoint& point : result.points) {
    const GammaStatistics& g = point.summary.gamma;
    text += fmt::format("{},{},{},{},{},{},{},{}\n", point.radius, csv_field(g.mean), csv_field(g.low),
                        csv_field(g.high), csv_field(g.standard_error), csv_field(g.rms),
                        csv_field(g.relative), g.rows);
  }
  return text;
}

std::string sweep_table(const GammaRunRecord& record, const SweepResult& result) {
  std::string text =
      fmt::format("gamma of {} against the radius on {}\n{}; output {}; seed {}\n\n",
                  printable(record.model.name, std::string::npos),
                  data_text(record.data, rows_of(result.points.front().summary)),
                  what_was_done(record, false), output_name(record.options.output), record.seed);
  double most = 0;
  std::size_t width = 8;
  for (const SweepPoint& point : result.points) {
    most = std::max(most, point.summary.gamma.mean.value_or(0));
    width = std::max(width, outcomes_text(point.summary).size());
  }
  text += fmt::format("  {:>10}  {:>12}  {:<26} outcomes\n", "radius", "mean gamma",
                      fmt::format("{:g} % interval", 100 * record.options.confidence));
  for (const SweepPoint& point : result.points) {
    const GammaStatistics& g = point.summary.gamma;
    const double share = most > 0 ? g.mean.value_or(0) / most : 0;
    text += fmt::format("  {:>10.4g}  {:>12}  {:<26} {:<{}}  {}\n", point.radius, number(g.mean),
                        interval(g.low, g.high), outcomes_text(point.summary), width,
                        std::string(static_cast<std::size_t>(share * kBar), '#'));
  }
  std::vector<std::string> paths;
  for (const SweepPoint& point : result.points) paths.push_back(point.summary.fast_path);
  return text + fmt::format("\n{}\n({})\n\n{}{}", sweep_text(result), interval_meaning(record.data),
                            cost_text(result.evaluations, record.seconds), fast_paths_text(paths));
}

}  // namespace harmonia
