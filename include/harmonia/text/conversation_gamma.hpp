#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/text/embedder.hpp"
#include "harmonia/text/endpoint.hpp"
#include "harmonia/text/perturbation.hpp"
#include "harmonia/text/text_angle.hpp"

namespace harmonia {

/// What is asked about a conversation besides what its client asked.
struct ConversationOptions {
  std::size_t variants = 10;  ///< of the last message of the user
  std::size_t repeats = 0;    ///< further answers to the unchanged conversation, for the noise floor
  PromptFamily family = PromptFamily::appended;
  std::size_t most_tokens = 1024;  ///< of an answer, where the client asked for more or said nothing; 0: as
                                   ///< the client has it
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Bytes that a call, and its answer, may have to be measured; what is longer is passed on all the same.
constexpr std::size_t kLongestMeasured = std::size_t{1} << 24;

/// A call of /chat/completions that was answered.
struct ConversationTask {
  std::string call;                  ///< the body that the client sent
  std::string answer;                ///< the text that it got
  std::vector<std::string> headers;  ///< "Name: value" that go with further calls, such as the client's key
  std::uint64_t number = 0;          ///< of the call: variants are a function of it and the seed
};

/// What was measured of it, or why not.
struct ConversationGamma {
  std::optional<TextGamma> gamma;
  std::string reason;  ///< in a line, if there is no gamma
  std::size_t refused = 0,
              failed = 0;  ///< variants without an answer that can be used: not taken, and all others
  std::size_t cut = 0;     ///< answers to variants that ended at the number of tokens, not by themselves
  std::uint64_t calls = 0, tokens = 0;
};

/// Measures answers of an endpoint: the last message of the user is varied, the rest of the conversation and
/// the parameters stay as the client has them, but answers come whole and no longer than `most_tokens`. One
/// call at a time.
class ConversationMeter {
 public:
  /// endpoint: its model and key are not used, the client's are. embedder: outlives the meter; `embedding` is
  /// held while it is used, so that meters can share it. Throws Error(usage) for options that cannot be used.
  ConversationMeter(EndpointOptions endpoint, const ConversationOptions& options, Embedder& embedder,
                    std::mutex& embedding);
  ~ConversationMeter();
  ConversationMeter(const ConversationMeter&) = delete;
  ConversationMeter& operator=(const ConversationMeter&) = delete;

  /// Whatever fails is in the result; throws Error(interrupted) alone.
  ConversationGamma measure(const ConversationTask& task);

 private:
  class Asker;
  EndpointOptions endpoint_;
  ConversationOptions options_;
  Embedder& embedder_;
  std::mutex& embedding_;
  std::unique_ptr<Asker> asker_;  // of the last task's headers, with its connections
};

/// The answer that a client got.
struct ChatReply {
  std::string id;  ///< that the endpoint gave it; may be empty
  std::string text;
};

/// Reads an answer that came whole; none if it is no answer to a chat, or longer than kLongestMeasured.
std::optional<ChatReply> read_chat_reply(std::string_view body);

/// Puts an answer together that comes as a stream of server-sent events.
class StreamedReply {
 public:
  /// Takes further bytes of the stream, cut anywhere.
  void add(std::string_view bytes);
  /// The stream has ended: takes a last line that has no end of its own.
  void end();
  /// The first choice's text so far.
  const ChatReply& reply() const { return reply_; }
  /// Whether it is longer than is kept: then it is cut.
  bool too_long() const { return too_long_; }

 private:
  void take_line(std::string_view line);

  ChatReply reply_;
  std::string line_;
  bool too_long_ = false;
};

/// The answer with one more member at its end, all other bytes as they are; none if it is no JSON object or
/// has such a member. value: JSON.
std::optional<std::string> with_member(const std::string& body, std::string_view name,
                                       std::string_view value);

}  // namespace harmonia
