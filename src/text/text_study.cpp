#include "harmonia/text/text_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "distinct_questions.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "text_embeddings.hpp"

namespace harmonia {
namespace {

// Where the questions about one prompt in one family begin among all.
struct Asked {
  std::size_t own = 0;  // the prompt's; its repeats follow
  std::size_t first = 0, count = 0;
};

class Study {
 public:
  Study(std::span<const Prompt> prompts, const TextOptions& options, Run& run)
      : prompts_(prompts), options_(options), run_(run) {
    for (std::size_t p = 0; p < prompts.size(); ++p) {
      const std::size_t own = questions_.size();
      for (std::size_t r = 0; r <= options.repeats; ++r) questions_.push_back({prompts[p].text, r});
      for (const PromptFamily family : options.families) {
        const std::size_t first = questions_.size();
        for (std::string& variant : prompt_variants(prompts[p].text, family, options.variants, run.seed, p))
          questions_.push_back({std::move(variant), 0});
        asked_.push_back({own, first, questions_.size() - first});
        TextRow& row = rows_.emplace_back();
        row.prompt = p;
        row.family = family;
      }
    }
    answers_.resize(questions_.size());
  }

  void ask(Chat& chat) {
    std::vector<std::size_t> missing(prompts_.size(), 0);  // answers of each prompt
    std::vector<std::size_t> prompt_of(questions_.size(), 0);
    for (std::size_t p = 0, q = 0; p < prompts_.size(); ++p) {
      const std::size_t end =
          p + 1 < prompts_.size() ? asked_[(p + 1) * options_.families.size()].own : questions_.size();
      missing[p] = end - q;
      for (; q < end; ++q) prompt_of[q] = p;
    }
    std::size_t done = 0;
    const auto taken = [&](std::size_t place, ChatAnswer answer) {
      run_.ledger.spend(answer.calls);
      answers_[place] = std::move(answer);
      if (--missing[prompt_of[place]] == 0) ++done;
      if (run_.progress) run_.progress({done, prompts_.size(), run_.ledger.spent()});
    };
    const DistinctQuestions distinct(questions_);
    chat.ask(distinct.questions,
             [&](std::size_t number, ChatAnswer answer) { distinct.give(number, std::move(answer), taken); });
  }

  TextResult measure(Embedder& embedder, std::string model) {
    for (const ChatAnswer& answer : answers_)
      if (answer.outcome == ChatOutcome::answered) embeddings_.place(answer.text);
    if (options_.isotropy) place_questions();
    embeddings_.embed(embedder, run_.stop);
    if (const std::string& why = embeddings_.all_missing(); !why.empty()) throw Error(ErrorCode::model, why);
    TextResult result;
    result.model = std::move(model);
    for (const ChatAnswer& answer : answers_)
      if (answer.outcome == ChatOutcome::answered && embedder.cuts(answer.text)) ++result.cut;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      fill(rows_[i], asked_[i]);
      result.calls += rows_[i].calls;
      result.tokens += rows_[i].tokens;
    }
    result.rows = std::move(rows_);
    return result;
  }

 private:
  bool answered(std::size_t question) const { return answers_[question].outcome == ChatOutcome::answered; }
  std::size_t place(std::size_t question) { return embeddings_.place(answers_[question].text); }
  // Why the answer to a question has no embedding; empty: it has one.
  const std::string& unembedded(std::size_t question) { return embeddings_.missing(place(question)); }

  // Prompts with an answer, and those of their variants that have one.
  void place_questions() {
    for (const Asked& asked : asked_) {
      if (!answered(asked.own)) continue;
      embeddings_.place(questions_[asked.own].text);
      for (std::size_t q = asked.first; q < asked.first + asked.count; ++q)
        if (answered(q)) embeddings_.place(questions_[q].text);
    }
  }

  void count(TextRow& row, std::size_t first, std::size_t number) const {
    for (std::size_t q = first; q < first + number; ++q) {
      row.calls += answers_[q].calls;
      row.tokens += answers_[q].tokens;
    }
  }

