#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/text/chat.hpp"
#include "harmonia/text/endpoint.hpp"
#include "support/inference_stand_in.hpp"

namespace harmonia::test {

/// The text that a request asks.
inline std::string asked(const Request& request) {
  return nlohmann::json::parse(request.body)["messages"].back()["content"].get<std::string>();
}

/// A right answer with this text; tokens 0: not counted.
inline Reply chat_reply(const std::string& text, std::uint64_t tokens = 0) {
  nlohmann::json body{
      {"choices",
       {{{"index", 0}, {"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", "stop"}}}}};
  if (tokens > 0) body["usage"] = {{"total_tokens", tokens}};
  return with_body(body.dump());
}

/// "re: TEXT".
inline Reply right_reply(const Request& request) { return chat_reply("re: " + asked(request)); }

inline std::vector<ChatQuestion> questions(std::size_t count, const std::string& text = "question ") {
  std::vector<ChatQuestion> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({text + std::to_string(i), 0});
  return all;
}

/// Every question's answer. `order`: the places as they were taken.
inline std::vector<ChatAnswer> ask(Chat& chat, std::span<const ChatQuestion> all,
                                   std::vector<std::size_t>* order = nullptr) {
  std::vector<ChatAnswer> answers(all.size());
  std::vector<int> times(all.size());
  chat.ask(all, [&](std::size_t place, ChatAnswer answer) {
    answers.at(place) = std::move(answer);
    ++times.at(place);
    if (order != nullptr) order->push_back(place);
  });
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(times[i], 1) << "question " << i;
  return answers;
}

inline EndpointOptions options_for(const StandInServer& server) {
  EndpointOptions options;
  options.url = server.url() + "/v1";
  options.model = "m";
  options.timeout_seconds = 20;
  return options;
}

inline std::size_t count_of(std::span<const ChatAnswer> answers, ChatOutcome outcome) {
  std::size_t count = 0;
  for (const ChatAnswer& answer : answers) count += answer.outcome == outcome ? 1 : 0;
  return count;
}

}  // namespace harmonia::test
