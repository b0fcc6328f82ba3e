#include <fmt/format.h>

#include "gamma_json.hpp"
#include "harmonia/report/text_report.hpp"
#include "text_forms.hpp"
#include "text_values.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json ends(Json json, const std::optional<Interval>& interval) {
  json["low"] = interval ? Json(interval->low) : Json(nullptr);
  json["high"] = interval ? Json(interval->high) : Json(nullptr);
  return json;
}

Json mean_json(const PromptMean& mean) {
  return ends({{"mean", or_null(mean.mean)}, {"prompts", mean.prompts}}, mean.interval);
}

Json row_of(const TextRecord& record, const TextModelRecord& model, const TextRow& row) {
  const Prompt& prompt = record.prompts[row.prompt];
  const TextValues values = text_values(row, record.convention);
  Json json{{"model", model.result.model}, {"row", row.prompt}, {"prompt", prompt.text}};
  if (!prompt.id.empty()) json["id"] = prompt.id;
  if (!prompt.domain.empty()) json["domain"] = prompt.domain;
  if (prompt.correct) json["correct"] = *prompt.correct;
  if (prompt.rating) json["rating"] = *prompt.rating;
  json["family"] = family_name(row.family);
  json["answer"] = row.answer;
  json["gamma"] = or_null(values.gamma);
  json = ends(std::move(json), values.interval);
  json["plain"] = or_null(values.plain);
  json["floor"] = or_null(values.floor);
  json["excess"] = or_null(values.excess);
  json["resultant"] = or_null(values.resultant);
  json["paper"] = or_null(values.paper);
  json["band"] = row.gamma ? Json(band_name(band_of(*row.gamma))) : Json(nullptr);
  json["isotropy"] = or_null(row.isotropy);
  json["variants"] = row.answers.size();
  json["changed"] = row.gamma ? Json(row.gamma->changed) : Json(nullptr);
  json["refused"] = row.refused;
  json["failed"] = row.failed;
  json["calls"] = row.calls;
  json["tokens"] = row.tokens;
  json["outcome"] = text_outcome(row);
  if (!row.reason.empty()) json["reason"] = row.reason;
  Json answers = Json::array();
  for (std::size_t i = 0; i < row.answers.size(); ++i)
    answers.push_back({{"variant", row.variants[i]}, {"answer", row.answers[i]}});
  json["answers"] = std::move(answers);
  return json;
}

// A mean in radians has no other convention: it is the mean of values in the convention that is written.
Json family_json(const TextRecord& record, const TextModelRecord& model, const TextFamilySummary& summary) {
  Json settling = Json::array();
  for (const double value : summary.settling) settling.push_back(value);
  const double share = summary.variants == 0
                           ? 0
                           : static_cast<double>(summary.changed) / static_cast<double>(summary.variants);
  Json bands;
  for (std::size_t b = 0; b < summary.bands.size(); ++b)
    bands[std::string(band_name(static_cast<TrustBand>(b)))] = summary.bands[b];
  return {{"model", model.result.model},
          {"family", family_name(summary.family)},
          {"gamma", mean_json(mean_of(record, model, summary.family, &TextValues::gamma))},
          {"floor", mean_json(mean_of(record, model, summary.family, &TextValues::floor))},
          {"excess", mean_json(mean_of(record, model, summary.family, &TextValues::excess))},
          {"resultant", mean_json(summary.resultant)},
          {"isotropy", mean_json(summary.isotropy)},
          {"marked", summary.marked},
          {"variants", summary.variants},
          {"changed", summary.changed},
          {"changed_share", share},
          {"bands", std::move(bands)},
          {"settling_radians", std::move(settling)}};
}

Json score_json(const TextModelRecord& model, const TextScore& score) {
  Json json = ends({{"model", model.result.model}, {"score", score.name}, {"auroc", score.auroc.value}},
                   score.auroc.interval);
  json["wrong"] = score.wrong;
  json["right"] = score.right;
  if (score.less_than_gamma)
    json["gamma_minus_this"] = ends({{"difference", score.difference}}, score.less_than_gamma);
  return json;
}

Json ratings_json(const TextModelRecord& model, const TextRatings& ratings) {
  Json bands = Json::array();
  for (const RatedBand& band : ratings.bands) {
    Json json = mean_json(band.rating);
    json["band"] = band_name(band.band);
    bands.push_back(std::move(json));
  }
  Json json{{"model", model.result.model},
            {"domain", ratings.domain.empty() ? Json(nullptr) : Json(ratings.domain)}};
  json["rank_correlation"] =
      ratings.correlation ? ends({{"value", ratings.correlation->value}}, ratings.correlation->interval)
                          : Json(nullptr);
  json["bands"] = std::move(bands);
  return json;
}