  void fill(TextRow& row, const Asked& asked) {
    const ChatAnswer& own = answers_[asked.own];
    count(row, asked.first, asked.count);
    if (row.family == options_.families.front()) count(row, asked.own, 1 + options_.repeats);
    row.outcome = own.outcome;
    row.answer = own.text;
    std::vector<std::size_t> around, questions;  // places of embeddings
    for (std::size_t q = asked.first; q < asked.first + asked.count; ++q) {
      if (!answered(q) || !unembedded(q).empty()) {
        ++(answers_[q].outcome == ChatOutcome::refused ? row.refused : row.failed);
        if (row.reason.empty()) row.reason = answered(q) ? unembedded(q) : answers_[q].reason;
        continue;
      }
      around.push_back(place(q));
      if (options_.isotropy) questions.push_back(embeddings_.place(questions_[q].text));
      row.variants.push_back(questions_[q].text);
      row.answers.push_back(answers_[q].text);
    }
    if (!answered(asked.own)) {
      row.reason = own.reason;
      return;
    }
    if (const std::string& why = unembedded(asked.own); !why.empty()) {
      row.embedded = false;
      row.reason = why;
      return;
    }
    if (around.size() < 2) {
      if (asked.count == 0)
        row.reason = fmt::format("the family {} has no variants of it", family_name(row.family));
      row.reason = fmt::format("{} of {} variants answered; expected at least 2{}{}", around.size(),
                               asked.count, row.reason.empty() ? "" : ": ", row.reason);
      return;
    }
    row.reason.clear();
    measure(row, place(asked.own), around, asked);
    row.gamma->changed = static_cast<std::size_t>(std::count_if(
        row.answers.begin(), row.answers.end(), [&](const std::string& a) { return a != row.answer; }));
    if (options_.isotropy) row.isotropy = isotropy(embeddings_.place(questions_[asked.own].text), questions);
  }

  void measure(TextRow& row, std::size_t own, std::span<const std::size_t> around, const Asked& asked) {
    std::vector<std::size_t> same;
    for (std::size_t q = asked.own + 1; q <= asked.own + options_.repeats; ++q)
      if (answered(q) && unembedded(q).empty()) same.push_back(place(q));
    const Matrix<float> variants = embeddings_.rows(around), repeats = embeddings_.rows(same);
    row.gamma = text_gamma(embeddings_[own], variants.view(), repeats.view(), options_.confidence);
    if (options_.plain) take_plain(*row.gamma);
    for (std::size_t n = 2; n <= around.size(); ++n) {
      row.settling.push_back(
          text_gamma(embeddings_[own], variants.view().slice(0, n), {}, options_.confidence).gamma);
    }
  }

  // The interval stays that of the angle to the mean of all variants; it holds the value.
  static void take_plain(TextGamma& gamma) {
    gamma.gamma = gamma.plain;
    if (gamma.interval) {
      gamma.interval->low = std::min(gamma.interval->low, gamma.plain);
      gamma.interval->high = std::max(gamma.interval->high, gamma.plain);
    }
  }

  std::optional<double> isotropy(std::size_t own, std::vector<std::size_t> around) const {
    std::erase_if(around, [&](std::size_t place) { return !embeddings_.missing(place).empty(); });
    if (!embeddings_.missing(own).empty() || around.size() < 2) return std::nullopt;
    const Matrix<float> variants = embeddings_.rows(around);
    return std::cos(text_gamma(embeddings_[own], variants.view(), {}, options_.confidence).plain);
  }

  std::span<const Prompt> prompts_;
  const TextOptions& options_;
  Run& run_;
  std::vector<ChatQuestion> questions_;
  std::vector<ChatAnswer> answers_;
  std::vector<Asked> asked_;  // of each row
  std::vector<TextRow> rows_;
  TextEmbeddings embeddings_;
};

}  // namespace

std::uint64_t text_questions(std::size_t prompts, const TextOptions& options) {
  return prompts * (1 + options.repeats + options.families.size() * options.variants);
}

TextResult measure_text(Chat& chat, Embedder& embedder, std::span<const Prompt> prompts,
                        const TextOptions& options, Run& run) {
  check_confidence(options.confidence);
  if (options.variants < 2) {
    throw Error(ErrorCode::usage,
                fmt::format("{} of a prompt; expected at least 2", counted(options.variants, "variant")));
  }
  if (options.families.empty()) throw Error(ErrorCode::usage, "no family of variants; expected at least one");
  Study study(prompts, options, run);
  study.ask(chat);
  return study.measure(embedder, chat.name());
}

}  // namespace harmonia
