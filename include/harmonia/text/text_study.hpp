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
  bool isotropy = true;  ///< embed the prompts and their variants too
  bool plain = false;    ///< gamma is the angle as it is, as the authors have it
  double confidence = 0.95;
};

/// Questions to a model at most: (1 + repeats + families · variants) a prompt; fewer where a family has no
/// variants of a prompt, or some of them are alike.
std::uint64_t text_questions(std::size_t prompts, const TextOptions& options);

/// One prompt in one family.
struct TextRow {
  std::size_t prompt = 0;  ///< place in the list
  PromptFamily family = PromptFamily::appended;
  ChatOutcome outcome = ChatOutcome::unasked;  ///< of the prompt's own question
  std::string reason;                          ///< in a line, if there is no value
  std::string answer;                          ///< to the prompt itself
  bool embedded = true;                        ///< whether that answer has an embedding, if there is one
  std::optional<TextGamma> gamma;              ///< none without an answer and two of its variants'
  std::vector<double> settling;                ///< gamma of the first 2, 3, … variants
  std::optional<double> isotropy;       ///< cosine of the prompt's embedding with the mean of its variants'
  std::vector<std::string> variants;    ///< that were answered, by a text that has an embedding
  std::vector<std::string> answers;     ///< to them, in order
  std::size_t refused = 0, failed = 0;  ///< variants without one: not taken, and all others
  std::uint64_t calls = 0,
                tokens = 0;  ///< of this family; in the first one also of the prompt and its repeats
};

/// All prompts through one model.
struct TextResult {
  std::string model;
  std::vector<TextRow> rows;  ///< by prompt, then family
  std::uint64_t calls = 0, tokens = 0;
  std::size_t cut = 0;  ///< answers of which the embedder takes only the beginning
};

/// Asks a model about every prompt, its repeats and its variants, each text once, embeds the answers and
/// measures their angles. Every text is embedded once, so that identical answers give exactly 0. A prompt
/// that cannot be measured is marked, and the rest goes on. Progress counts prompts and calls. Throws
/// Error(usage) for fewer than two variants or no family, Error(model) if no text at all could be embedded.
TextResult measure_text(Chat& chat, Embedder& embedder, std::span<const Prompt> prompts,
                        const TextOptions& options, Run& run);

}  // namespace harmonia
