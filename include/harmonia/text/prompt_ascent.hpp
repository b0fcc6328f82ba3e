#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"
#include "harmonia/text/perturbation.hpp"
#include "harmonia/text/text_angle.hpp"

namespace harmonia {

/// How a prompt is walked to where gamma is larger.
struct AscentOptions {
  std::size_t steps = 5;
  std::size_t variants = 10;  ///< of a prompt: those that gamma is measured with, and that it may move to
  PromptFamily family = PromptFamily::utf8;
  /// The authors' walk: gamma at every variant, each with variants of its own, and on to the largest, even
  /// if it is less than before. N(N + 1) calls a step.
  bool paper = false;
  double confidence = 0.95;
};

/// A prompt that the walk stood at.
struct AscentStep {
  std::string prompt, answer;
  TextGamma gamma;
  std::uint64_t calls = 0;  ///< until it was reached, from the start
};

/// Where a walk went.
struct AscentResult {
  std::vector<AscentStep> path;  ///< the given prompt first
  std::size_t best = 0;          ///< place of the largest gamma in the path
  std::string ended;             ///< why, in a line
  std::uint64_t calls = 0, tokens = 0;
};

/// Calls that a walk makes at most.
std::uint64_t ascent_calls(const AscentOptions& options);

/// Walks from a prompt to ones with larger gamma. By default the variants whose answers are known already are
/// the candidates; all are measured with four variants of their own, the better half with all, and the best
/// is confirmed with fresh ones before the walk moves there, and only if its gamma is larger: the path rises.
/// Where no candidate is, the next step tries others. An answer is asked for once. Ends early, with a path
/// that says how far it came, if answers fail or a cap on calls is reached. `number` keys the draws. Throws
/// Error(model) if the prompt itself has no gamma.
AscentResult ascend_prompt(Chat& chat, Embedder& embedder, const std::string& prompt, std::size_t number,
                           const AscentOptions& options, Run& run);

}  // namespace harmonia
