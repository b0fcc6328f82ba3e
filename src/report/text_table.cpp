#include <fmt/format.h>

#include <algorithm>

#include "harmonia/core/text.hpp"
#include "harmonia/report/text_report.hpp"
#include "text_forms.hpp"
#include "text_values.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kShownRows = 20;   // of a model and family, largest gamma first
constexpr std::size_t kShownBytes = 44;  // of a prompt and of an answer

std::string interval_of(const std::optional<Interval>& ends) {
  return ends ? interval(ends->low, ends->high) : std::string("-");
}

std::string mean_text(const PromptMean& mean) {
  return fmt::format("{} {}", number(mean.mean), interval_of(mean.interval));
}

std::string row_text(const TextRecord& record, const TextRow& row) {
  const TextValues values = text_values(row, record.convention);
  const std::string prompt = printable(record.prompts[row.prompt].text, kShownBytes);
  if (!row.gamma) {
    return fmt::format("  {:>9}  {:<22} {}: {}; {}\n", "-", "-", prompt, text_outcome(row),
                       printable(row.reason, 200));
  }
  return fmt::format("  {:>9}  {:<22} {:>9} {:>9} {:>9}  {:>7}  {:<22}  {}\n", number(values.gamma),
                     interval_of(values.interval), number(values.floor), number(values.excess),
                     number(values.resultant), fmt::format("{}/{}", row.gamma->changed, row.gamma->variants),
                     band_name(band_of(*row.gamma)), prompt);
}

std::string family_text(const TextRecord& record, const TextModelRecord& model,
                        const TextFamilySummary& summary) {
  std::vector<const TextRow*> rows;
  for (const TextRow& row : model.result.rows)
    if (row.family == summary.family) rows.push_back(&row);
  const auto size = [](const TextRow* row) { return row->gamma ? row->gamma->gamma : -1; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const TextRow* a, const TextRow* b) { return size(a) > size(b); });
  std::string text =
      fmt::format("{}, {} variants\n", printable(model.result.model), family_name(summary.family));
  text += fmt::format("  {:>9}  {:<22} {:>9} {:>9} {:>9}  {:>7}  {:<22}  {}\n", "gamma",
                      fmt::format("{:g} % interval", 100 * record.options.confidence), "floor", "excess",
                      "resultant", "changed", "band", "prompt");
  for (std::size_t i = 0; i < std::min(rows.size(), kShownRows); ++i) text += row_text(record, *rows[i]);
  if (rows.size() > kShownRows) text += fmt::format("  … and {} with less\n", rows.size() - kShownRows);
  text += fmt::format("  mean gamma {}, floor {}, excess {} over {}\n",
                      mean_text(mean_of(record, model, summary.family, &TextValues::gamma)),
                      number(mean_of(record, model, summary.family, &TextValues::floor).mean),
                      number(mean_of(record, model, summary.family, &TextValues::excess).mean),
                      counted(summary.resultant.prompts, "prompt"));
  text += fmt::format("  {} of {} variants had another answer", grouped(summary.changed),
                      grouped(summary.variants));
  for (std::size_t b = 0; b < summary.bands.size(); ++b)
    text +=
        fmt::format("{} {} {}", b == 0 ? ";" : ",", summary.bands[b], band_name(static_cast<TrustBand>(b)));
  if (summary.marked > 0) text += fmt::format("; {} without a value", counted(summary.marked, "prompt"));
  if (summary.isotropy.mean) text += fmt::format("; isotropy {}", number(summary.isotropy.mean));
  return text + "\n\n";
}

std::string ranking_text(const TextRecord& record, const TextRanking& ranking) {
  const auto name = [&](std::size_t m) { return printable(record.models[m].result.model); };
  std::string text = fmt::format("steadiest first, {} variants, by '{}':", family_name(ranking.family),
                                 convention_name(ranking.convention));
  for (std::size_t g = 0; g < ranking.groups.size(); ++g) {
    text += g == 0 ? " " : ", then ";
    for (std::size_t i = 0; i < ranking.groups[g].size(); ++i)
      text += fmt::format("{}{}", i == 0 ? "" : " and ", name(ranking.groups[g][i]));
    if (ranking.groups[g].size() > 1) text += " (not to be ordered)";
  }
  text += "\n";
  for (const ComparedPair& pair : ranking.pairs) {
    text +=
        fmt::format("  {} − {}: {} {} over {}\n", name(pair.a), name(pair.b), number(pair.gamma.difference),
                    interval(pair.gamma.low, pair.gamma.high), counted(pair.gamma.rows, "prompt"));
  }
  return text + "\n";
}

