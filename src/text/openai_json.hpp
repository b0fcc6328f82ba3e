#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "harmonia/core/rows.hpp"
#include "harmonia/text/chat.hpp"

/// The messages of OpenAI-compatible endpoints, as text. No function here talks to anyone.
namespace harmonia {

/// The parameters in one way alone, so that equal ones can be found again. Holds no key.
std::string parameters_text(const ChatParameters& parameters);

/// How a request says the most tokens of an answer. Servers know the first or both; some models of one maker
/// the second alone.
enum class TokenLimit { max_tokens, max_completion_tokens };
/// The name in requests.
std::string_view token_limit_name(TokenLimit limit);

/// The body of POST …/chat/completions. model: left out if empty.
std::string chat_request(const std::string& model, const ChatParameters& parameters,
                         const ChatQuestion& question, TokenLimit limit);

/// Reads the answer to it: answered, empty, or failed with what is wrong. Broken UTF-8 is replaced.
ChatAnswer read_chat_answer(std::string_view body);

/// The body of POST …/embeddings. model: left out if empty.
std::string embedding_request(const std::string& model, std::span<const std::string> texts);

/// Reads the answer to `count` texts: a row each. Throws Error(model), whose message begins with `name`, for
/// what cannot be used: a text without an embedding, lengths that differ, numbers that are not finite, only
/// zeros.
Matrix<float> read_embeddings(std::string_view body, std::size_t count, const std::string& name);

}  // namespace harmonia
