#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace harmonia {

/// A call of /chat/completions with the place of the text that is varied in it.
class ConversationCall {
 public:
  /// Throws Error(input) if there is nothing to vary: no JSON, no messages, no text of the user.
  explicit ConversationCall(std::string_view body);

  /// The user's last words: the last text of the last message whose role is user.
  const std::string& question() const { return question_; }
  /// The call with other words in their place, for one answer that comes whole. A seed is that of the client
  /// plus `repeat`. most_tokens: as in ConversationOptions.
  std::string with(const std::string& question, std::size_t repeat, std::size_t most_tokens) const;

 private:
  nlohmann::json json_;
  nlohmann::json::json_pointer place_;  // of the question
  std::string question_;
};

}  // namespace harmonia