std::string scores_text(const TextModelRecord& model) {
  std::string text =
      fmt::format("does it tell wrong answers of {}? AUROC, 0.5 is chance\n", printable(model.result.model));
  for (const TextScore& score : model.scores) {
    text += fmt::format("  {:<14} {} {}, {} wrong, {} right", score.name, number(score.auroc.value),
                        interval_of(score.auroc.interval), score.wrong, score.right);
    if (score.less_than_gamma)
      text += fmt::format("; gamma is better by {} {}", number(score.difference),
                          interval_of(score.less_than_gamma));
    text += "\n";
  }
  return text + "\n";
}

std::string ratings_text(const TextModelRecord& model) {
  std::string text =
      fmt::format("ratings of {} against gamma (rank correlation; lower gamma better rated if below 0)\n",
                  printable(model.result.model));
  for (const TextRatings& rated : model.ratings) {
    text += fmt::format("  {:<16} {}", rated.domain.empty() ? "all" : printable(rated.domain),
                        rated.correlation ? fmt::format("{} {}", number(rated.correlation->value),
                                                        interval_of(rated.correlation->interval))
                                          : std::string("too few ratings, or all alike"));
    for (const RatedBand& band : rated.bands)
      text += fmt::format("; {}: {} ({})", band_name(band.band), mean_text(band.rating), band.rating.prompts);
    text += "\n";
  }
  return text + "\n";
}

std::string ascents_text(const TextRecord& record, const TextModelRecord& model) {
  std::string text =
      fmt::format("ascents of {}: prompts to which γ is larger, from each\n", printable(model.result.model));
  for (const std::optional<AscentResult>& ascent : model.ascents) {
    if (!ascent) continue;
    for (std::size_t i = 0; i < ascent->path.size(); ++i) {
      const AscentStep& step = ascent->path[i];
      text += fmt::format("  {:>9}  {} {} → {}\n", number(in_convention(step.gamma.gamma, record.convention)),
                          i == ascent->best ? "*" : " ", in_quotes(step.prompt),
                          printable(step.answer, kShownBytes));
    }
    text += fmt::format("  {:>9}  ended {}; {}\n", "", ascent->ended, counted(ascent->calls, "call"));
  }
  return text + "\n";
}

}  // namespace

std::string text_table(const TextRecord& record) {
  std::string text =
      fmt::format("{} of {}: {} of each family, {} of the unchanged prompt; {}embedder {}; seed {}\n",
                  counted(record.prompts.size(), "prompt"), printable(record.source),
                  counted(record.options.variants, "variant"), counted(record.options.repeats, "repeat"),
                  record.functions ? "" : fmt::format("temperature {:g}; ", record.parameters.temperature),
                  printable(record.embedder), record.seed);
  text += fmt::format("gamma in the convention '{}'; bands by the authors' own √(1 − cos θ)\n\n",
                      convention_name(record.convention));
  for (const TextModelRecord& model : record.models)
    for (const TextFamilySummary& summary : model.summaries) text += family_text(record, model, summary);
  for (const TextRanking& ranking : record.rankings) text += ranking_text(record, ranking);
  for (const TextModelRecord& model : record.models) {
    if (!model.scores.empty()) text += scores_text(model);
    if (!model.ratings.empty()) text += ratings_text(model);
    if (!model.ascents.empty()) text += ascents_text(record, model);
  }
  const std::string tokens = record.functions ? "" : fmt::format(", {} tokens", grouped(record.tokens));
  return text + fmt::format("{} calls{} in {:.1f} s\n", grouped(record.calls), tokens, record.seconds);
}

std::string text_csv(const TextRecord& record) {
  std::string text =
      "model,row,id,domain,family,prompt,answer,gamma,low,high,plain,floor,excess,resultant,paper,band,"
      "variants,changed,"
      "refused,failed,isotropy,calls,tokens,outcome,convention\n";
  for (const TextModelRecord& model : record.models) {
    for (const TextRow& row : model.result.rows) {
      const Prompt& prompt = record.prompts[row.prompt];
      const TextValues v = text_values(row, record.convention);
      text += fmt::format("{},{},{},{},{},{},{}", csv_field(model.result.model), row.prompt,
                          csv_field(prompt.id), csv_field(prompt.domain), family_name(row.family),
                          csv_field(prompt.text), csv_field(row.answer));
      text +=
          fmt::format(",{},{},{},{},{},{},{},{}", csv_field(v.gamma),
                      v.interval ? fmt::format("{}", v.interval->low) : "",
                      v.interval ? fmt::format("{}", v.interval->high) : "", csv_field(v.plain),
                      csv_field(v.floor), csv_field(v.excess), csv_field(v.resultant), csv_field(v.paper));
      text += fmt::format(",{},{},{},{},{},{},{},{},{},{}\n", row.gamma ? band_name(band_of(*row.gamma)) : "",
                          row.answers.size(), row.gamma ? fmt::format("{}", row.gamma->changed) : "",
                          row.refused, row.failed, csv_field(row.isotropy), row.calls, row.tokens,
                          text_outcome(row), convention_name(record.convention));
    }
  }
  return text;
}

}  // namespace harmonia
