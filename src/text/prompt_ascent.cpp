#include "harmonia/text/prompt_ascent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "text_embeddings.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kFirstLook = 4;  // variants that every candidate is measured with

// Answers by text, each asked for once.
class Answers {
 public:
  Answers(Chat& chat, Embedder& embedder, Run& run) : chat_(chat), embedder_(embedder), run_(run) {}

  void ask(const std::vector<std::string>& texts) {
    std::vector<ChatQuestion> questions;
    for (const std::string& text : texts)
      if (known_.try_emplace(text).second) questions.push_back({text, 0});
    chat_.ask(questions, [&](std::size_t place, ChatAnswer answer) {
      calls_ += answer.calls;
      tokens_ += answer.tokens;
      run_.ledger.spend(answer.calls);
      known_[questions[place].text] = std::move(answer);
    });
  }

  const ChatAnswer& operator[](const std::string& text) const { return known_.at(text); }
  bool answered(const std::string& text) const { return known_.at(text).outcome == ChatOutcome::answered; }

  // None without an answer and two of its variants' that have embeddings. All must have been asked.
  std::optional<TextGamma> gamma(const std::string& prompt, const std::vector<std::string>& variants,
                                 double confidence) {
    if (!answered(prompt)) return {};
    TextEmbeddings embeddings;
    const std::size_t own = embeddings.place(known_.at(prompt).text);
    std::vector<std::size_t> around;
    for (const std::string& variant : variants)
      if (answered(variant)) around.push_back(embeddings.place(known_.at(variant).text));
    if (around.size() < 2) return {};
    embeddings.embed(embedder_, run_.stop);
    std::erase_if(around, [&](std::size_t place) { return !embeddings.missing(place).empty(); });
    if (around.size() < 2 || !embeddings.missing(own).empty()) return {};
    return text_gamma(embeddings[own], embeddings.rows(around).view(), {}, confidence);
  }

  std::uint64_t calls() const { return calls_; }
  std::uint64_t tokens() const { return tokens_; }

 private:
  Chat& chat_;
  Embedder& embedder_;
  Run& run_;
  std::map<std::string, ChatAnswer> known_;
  std::uint64_t calls_ = 0, tokens_ = 0;
};

class Walk {
 public:
  Walk(Answers& answers, std::size_t number, const AscentOptions& options, Run& run)
      : answers_(answers), number_(number), options_(options), run_(run) {}

  AscentResult from(const std::string& prompt) {
    std::vector<std::string> around = variants(prompt, 0, options_.variants);
    ask(prompt, around);
    const auto gamma = answers_.gamma(prompt, around, options_.confidence);
    if (!gamma) {
      const ChatAnswer& own = answers_[prompt];
      throw Error(ErrorCode::model,
                  fmt::format("prompt {} has no gamma to start from: {}", in_quotes(prompt),
                              own.outcome == ChatOutcome::answered
                                  ? "its answer has no embedding, or fewer than 2 of its variants'"
                                  : own.reason));
    }
    stand(prompt, *gamma);
    std::size_t tried = 0;  // steps that found nothing better from here
    for (std::size_t step = 0; step < options_.steps; ++step) {
      const std::optional<Found> next = options_.paper ? best_of_all(tried) : better(tried);
      if (!next) {
        ++tried;
        if (stopped_) break;
      } else {
        tried = 0;
        stand(next->prompt, next->gamma);
      }
      if (run_.progress) run_.progress({step + 1, options_.steps, run_.ledger.spent()});
    }
    for (std::size_t i = 0; i < result_.path.size(); ++i)
      if (result_.path[i].gamma.gamma > result_.path[result_.best].gamma.gamma) result_.best = i;
    result_.calls = answers_.calls();
    result_.tokens = answers_.tokens();
    if (result_.ended.empty()) result_.ended = fmt::format("after {}", counted(options_.steps, "step"));
    return std::move(result_);
  }

 private:
  struct Found {
    std::string prompt;
    TextGamma gamma;
  };

