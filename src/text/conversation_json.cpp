#include "conversation_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../core/json_kind.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/text/conversation_gamma.hpp"
#include "openai_json.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

[[noreturn]] void unusable(const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("the call {}", what));
}

// A member of that name, or null.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

// Reading goes as deep as a text does, writing only as deep as the stack.
bool is_deep(std::string_view body) {
  constexpr int kDeepest = 200;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

ConversationCall::ConversationCall(std::string_view body) {
  if (body.size() > kLongestMeasured)
    unusable(fmt::format("has {} bytes; expected at most {}", body.size(), kLongestMeasured));
  if (is_deep(body)) unusable("is nested too deeply");
  json_ = Json::parse(body, nullptr, false);
  if (json_.is_discarded()) unusable("is not JSON");
  const Json& messages = member(json_, "messages");
  if (!messages.is_array())
    unusable(fmt::format("has messages that are {}; expected a list", json_kind(messages)));
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (member(messages[i], "role") != "user") continue;
    const Json& content = member(messages[i], "content");
    place_ = Json::json_pointer() / "messages" / i / "content";
    if (content.is_array()) {
      std::size_t part = content.size();
      while (part-- > 0)
        if (member(content[part], "text").is_string()) break;
      if (part >= content.size()) unusable("has no text in the last message of the user");
      place_ = place_ / part / "text";
    } else if (!content.is_string()) {
      unusable(fmt::format("has {} as the last message of the user; expected a text", json_kind(content)));
    }
    question_ = json_.at(place_).get<std::string>();
    if (trim(question_).empty()) unusable("has no text in the last message of the user");
    return;
  }
  unusable("has no message of the user");
}

std::string ConversationCall::with(const std::string& question, std::size_t repeat,
                                   std::size_t most_tokens) const {
  Json call = json_;
  call[place_] = question;
  call["stream"] = false;
  call.erase("stream_options");
  call.erase("n");
  if (Json& seed = call["seed"]; seed.is_number_unsigned()) {
    seed = seed.get<std::uint64_t>() + repeat;
  } else if (seed.is_null()) {
    call.erase("seed");
  }
  if (most_tokens > 0) {
    // Two names of one thing; servers know one or both.
    const char* const name = call.contains("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
    const Json& asked = member(call, name);
    if (!asked.is_number_unsigned() || asked.get<std::uint64_t>() > most_tokens) call[name] = most_tokens;
  }
  return call.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ChatReply> read_chat_reply(std::string_view body) {
  if (body.size() > kLongestMeasured) return std::nullopt;
  ChatAnswer answer = read_chat_answer(body);
  if (answer.outcome == ChatOutcome::failed) return std::nullopt;
  ChatReply reply;
  reply.text = std::move(answer.text);
  if (const Json json = Json::parse(body, nullptr, false); member(json, "id").is_string())
    reply.id = member(json, "id").get<std::string>();
  return reply;
}

void StreamedReply::add(std::string_view bytes) {
  while (!too_long_ && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    too_long_ = line_.size() > kLongestMeasured || reply_.text.size() > kLongestMeasured;
    if (end == std::string_view::npos) return;
    take_line(line_);
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
}

void StreamedReply::end() {
  if (!too_long_) take_line(line_);
  line_.clear();
}

void StreamedReply::take_line(std::string_view line) {
  constexpr std::string_view kData = "data:";
  if (!line.starts_with(kData)) return;
  line = trim(line.substr(kData.size()));
  if (!line.starts_with('{')) return;  // [DONE]
  const Json event = Json::parse(line, nullptr, false);
  if (event.is_discarded()) return;
  if (const Json& id = member(event, "id"); reply_.id.empty() && id.is_string())
    reply_.id = id.get<std::string>();
  const Json& choices = member(event, "choices");
  if (!choices.is_array()) return;
  for (const Json& choice : choices) {
    const Json& index = member(choice, "index");
    if (!index.is_null() && index != 0) continue;
    if (const Json& text = member(member(choice, "delta"), "content"); text.is_string())
      reply_.text += text.get_ref<const std::string&>();
  }
}

std::optional<std::string> with_member(const std::string& body, std::string_view name,
                                       std::string_view value) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || json.contains(name)) return std::nullopt;
  if (body.find('\0') != std::string::npos) return std::nullopt;  // the parser takes it for the end
  const std::size_t end = body.rfind('}');
  std::string longer = body.substr(0, end);
  longer += fmt::format("{}\"{}\":{}", json.empty() ? "" : ",", name, value);
  longer += body.substr(end);
  return longer;
}

}  // namespace harmonia
