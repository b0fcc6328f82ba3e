#include "harmonia/report/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gamma_json.hpp"
#include "harmonia/core/text.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::size_t> ranks_of(const CompareResult& result) {
  std::vector<std::size_t> ranks(result.summaries.size());
  std::size_t rank = 1;
  for (const auto& group : result.ranking) {
    for (const std::size_t m : group) ranks[m] = rank;
    rank += group.size();
  }
  return ranks;
}

// Their names in the order of the ranking.
std::string names_of(const CompareRecord& record, const std::vector<std::size_t>& group) {
  std::string text;
  for (const std::size_t m : group)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", printable(record.models[m].name));
  return text;
}

const ComparedPair& pair_of(const CompareResult& result, std::size_t m, std::size_t n) {
  return *std::find_if(result.pairs.begin(), result.pairs.end(), [&](const ComparedPair& pair) {
    return pair.a == std::min(m, n) && pair.b == std::max(m, n);
  });
}

// "0.0372 [0.033, 0.041]": by how much `lower` is below `higher`.
std::string distance_text(const CompareResult& result, std::size_t lower, std::size_t higher) {
  const ComparedPair& pair = pair_of(result, lower, higher);
  const PairedDifference& d = pair.gamma;
  if (pair.a == higher) return fmt::format("{} {}", number(d.difference), interval(d.low, d.high));
  const auto negative = [](std::optional<double> value) {
    if (value) *value = 0 - *value;
    return value;
  };
  return fmt::format("{} {}", number(negative(d.difference)), interval(negative(d.high), negative(d.low)));
}

Json pair_json(const CompareRecord& record, const ComparedPair& pair) {
  return {{"a", record.models[pair.a].name},
          {"b", record.models[pair.b].name},
          {"difference", or_null(pair.gamma.difference)},
          {"low", or_null(pair.gamma.low)},
          {"high", or_null(pair.gamma.high)},
          {"rows", pair.gamma.rows},
          {"verdict", verdict_name(pair.verdict)}};
}

// By columns: a point a row, and what each model says there.
Json points_json(const CompareRecord& record, const CompareResult& result) {
  Json json{{"row", result.rows}, {"x", Json::array()}, {"models", Json::array()}};
  for (std::size_t i = 0; i < result.x.rows(); ++i) {
    json["x"].push_back(
        values_json(std::vector<double>(result.x.row(i), result.x.row(i) + result.x.columns())));
  }
  for (std::size_t m = 0; m < record.models.size(); ++m) {
    const GammaColumns& columns = result.columns[m];
    Json classes = Json::array();
    for (const auto& decided : columns.decided_class) classes.push_back(or_null(decided));
    json["models"].push_back({{"name", record.models[m].name},
                              {"class", std::move(classes)},
                              {"gamma", values_json(columns.gamma)},
                              {"value", values_json(columns.value)}});
  }
  return json;
}

Json compare_summary_json(const CompareRecord& record, const CompareResult& result) {
  Json ranking = Json::array();
  for (const auto& group : result.ranking) {
    Json names = Json::array();
    for (const std::size_t m : group) names.push_back(record.models[m].name);
    ranking.push_back(std::move(names));
  }
  return {{"ranking", std::move(ranking)},
          {"text", compare_text(record, result)},
          {"intervals", fmt::format("all pairs' intervals hold together with probability {}; {}",
                                    record.asked.options.confidence, interval_meaning(record.asked.data))},
          {"warnings", record.warnings}};
}

}  // namespace

std::string compare_text(const CompareRecord& record, const CompareResult& result) {
  if (result.ranking.size() < 2) {
    return fmt::format("{} are indistinguishable on these rows", names_of(record, result.ranking.front()));
  }
  std::string text;
  for (std::size_t g = 0; g < result.ranking.size(); ++g) {
    const auto& group = result.ranking[g];
    text += fmt::format("{}{}", g == 0 ? "lowest gamma: " : ", then ", names_of(record, group));
    if (group.size() > 1) text += " (not to be ordered)";
    if (g > 0)
      text +=
          fmt::format(", higher by {}", distance_text(result, result.ranking[g - 1].back(), group.front()));
  }
  return text;
}

