#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"

namespace harmonia {

/// How an OpenAI-compatible endpoint is talked to (llama.cpp, vLLM, Ollama, commercial ones).
struct EndpointOptions {
  std::string url;                   ///< base, such as http://127.0.0.1:8080/v1; /chat/completions is added
  std::string model;                 ///< the name the endpoint knows it by
  std::string key;                   ///< sent as a bearer token; appears in no message and no result
  std::vector<std::string> headers;  ///< further "Name: value"; values appear in no message
  std::string ca_file;               ///< PEM file of trusted authorities; empty: the system's
  std::size_t in_flight = 8;         ///< most requests at once
  double timeout_seconds = 120;      ///< longest wait for one answer
  int retries = 4;                   ///< further tries after a lost connection, 429 or 5xx
  std::size_t longest_answer = std::size_t{1} << 22;  ///< bytes of one HTTP answer
  std::stop_token stop;
};

/// What may be spent in all; shared by the models of a run.
struct ChatBudget {
  std::uint64_t calls = 0, tokens = 0;                   ///< spent; retries count
  std::optional<std::uint64_t> most_calls, most_tokens;  ///< a call is not made if one of them is reached
};

/// Chat completions over libcurl's multi interface: as many requests in flight as allowed, connections kept.
/// 429, 5xx and lost connections are tried again with growing pauses or what Retry-After asks for, while
/// others go on; 400, 413 and 422 are refusals of the text. A wrong key or an unknown model (401, 403, 404)
/// throws Error(model). budget: must outlive the chat.
std::unique_ptr<Chat> open_chat_endpoint(EndpointOptions options, ChatParameters parameters,
                                         ChatBudget& budget);

/// The /embeddings of an endpoint, up to 64 texts a request.
std::unique_ptr<Embedder> open_embedding_endpoint(EndpointOptions options);

}  // namespace harmonia
