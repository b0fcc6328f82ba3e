#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace harmonia {

/// How every model is asked; the same for all, so that they can be compared.
struct ChatParameters {
  double temperature = 0;
  std::size_t max_tokens = 256;           ///< of an answer
  std::string system;                     ///< system prompt; empty: none
  std::optional<std::uint64_t> seed = 1;  ///< sent to the endpoint, repeat r with seed + r; none: not sent
};

/// One question to a model.
struct ChatQuestion {
  std::string text;
  std::size_t repeat = 0;  ///< 0, or the number of a further answer to the same text
};

/// What became of a question.
enum class ChatOutcome {
  answered,
  refused,   ///< the endpoint will not take this text (HTTP 400, 413, 422); it was not asked again
  failed,    ///< no answer that can be used, after all tries
  too_long,  ///< the answer is longer than the client takes
  empty,     ///< the answer has no text
  unasked,   ///< a cap on calls or tokens was reached before
};
/// The name that results use.
std::string chat_outcome_name(ChatOutcome outcome);

/// An answer, or why there is none.
struct ChatAnswer {
  ChatOutcome outcome = ChatOutcome::unasked;
  std::string text;
  std::string reason;        ///< in a line, if there is no answer
  std::string finish;        ///< why the model ended: "stop", "length", or what the endpoint says
  std::uint64_t tokens = 0;  ///< that the endpoint counted for question and answer; 0 if it does not say
  std::uint64_t calls = 0;   ///< requests that were made for it; 0 if it was stored before, tokens are kept
  bool more = false;         ///< another came with it, and is given next: they can be stored together
};

/// Anything that answers prompts.
class Chat {
 public:
  virtual ~Chat() = default;
  /// What errors and results call it.
  virtual const std::string& name() const = 0;
  /// Asks all questions, several at once, and calls `taken` from the calling thread with the place of a
  /// question and its answer, in any order, each once. A question that cannot be answered has an outcome
  /// that says why. Throws Error(interrupted) when stopped; what was taken before is valid.
  virtual void ask(std::span<const ChatQuestion> questions,
                   const std::function<void(std::size_t, ChatAnswer)>& taken) = 0;
};

}  // namespace harmonia
