#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"
#include "harmonia/text/perturbation.hpp"
#include "harmonia/text/prompts.hpp"
#include "harmonia/text/text_angle.hpp"

namespace harmonia {

/// What is asked about every prompt.
struct TextOptions {
  std::size_t variants = 10;  ///< of each family
  std::size_t repeats = 3;    ///< further answers to the unchanged prompt, for the noise floor
  std::vector<PromptFamily> families{PromptFamily::appended};
  double confidence = 0.95;
};

/// Calls that a study makes at most, for every model: (1 + repeats + families · variants) a prompt.
std::uint64_t text_calls(std::size_t prompts, const TextOptions& options);

/// One prompt in one family.
struct TextRow {
  std::size_t prompt = 0;  ///< place in the list
  PromptFamily family = PromptFamily::appended;
  /// answered: measured; otherwise what became of the prompt's own question, or of too many variants.
  ChatOutcome outcome = ChatOutcome::unasked;
  std::string reason;                   ///< in a line, if there is no value
  std::string answer;                   ///< to the prompt itself
  std::optional<TextGamma> gamma;       ///< none without an answer and at least two variants' answers
  std::size_t refused = 0, failed = 0;  ///< variants without an answer
  std::vector<std::string> variants;    ///< texts that were asked and answered
  std::vector<std::string> answers;     ///< to the variants, in order
  std::optional<double> isotropy;       ///< cosine of the prompt's embedding with the mean of its variants'
  std::uint64_t
      calls = 0,
      tokens = 0;  ///< of the prompt in this family; its own answer and repeats count in the first family
};

/// All prompts through one model.
struct TextResult {
  std::string model;
  std::vector<TextRow> rows;  ///< by prompt, then family
  std::uint64_t calls = 0, tokens = 0;
};

/// Asks a model about every prompt, its variants and its repeats, embeds the answers and measures the
/// angles. Every text is embedded once, so that identical answers give exactly 0. A prompt that cannot be
/// measured is marked, and the rest goes on. run.ledger counts calls.
TextResult measure_text(Chat& chat, Embedder& embedder, std::span<const Prompt> prompts,
                        const TextOptions& options, Run& run);

}  // namespace harmonia