std::string compare_json(const CompareRecord& record, const CompareResult& result) {
  const GammaRunRecord& asked = record.asked;
  const std::vector<std::size_t> ranks = ranks_of(result);
  Json models = Json::array();
  for (std::size_t m = 0; m < record.models.size(); ++m) {
    Json json = model_json(record.models[m], "name");
    if (const std::string& path = result.summaries[m].fast_path; !path.empty()) json["balls"] = path;
    json["rank"] = ranks[m];
    json["gamma"] = statistics_json(result.summaries[m].gamma);
    json["outcomes"] = outcomes_json(result.summaries[m]);
    models.push_back(std::move(json));
  }
  Json rows = Json::array();
  for (const ComparedPair& pair : result.pairs) rows.push_back(pair_json(record, pair));
  Json json{{"schema", "harmonia/1"},
            {"command", "compare"},
            {"models", std::move(models)},
            {"options", options_json(asked)},
            {"command_line", asked.command_line},
            {"rows", std::move(rows)},
            {"data", data_json(asked.data, result.rows.size())},
            {"summary", compare_summary_json(record, result)}};
  if (result.x.rows() > 0) json["points"] = points_json(record, result);
  json["evaluations"] = result.evaluations;
  json["seconds"] = asked.seconds;
  json["version"] = HARMONIA_VERSION;
  return dump(json) + "\n";
}

std::string compare_csv(const CompareRecord& record, const CompareResult& result) {
  std::string text = "row,id,label";
  for (const ModelInfo& model : record.models) text += "," + csv_field("gamma " + model.name);
  text += "\n";
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    text += fmt::format("{},{},{}", result.rows[i], result.ids.empty() ? "" : csv_field(result.ids[i]),
                        result.labels.empty() ? "" : csv_field(result.labels[i]));
    for (const GammaColumns& columns : result.columns) {
      text += std::isnan(columns.gamma[i]) ? "," : fmt::format(",{}", columns.gamma[i]);
    }
    text += "\n";
  }
  return text;
}

std::string compare_table(const CompareRecord& record, const CompareResult& result) {
  const GammaRunRecord& asked = record.asked;
  const std::vector<std::size_t> ranks = ranks_of(result);
  std::string text = fmt::format("{} models on {}\n{}; output {}; seed {}\n\n", record.models.size(),
                                 data_text(asked.data, result.rows.size()), what_was_done(asked),
                                 output_name(asked.options.output), asked.seed);
  std::size_t width = 5;
  for (const ModelInfo& model : record.models) width = std::max(width, printable(model.name).size());
  const std::string percent = fmt::format("{:g} %", 100 * asked.options.confidence);
  text += fmt::format("  rank  {:<{}}  {:>12}  {:<26} {:>12}  {:>12}  outcomes\n", "model", width,
                      "mean gamma", percent + " interval", "rms", "of spread");
  for (const auto& group : result.ranking) {
    for (const std::size_t m : group) {
      const GammaStatistics& g = result.summaries[m].gamma;
      text += fmt::format("  {:>4}  {:<{}}  {:>12}  {:<26} {:>12}  {:>12}  {}\n", ranks[m],
                          printable(record.models[m].name), width, number(g.mean), interval(g.low, g.high),
                          number(g.rms), number(g.relative), outcomes_text(result.summaries[m]));
    }
  }
  text += fmt::format("\n  {:<{}}  {:<{}}  {:>12}  {:<26} {}\n", "a", width, "b", width, "a − b",
                      percent + (result.pairs.size() > 1 ? " for all pairs" : " interval"), "lower");
  for (const ComparedPair& pair : result.pairs) {
    const std::string &a = record.models[pair.a].name, &b = record.models[pair.b].name;
    const std::string said = pair.verdict == Verdict::a_lower   ? printable(a)
                             : pair.verdict == Verdict::b_lower ? printable(b)
                                                                : "indistinguishable";
    text += fmt::format("  {:<{}}  {:<{}}  {:>12}  {:<26} {}\n", printable(a), width, printable(b), width,
                        number(pair.gamma.difference), interval(pair.gamma.low, pair.gamma.high), said);
  }
  std::vector<std::string> paths;
  for (const GammaSummary& summary : result.summaries) paths.push_back(summary.fast_path);
  return text + fmt::format("\n{}\n({})\n\n{}{}", compare_text(record, result), interval_meaning(asked.data),
                            cost_text(result.evaluations, asked.seconds), fast_paths_text(paths));
}

}  // namespace harmonia
