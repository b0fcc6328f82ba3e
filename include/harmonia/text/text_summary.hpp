#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/measure/compare.hpp"
#include "harmonia/text/text_study.hpp"

namespace harmonia {

/// A mean over prompts; the interval is of the population that the prompts are a random sample of.
struct PromptMean {
  std::size_t prompts = 0;
  std::optional<double> mean;
  std::optional<Interval> interval;  ///< none for fewer than two prompts
};

/// The mean of one value a prompt.
PromptMean prompt_mean(std::span<const double> values, double confidence);

/// The prompts of one family in one model; angles in radians.
struct TextFamilySummary {
  PromptFamily family = PromptFamily::appended;
  std::size_t marked = 0;  ///< prompts without a value
  PromptMean resultant, isotropy;
  std::uint64_t variants = 0, changed = 0;  ///< answers of all prompts, and those that are another text
  std::array<std::size_t, 3> bands{};       ///< prompts by TrustBand
  std::vector<double> settling;  ///< mean gamma of the first 2, 3, … variants, of prompts that have all
};

/// One summary a family, in the order of the options.
std::vector<TextFamilySummary> summarise_text(const TextResult& result, const TextOptions& options);

/// Several models on the same prompts and the same variants of them, in one family.
struct TextRanking {
  PromptFamily family = PromptFamily::appended;
  AngleConvention convention = AngleConvention::angle;  ///< of the differences
  std::vector<ComparedPair> pairs;  ///< with probability >= confidence all their intervals hold together
  std::vector<std::vector<std::size_t>> groups;  ///< steadiest first, models that cannot be ordered together
};

/// Compares models in pairs over the prompts that both have a value for. angles: in which convention gamma is
/// compared; instead of `sin`, which is less for larger angles beyond 90 degrees, by the angle itself.
TextRanking rank_text(std::span<const TextResult> results, PromptFamily family, AngleConvention angles,
                      double confidence);

/// How well a number tells wrong answers from right ones.
struct TextScore {
  std::string name;
  std::size_t wrong = 0, right = 0;  ///< prompts with a label and a number
  Auroc auroc;                       ///< that a wrong answer has the larger number
  std::optional<Interval>
      less_than_gamma;    ///< where AUROC of gamma minus this one lies; none for gamma itself
  double difference = 0;  ///< its value
};

/// Ratings of the answers in one band of gamma.
struct RatedBand {
  TrustBand band = TrustBand::trustworthy;
  PromptMean rating;
};

/// gamma against what people said of the answers, in one domain.
struct TextRatings {
  std::string domain;                      ///< empty: all
  std::optional<Correlation> correlation;  ///< of ranks [Spearman]; below 0 where lower gamma is better rated
  std::vector<RatedBand> bands;
};

/// gamma, answer length and, where asked, the scatter of plain resampling, against labels; in one family.
/// resampled: one a prompt, empty if it was not asked. Empty without labels of both kinds.
std::vector<TextScore> score_labels(const TextResult& result, std::span<const Prompt> prompts,
                                    PromptFamily family, std::span<const std::optional<double>> resampled,
                                    double confidence);

/// gamma against ratings, in all and by domain; empty without ratings.
std::vector<TextRatings> score_ratings(const TextResult& result, std::span<const Prompt> prompts,
                                       PromptFamily family, double confidence);

/// What plain resampling says of every prompt: √(Σ‖v − mean‖²/(n − 1)) of the unit embeddings of `answers`
/// answers to the unchanged prompt; none where fewer than two came. `chat` should answer at temperature 1.
std::vector<std::optional<double>> resampling_scatter(Chat& chat, Embedder& embedder,
                                                      std::span<const Prompt> prompts, std::size_t answers,
                                                      Run& run);

}  // namespace harmonia
