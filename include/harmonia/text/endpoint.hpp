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
  std::string model;                 ///< the name the endpoint knows it by; empty: not sent
  std::string key;                   ///< sent as a bearer token; appears in no message and no result
  std::vector<std::string> headers;  ///< further "Name: value"; values appear in no message
  std::string ca_file;               ///< PEM file of trusted authorities; empty: the system's
  std::size_t in_flight = 8;         ///< most requests at once
  double timeout_seconds = 120;      ///< longest wait for one answer
  int retries = 4;                   ///< further tries after a lost connection, 429 or 5xx
  std::size_t longest_answer = std::size_t{1}
                               << 22;  ///< bytes of an HTTP answer, for each text that was sent
  std::stop_token stop;
};

/// The address that a chat endpoint is known by, however it is written: without a slash or /chat/completions
/// at its end. Throws Error(usage) for options that cannot be used.
std::string endpoint_base(const EndpointOptions& options);

/// What may be spent in all; shared by the models of a run, which are asked from one thread.
struct ChatBudget {
  std::uint64_t calls = 0;  ///< that were made; further tries count
  std::uint64_t tokens =
      0;  ///< that were spent; where the endpoint does not count them, what a call may take
  /// A call is made if it stays below both, whatever is in flight. Of tokens it may take max_tokens, as many
  /// as the question has bytes, and 64 for the template around it.
  std::optional<std::uint64_t> most_calls, most_tokens;
};

/// Chat completions over libcurl's multi interface: as many requests in flight as allowed, connections kept.
/// 429, 5xx, lost connections and answers that cannot be read are tried again after 100 ms, 200 ms, …, or
/// what Retry-After asks for but no longer than the time-out, while others go on; a time-out is tried again
/// once. 400, 413 and 422 are refusals of the text, but one that names max_completion_tokens:
/// that is sent instead of max_tokens from then on. What is true of all texts, a wrong key or an unknown
/// model (3xx, 401 to 405) or a server that was never reached, throws Error(model). One call at a time.
/// budget: must outlive the chat. Throws Error(usage) for options that cannot be used.
std::unique_ptr<Chat> open_chat_endpoint(const EndpointOptions& options, const ChatParameters& parameters,
                                         ChatBudget& budget);

/// The /embeddings of an endpoint, up to 64 texts a request. Tries again as a chat does. What then fails is
/// asked for in halves, and halves of these, until the texts that have no embedding are known; but not after
/// a time-out or 429. Where nothing in a request that was taken apart had one, and it was not refused, the
/// server is down: what else fails is missing, until an answer comes.
std::unique_ptr<Embedder> open_embedding_endpoint(const EndpointOptions& options);

}  // namespace harmonia
