#include <algorithm>
#include <map>
#include <numeric>

#include "distinct_questions.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/text/text_summary.hpp"
#include "text_embeddings.hpp"

namespace harmonia {
namespace {

// One number of every prompt, none where it has none.
using Column = std::vector<std::optional<double>>;

Column column_of(const TextResult& result, std::size_t prompts, PromptFamily family, auto value) {
  Column column(prompts);
  for (const TextRow& row : result.rows)
    if (row.family == family && row.gamma) column[row.prompt] = value(row);
  return column;
}

// The numbers of answers that are wrong, and right; of prompts that both columns have.
struct Groups {
  std::vector<double> wrong, right;
};
Groups groups_of(std::span<const Prompt> prompts, const Column& column, const Column& other) {
  Groups groups;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    if (!prompts[p].correct || !column[p] || !other[p]) continue;
    (*prompts[p].correct ? groups.right : groups.wrong).push_back(*column[p]);
  }
  return groups;
}

// Ranks from 1, equal values in the middle of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i)
      ranks[order[i]] = (static_cast<double>(first) + static_cast<double>(end) + 1) / 2;
  }
  return ranks;
}

TextRatings rate(const std::string& domain, const std::vector<const TextRow*>& rows,
                 std::span<const Prompt> prompts, double confidence) {
  TextRatings ratings;
  ratings.domain = domain;
  std::vector<double> gammas, rated;
  std::map<TrustBand, std::vector<double>> bands;
  for (const TextRow* row : rows) {
    gammas.push_back(row->gamma->gamma);
    rated.push_back(*prompts[row->prompt].rating);
    bands[band_of(*row->gamma)].push_back(rated.back());
  }
  ratings.correlation = correlation(ranks_of(gammas), ranks_of(rated), confidence);
  for (const auto& [band, values] : bands) ratings.bands.push_back({band, prompt_mean(values, confidence)});
  return ratings;
}

}  // namespace

std::vector<TextScore> score_labels(const TextResult& result, std::span<const Prompt> prompts,
                                    PromptFamily family, std::span<const std::optional<double>> resampled,
                                    double confidence) {
  const Column gamma =
      column_of(result, prompts.size(), family, [](const TextRow& row) { return row.gamma->gamma; });
  std::vector<std::pair<std::string, Column>> columns{
      {"gamma", gamma}, {"answer length", column_of(result, prompts.size(), family, [](const TextRow& row) {
                           return static_cast<double>(row.answer.size());
                         })}};
  if (!resampled.empty()) columns.emplace_back("resampling", Column(resampled.begin(), resampled.end()));
  std::vector<TextScore> scores;
  for (const auto& [name, column] : columns) {
    const Groups own = groups_of(prompts, column, gamma), its_gamma = groups_of(prompts, gamma, column);
    if (own.wrong.empty() || own.right.empty()) continue;
    TextScore score;
    score.name = name;
    score.wrong = own.wrong.size();
    score.right = own.right.size();
    score.auroc = auroc(own.wrong, own.right, confidence);
    if (name != "gamma") {
      const AurocDifference difference =
          auroc_difference({its_gamma.wrong, own.wrong, its_gamma.right, own.right}, confidence);
      score.difference = difference.value;
      score.less_than_gamma = difference.interval;
    }
    scores.push_back(score);
  }
  return scores;
}

std::vector<TextRatings> score_ratings(const TextResult& result, std::span<const Prompt> prompts,
                                       PromptFamily family, double confidence) {
  std::map<std::string, std::vector<const TextRow*>> domains;
  std::vector<const TextRow*> all;
  for (const TextRow& row : result.rows) {
    if (row.family != family || !row.gamma || !prompts[row.prompt].rating) continue;
    all.push_back(&row);
    if (!prompts[row.prompt].domain.empty()) domains[prompts[row.prompt].domain].push_back(&row);
  }
  if (all.empty()) return {};
  std::vector<TextRatings> ratings{rate("", all, prompts, confidence)};
  for (const auto& [domain, rows] : domains) ratings.push_back(rate(domain, rows, prompts, confidence));
  return ratings;
}

std::vector<std::optional<double>> resampling_scatter(Chat& chat, Embedder& embedder,
                                                      std::span<const Prompt> prompts, std::size_t answers,
                                                      Run& run) {
  std::vector<ChatQuestion> questions;
  for (const Prompt& prompt : prompts)
    for (std::size_t repeat = 0; repeat < answers; ++repeat) questions.push_back({prompt.text, repeat});
  std::vector<std::optional<std::size_t>> places(questions.size());
  TextEmbeddings embeddings;
  std::size_t done = 0;
  const auto taken = [&](std::size_t question, const ChatAnswer& answer) {
    run.ledger.spend(answer.calls);
    if (answer.outcome == ChatOutcome::answered) places[question] = embeddings.place(answer.text);
    if (run.progress) run.progress({++done / answers, prompts.size(), run.ledger.spent()});
  };
  const DistinctQuestions distinct(questions);
  chat.ask(distinct.questions,
           [&](std::size_t number, ChatAnswer answer) { distinct.give(number, std::move(answer), taken); });
  embeddings.embed(embedder, run.stop);
  std::vector<std::optional<double>> scatter(prompts.size());
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    std::vector<std::size_t> own;
    for (std::size_t i = p * answers; i < (p + 1) * answers; ++i)
      if (places[i] && embeddings.missing(*places[i]).empty()) own.push_back(*places[i]);
    if (own.size() >= 2) scatter[p] = text_scatter(embeddings.rows(own).view());
  }
  return scatter;
}

}  // namespace harmonia