Json ranking_json(const TextRecord& record, const TextRanking& ranking) {
  const auto name = [&](std::size_t m) { return record.models[m].result.model; };
  Json pairs = Json::array(), groups = Json::array();
  for (const ComparedPair& pair : ranking.pairs) {
    pairs.push_back({{"a", name(pair.a)},
                     {"b", name(pair.b)},
                     {"difference", or_null(pair.gamma.difference)},
                     {"low", or_null(pair.gamma.low)},
                     {"high", or_null(pair.gamma.high)},
                     {"rows", pair.gamma.rows},
                     {"verdict", verdict_name(pair.verdict)}});
  }
  for (const auto& group : ranking.groups) {
    Json names = Json::array();
    for (const std::size_t m : group) names.push_back(name(m));
    groups.push_back(std::move(names));
  }
  return {{"family", family_name(ranking.family)},
          {"convention", convention_name(ranking.convention)},
          {"ranking", std::move(groups)},
          {"pairs", std::move(pairs)}};
}

Json ascent_json(const TextRecord& record, const TextModelRecord& model, std::size_t prompt,
                 const AscentResult& ascent) {
  Json path = Json::array();
  for (const AscentStep& step : ascent.path) {
    Json json{{"prompt", step.prompt}, {"answer", step.answer}};
    json["gamma"] = in_convention(step.gamma.gamma, record.convention);
    std::optional<Interval> interval;
    if (step.gamma.interval) interval = in_convention(*step.gamma.interval, record.convention);
    json = ends(std::move(json), interval);
    json["calls"] = step.calls;
    path.push_back(std::move(json));
  }
  return {{"model", model.result.model}, {"row", prompt},         {"path", std::move(path)},
          {"best", ascent.best},         {"ended", ascent.ended}, {"calls", ascent.calls},
          {"tokens", ascent.tokens}};
}

Json options_of(const TextRecord& record) {
  Json families = Json::array();
  for (const PromptFamily family : record.options.families) families.push_back(family_name(family));
  const ChatParameters& asked = record.parameters;
  const auto told = [&](const auto& value) { return record.functions ? Json(nullptr) : Json(value); };
  return {{"convention", convention_name(record.convention)},
          {"families", std::move(families)},
          {"variants", record.options.variants},
          {"repeats", record.options.repeats},
          {"embedder", record.embedder},
          {"temperature", told(asked.temperature)},
          {"max_tokens", told(asked.max_tokens)},
          {"system", asked.system.empty() ? Json(nullptr) : told(asked.system)},
          {"chat_seed", asked.seed ? told(*asked.seed) : Json(nullptr)},
          {"confidence", record.options.confidence},
          {"seed", record.seed}};
}

}  // namespace

std::string text_json(const TextRecord& record) {
  Json models = Json::array(), rows = Json::array(), families = Json::array(), rankings = Json::array();
  Json scores = Json::array(), ratings = Json::array(), ascents = Json::array();
  for (const TextModelRecord& model : record.models) {
    models.push_back({{"name", model.result.model},
                      {"address", model.address},
                      {"calls", model.result.calls},
                      {"tokens", model.result.tokens}});
    for (const TextRow& row : model.result.rows) rows.push_back(row_of(record, model, row));
    for (const TextFamilySummary& summary : model.summaries)
      families.push_back(family_json(record, model, summary));
    for (const TextScore& score : model.scores) scores.push_back(score_json(model, score));
    for (std::size_t p = 0; p < model.ascents.size(); ++p)
      if (model.ascents[p]) ascents.push_back(ascent_json(record, model, p, *model.ascents[p]));
    for (const TextRatings& rated : model.ratings) ratings.push_back(ratings_json(model, rated));
  }
  for (const TextRanking& ranking : record.rankings) rankings.push_back(ranking_json(record, ranking));
  const Json json{{"schema", "harmonia/1"},
                  {"command", "text"},
                  {"models", std::move(models)},
                  {"data", {{"source", record.source}, {"rows", record.prompts.size()}}},
                  {"options", options_of(record)},
                  {"command_line", record.command_line},
                  {"rows", std::move(rows)},
                  {"summary",
                   {{"families", std::move(families)},
                    {"rankings", std::move(rankings)},
                    {"labels", std::move(scores)},
                    {"ratings", std::move(ratings)},
                    {"ascents", std::move(ascents)},
                    {"tokens", record.tokens},
                    {"warnings", record.warnings}}},
                  {"evaluations", record.calls},
                  {"seconds", record.seconds},
                  {"version", HARMONIA_VERSION}};
  return dump(json) + "\n";
}

}  // namespace harmonia
