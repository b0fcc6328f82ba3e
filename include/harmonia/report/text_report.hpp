#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/text/prompt_ascent.hpp"
#include "harmonia/text/text_summary.hpp"

namespace harmonia {

/// One model of a study of texts, with what was found.
struct TextModelRecord {
  std::string address;  ///< of its endpoint
  TextResult result;
  std::vector<TextFamilySummary> summaries;  ///< one a family
  std::vector<TextScore> scores;             ///< against labels, where there are some
  std::vector<TextRatings> ratings;          ///< against ratings, where there are some
  std::vector<std::optional<AscentResult>>
      ascents;  ///< from every prompt, if asked; none where it has no gamma
};

/// What a study of texts says besides its numbers: all that is needed to repeat it.
struct TextRecord {
  std::string source;  ///< of the prompts
  std::vector<Prompt> prompts;
  std::string embedder;
  TextOptions options;
  ChatParameters parameters;
  bool functions = false;  ///< the models are functions of Python: what they do by `parameters` is not known
  AngleConvention convention = AngleConvention::angle;
  std::vector<TextModelRecord> models;
  std::vector<TextRanking> rankings;  ///< one a family, of several models
  std::uint64_t calls = 0, tokens = 0;
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
  std::vector<std::string> warnings;
};

/// What a reader of the record's models should know, a sentence each.
std::vector<std::string> text_warnings(const TextRecord& record);

/// The result as JSON.
std::string text_json(const TextRecord& record);
/// A line a model, prompt and family.
std::string text_csv(const TextRecord& record);
/// The result as text for a person.
std::string text_table(const TextRecord& record);

}  // namespace harmonia
