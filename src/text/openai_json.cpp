#include "openai_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "../core/json_kind.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kMostTokens = 1000000000;  // of a call; what says more is wrong

using Json = nlohmann::json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The surrogate that begins at `i` as \uXXXX: 1 a high one, 2 a low one, 0 none.
int surrogate_at(std::string_view text, std::size_t i) {
  if (i + 6 > text.size() || text[i] != '\\' || text[i + 1] != 'u') return 0;
  const auto lower = [&](std::size_t k) { return text[k] | 0x20; };
  if (lower(i + 2) != 'd') return 0;
  const int third = lower(i + 3);
  if (third == '8' || third == '9' || third == 'a' || third == 'b') return 1;
  return third >= 'c' && third <= 'f' ? 2 : 0;
}

// Half a character, escaped, is as broken as its bytes would be, and JSON's readers refuse it.
std::string repair_surrogates(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const int kind = surrogate_at(text, i);
    if (kind == 0) {
      ++i;  // the escaped character, which may be a backslash
    } else if (kind == 1 && surrogate_at(text, i + 6) == 2) {
      i += 11;
    } else {
      text.replace(i, 6, "\\ufffd");
      i += 5;
    }
  }
  return text;
}

// Discarded if it is no JSON.
Json parse(std::string_view body) {
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) json = Json::parse(repair_surrogates(repair_utf8(body)), nullptr, false);
  return json;
}

// A member of that name, or null.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

ChatAnswer failed(std::string reason) {
  ChatAnswer answer;
  answer.outcome = ChatOutcome::failed;
  answer.reason = std::move(reason);
  return answer;
}

std::string no_json(std::string_view body) {
  return body.empty() ? "its answer has no body" : fmt::format("its answer is not JSON: {}", in_quotes(body));
}

// The row of one embedding, checked but for its length.
std::vector<float> read_row(const Json& item, std::size_t text, const std::string& name) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::model, fmt::format("{}: the embedding of text {} {}", name, text + 1, what));
  };
  const Json& values = member(item, "embedding");
  if (!values.is_array()) fail(fmt::format("is {}; expected a list of numbers", json_kind(values)));
  std::vector<float> row;
  row.reserve(values.size());
  for (const Json& value : values) {
    if (!value.is_number()) fail(fmt::format("holds {}; expected numbers", json_kind(value)));
    row.push_back(static_cast<float>(value.get<double>()));
    if (!std::isfinite(row.back())) fail("holds a number that is not finite");
  }
  if (std::ranges::all_of(row, [](float value) { return value == 0; })) fail("holds only zeros");
  return row;
}

}  // namespace

std::string parameters_text(const ChatParameters& parameters) {
  Json json{{"temperature", parameters.temperature}, {"max_tokens", parameters.max_tokens}};
  if (!parameters.system.empty()) json["system"] = parameters.system;
  if (parameters.seed) json["seed"] = *parameters.seed;
  return text_of(json);  // keys are in order
}

std::string_view token_limit_name(TokenLimit limit) {
  return limit == TokenLimit::max_tokens ? "max_tokens" : "max_completion_tokens";
}

std::string chat_request(const std::string& model, const ChatParameters& parameters,
                         const ChatQuestion& question, TokenLimit limit) {
  Json messages = Json::array();
  if (!parameters.system.empty()) messages.push_back({{"role", "system"}, {"content", parameters.system}});
  messages.push_back({{"role", "user"}, {"content", question.text}});
  Json json{{"messages", std::move(messages)},
            {"temperature", parameters.temperature},
            {token_limit_name(limit), parameters.max_tokens},
            {"stream", false}};
  if (!model.empty()) json["model"] = model;
  if (parameters.seed) json["seed"] = *parameters.seed + question.repeat;
  return text_of(json);
}

ChatAnswer read_chat_answer(std::string_view body) {
  const Json json = parse(body);
  if (json.is_discarded()) return failed(no_json(body));
  const Json& choices = member(json, "choices");
  if (!choices.is_array() || choices.empty()) {
    return failed(fmt::format("its answer's choices are {}; expected a list of one", json_kind(choices)));
  }
  const Json& choice = choices.front();
  const Json& message = member(choice, "message");
  const Json& content = member(message, "content");
  if (!message.is_object() || !(content.is_string() || content.is_null())) {
    return failed(fmt::format("its answer's content is {}; expected a text", json_kind(content)));
  }
  ChatAnswer answer;
  if (content.is_string()) answer.text = content.get<std::string>();
  if (const Json& finish = member(choice, "finish_reason"); finish.is_string())
    answer.finish = printable(finish.get_ref<const std::string&>());
  if (const Json& tokens = member(member(json, "usage"), "total_tokens"); tokens.is_number_unsigned())
    answer.tokens = std::min(tokens.get<std::uint64_t>(), kMostTokens);
  answer.outcome = ChatOutcome::answered;
  if (trim(answer.text).empty()) {
    answer.outcome = ChatOutcome::empty;
    answer.reason = "the answer has no text";
    if (!answer.finish.empty()) answer.reason += fmt::format(" (finish reason {})", answer.finish);
  }
  return answer;
}

std::string embedding_request(const std::string& model, std::span<const std::string> texts) {
  Json json{{"input", std::vector<std::string>(texts.begin(), texts.end())}, {"encoding_format", "float"}};
  if (!model.empty()) json["model"] = model;
  return text_of(json);
}

Matrix<float> read_embeddings(std::string_view body, std::size_t count, const std::string& name) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::model, fmt::format("{}: {}", name, what));
  };
  const Json json = parse(body);
  if (json.is_discarded()) fail(no_json(body));
  const Json& data = member(json, "data");
  if (!data.is_array() || data.size() != count) {
    fail(fmt::format("its answer's data is {}; expected a list of {}", json_kind(data), count));
  }
  std::vector<std::vector<float>> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Where no index is said, they are in order.
    const Json& index = member(data[i], "index");
    const bool known = index.is_number_unsigned() && index.get<std::uint64_t>() < count;
    if (!known && !index.is_null())
      fail(fmt::format("its answer has index {}; expected 0 to {}", json_kind(index), count - 1));
    const std::size_t text = known ? index.get<std::size_t>() : i;
    if (!rows[text].empty()) fail(fmt::format("its answer has two embeddings of text {}", text + 1));
    rows[text] = read_row(data[i], text, name);
  }
  Matrix<float> result(count, count == 0 ? 0 : rows[0].size());
  for (std::size_t i = 0; i < count; ++i) {
    if (rows[i].size() != result.columns()) {
      fail(fmt::format("its embeddings have {} and {} numbers; expected as many of every text",
                       rows[0].size(), rows[i].size()));
    }
    std::ranges::copy(rows[i], result.row(i));
  }
  return result;
}

}  // namespace harmonia