  std::vector<std::string> variants(const std::string& text, std::size_t first, std::size_t count) const {
    std::vector<std::string> all = prompt_variants(text, options_.family, first + count, run_.seed, number_);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(first, all.size())));
    return all;
  }

  void ask(const std::string& prompt, std::vector<std::string> around) {
    around.push_back(prompt);
    answers_.ask(around);
  }

  void stand(const std::string& prompt, const TextGamma& gamma) {
    result_.path.push_back({prompt, answers_[prompt].text, gamma, answers_.calls()});
  }

  // gamma of every candidate with the first `count` of its variants, largest first; none of those without.
  std::vector<Found> measured(const std::vector<std::string>& candidates, std::size_t count) {
    std::vector<std::string> questions = candidates;
    for (const std::string& candidate : candidates)
      for (std::string& variant : variants(candidate, 0, count)) questions.push_back(std::move(variant));
    answers_.ask(questions);
    std::vector<Found> found;
    for (const std::string& candidate : candidates) {
      const auto gamma = answers_.gamma(candidate, variants(candidate, 0, count), options_.confidence);
      if (gamma) found.push_back({candidate, *gamma});
    }
    // The authors' walk goes by the angle as it is.
    const auto height = [&](const Found& f) { return options_.paper ? f.gamma.plain : f.gamma.gamma; };
    std::stable_sort(found.begin(), found.end(),
                     [&](const Found& a, const Found& b) { return height(a) > height(b); });
    if (found.empty()) stop("no candidate has a gamma: answers fail, or a cap was reached");
    return found;
  }

  void stop(const std::string& why) {
    stopped_ = true;
    result_.ended = why;
  }

  std::vector<std::string> candidates(std::size_t tried) const {
    return variants(result_.path.back().prompt, tried * options_.variants, options_.variants);
  }

  // The authors' step.
  std::optional<Found> best_of_all(std::size_t tried) {
    const std::vector<Found> found = measured(candidates(tried), options_.variants);
    if (found.empty()) return {};
    return found.front();
  }

  // The best candidate, if it is better on variants that it was not chosen by.
  std::optional<Found> better(std::size_t tried) {
    std::vector<Found> found = measured(candidates(tried), std::min(kFirstLook, options_.variants));
    std::vector<std::string> half;
    for (std::size_t i = 0; i < (found.size() + 1) / 2; ++i) half.push_back(found[i].prompt);
    if (!found.empty()) found = measured(half, options_.variants);
    if (found.empty()) return {};
    const std::string& best = found.front().prompt;
    const std::vector<std::string> fresh = variants(best, options_.variants, options_.variants);
    answers_.ask(fresh);
    const auto confirmed = answers_.gamma(best, fresh, options_.confidence);
    if (!confirmed) {
      stop("the best candidate could not be confirmed: answers fail, or a cap was reached");
      return {};
    }
    if (confirmed->gamma <= result_.path.back().gamma.gamma) return {};
    return Found{best, *confirmed};
  }

  Answers& answers_;
  std::size_t number_;
  const AscentOptions& options_;
  Run& run_;
  AscentResult result_;
  bool stopped_ = false;
};

}  // namespace

std::uint64_t ascent_calls(const AscentOptions& options) {
  const std::uint64_t n = options.variants;
  if (options.paper) return 1 + n + options.steps * n * (n + 1);
  const std::uint64_t first = std::min<std::uint64_t>(kFirstLook, n);
  // New candidates, their first variants, the rest of the better half's, fresh ones of the best.
  return 1 + n + options.steps * (n + n * first + (n + 1) / 2 * (n - first) + n);
}

AscentResult ascend_prompt(Chat& chat, Embedder& embedder, const std::string& prompt, std::size_t number,
                           const AscentOptions& options, Run& run) {
  check_confidence(options.confidence);
  if (options.variants < 2) {
    throw Error(ErrorCode::usage,
                fmt::format("{} of a prompt; expected at least 2", counted(options.variants, "variant")));
  }
  Answers answers(chat, embedder, run);
  return Walk(answers, number, options, run).from(prompt);
}

}  // namespace harmonia
