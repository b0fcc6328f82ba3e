#include <gtest/gtest.h>

#include <latch>
#include <nlohmann/json.hpp>
#include <string>

#include "harmonia/text/conversation_gamma.hpp"
#include "harmonia/text/conversation_queue.hpp"
#include "support/chat_stand_in.hpp"
#include "support/expect_error.hpp"
#include "support/texts.hpp"

namespace harmonia::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kStream =
    "data: "
    "{\"id\":\"c-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\r\n\r\n"
    ": a comment\n\n"
    "data: {\"id\":\"c-1\",\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n\n"
    "data: {\"id\":\"c-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\xc3\xbc\xc3\x9f\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\" Gott\\n\"}}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n"
    "data: broken}\n\n"
    "data: [DONE]\n\n";

TEST(Conversation, AStreamIsPutTogetherWhereverItIsCut) {
  const std::string stream = kStream;
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    StreamedReply reply;
    for (std::size_t first = 0; first < stream.size(); first += piece) reply.add(stream.substr(first, piece));
    EXPECT_EQ(reply.reply().text, "Grüß Gott\n") << piece;
    EXPECT_EQ(reply.reply().id, "c-1");
    EXPECT_FALSE(reply.too_long());
  }
}

TEST(Conversation, AStreamWithoutAnEndIsNotKept) {
  StreamedReply reply;
  const std::string much(std::size_t{1} << 20, 'x');
  for (std::size_t i = 0; i <= kLongestMeasured / much.size(); ++i) reply.add(much);
  EXPECT_TRUE(reply.too_long());
}

TEST(Conversation, ALastLineNeedsNoEnd) {
  StreamedReply reply;
  reply.add(
      "data: {\"choices\":[{\"delta\":{\"content\":\"Grüß\"}}]}\n\ndata: "
      "{\"choices\":[{\"delta\":{\"content\":\" Gott\"}}]}");
  reply.end();
  EXPECT_EQ(reply.reply().text, "Grüß Gott");
  reply.end();
  EXPECT_EQ(reply.reply().text, "Grüß Gott");
}

TEST(Conversation, AMemberIsAddedAndNoOtherByteChanges) {
  EXPECT_EQ(with_member("{\"a\": 1.50e0 }\n", "harmonia", "{}"), "{\"a\": 1.50e0 ,\"harmonia\":{}}\n");
  EXPECT_EQ(with_member(" {} ", "m", "1"), " {\"m\":1} ");
  EXPECT_EQ(with_member("{\"a\":\"}\"}", "m", "null"), "{\"a\":\"}\",\"m\":null}");
  EXPECT_EQ(with_member(std::string("{\"a\":1}\0{}", 11), "m", "1"), std::nullopt);
  for (const char* other : {"", "[]", "{\"m\":1}", "{\"a\":1", "{} {}", "7", "null"})
    EXPECT_FALSE(with_member(other, "m", "1").has_value()) << other;
}

TEST(Conversation, AnswersHaveAnIdAndAText) {
  const auto reply = read_chat_reply(R"({"id":"c","choices":[{"message":{"content":"hi"}}]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->id, "c");
  EXPECT_EQ(reply->text, "hi");
  EXPECT_TRUE(read_chat_reply(R"({"id":7,"choices":[{"message":{"content":null}}]})")->id.empty());
  EXPECT_FALSE(read_chat_reply("<html>"));
  EXPECT_FALSE(read_chat_reply(R"({"error":{}})"));
}

// Variants are answered with the angle, the conversation itself with 0.
ConversationGamma measured(const std::string& call, const ConversationOptions& options,
                           std::vector<Json>* sent = nullptr) {
  std::mutex mutex, embedding;
  StandInServer server([&](const Request& request) {
    const std::lock_guard lock(mutex);
    if (sent != nullptr) sent->push_back(Json::parse(request.body));
    const Json asked = Json::parse(request.body);
    Reply reply = chat_reply(asked["messages"].back()["content"] == "hello" ? "0.0" : "0.25", 10);
    return reply;
  });
  AngleEmbedder embedder;
  ConversationMeter meter(options_for(server), options, embedder, embedding);
  ConversationTask task;
  task.call = call;
  task.answer = "0.0";
  task.number = 3;
  return meter.measure(task);
}

TEST(Conversation, GammaIsTheAngleToTheVariantsAnswers) {
  ConversationOptions options;
  options.variants = 5;
  options.repeats = 2;
  options.most_tokens = 100;
  std::vector<Json> sent;
  const ConversationGamma found = measured(
      R"({"model":"other","n":3,"max_completion_tokens":500,"seed":7,"messages":[{"role":"user","content":"hello"}]})",
      options, &sent);
  ASSERT_TRUE(found.gamma) << found.reason;
  EXPECT_NEAR(found.gamma->gamma, 0.25, 1e-6);
  EXPECT_EQ(found.gamma->variants, 5U);
  EXPECT_EQ(found.gamma->changed, 5U);
  EXPECT_EQ(found.gamma->floor, 0.0);
  EXPECT_EQ(found.calls, 7U);
  EXPECT_EQ(found.tokens, 70U);
  ASSERT_EQ(sent.size(), 7U);
  std::multiset<int> seeds;
  for (const Json& call : sent) {
    EXPECT_EQ(call["model"], "other");
    EXPECT_EQ(call["max_completion_tokens"], 100);
    EXPECT_FALSE(call.contains("max_tokens"));
    EXPECT_FALSE(call.contains("n"));
    EXPECT_EQ(call["stream"], false);
    seeds.insert(call["seed"].get<int>());
  }
  EXPECT_EQ(seeds, (std::multiset<int>{7, 7, 7, 7, 7, 8, 9}));
}

TEST(Conversation, FewerTokensThanTheCapAreLeftAndNoneIsLeftOut) {
  ConversationOptions options;
  options.variants = 2;
  std::vector<Json> sent;
  const std::string messages = R"("messages":[{"role":"user","content":"hello"}])";
  EXPECT_TRUE(measured("{\"max_tokens\":5," + messages + "}", options, &sent).gamma);
  EXPECT_TRUE(measured("{" + messages + "}", options, &sent).gamma);
  options.most_tokens = 0;
  EXPECT_TRUE(measured("{" + messages + "}", options, &sent).gamma);
  ASSERT_EQ(sent.size(), 6U);
  EXPECT_EQ(sent[0]["max_tokens"], 5);
  EXPECT_EQ(sent[2]["max_tokens"], 1024);
  EXPECT_FALSE(sent[4].contains("max_tokens"));
  EXPECT_FALSE(sent[4].contains("seed"));
}

TEST(Conversation, WhatCannotBeVariedIsSaid) {
  const std::pair<std::string, std::string> cases[] = {
      {"no", "the call is not JSON"},
      {"[]", "the call has messages that are null; expected a list"},
      {R"({"messages":{}})", "the call has messages that are an object; expected a list"},
      {R"({"messages":[{"role":"system","content":"a"}]})", "the call has no message of the user"},
      {R"({"messages":[{"role":"user","content":7}]})",
       "the call has the number 7 as the last message of the user; expected a text"},
      {R"({"messages":[{"role":"user","content":[{"image_url":""}]}]})",
       "the call has no text in the last message of the user"},
      {R"({"messages":[{"role":"user","content":" "}]})",
       "the call has no text in the last message of the user"},
      {R"({"messages":[{"role":"user","content":"a"}],"x":)" + std::string(300, '[') + std::string(300, ']') +
           "}",
       "the call is nested too deeply"}};
  for (const auto& [call, reason] : cases) {
    const ConversationGamma found = measured(call, {});
    EXPECT_FALSE(found.gamma);
    EXPECT_EQ(found.reason, reason);
  }
  ConversationOptions one;
  one.variants = 1;
  expect_error(ErrorCode::usage, "1 variant of a message; expected at least 2",
               [&] { static_cast<void>(measured("{}", one)); });
}

ConversationQueue::Measure throwing(const std::string& reason) {
  return [reason](const ConversationTask&) -> ConversationGamma { throw Error(ErrorCode::model, reason); };
}

TEST(ConversationQueue, KeepsTheLastIdsAndTheirOtherNames) {
  ConversationQueueOptions options;
  options.kept = 2;
  ConversationQueue queue(options, [] { return throwing("no"); });
  const std::string first = queue.open(), second = queue.open();
  queue.also_known_as(first, "a");
  queue.also_known_as(second, "b");
  EXPECT_EQ(queue.find("a")->id, first);
  const std::string third = queue.open();
  queue.also_known_as(third, "b");  // an endpoint that uses an id again: the last one is meant
  EXPECT_FALSE(queue.find(first));
  EXPECT_FALSE(queue.find("a"));
  EXPECT_EQ(queue.find("b")->id, third);
  const std::string fourth = queue.open();
  EXPECT_EQ(queue.find("b")->id, third);
  EXPECT_FALSE(queue.find(second));
  queue.fail(fourth, "why");
  EXPECT_EQ(queue.find(fourth)->result.reason, "why");
  EXPECT_NE(third, fourth);
}

TEST(ConversationQueue, WhatMeasuringThrowsIsTheReason) {
  ConversationQueue queue({}, [] { return throwing("it broke"); });
  const std::string id = queue.open();
  queue.enter(id, {});
  const auto found = queue.wait(id, std::chrono::minutes(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, MeasurementStatus::failed);
  EXPECT_EQ(found->result.reason, "it broke");
}

TEST(ConversationQueue, IsBoundedAndDropsWhatWaitsWhenItCloses) {
  std::latch begun(1), go(1);
  ConversationQueueOptions options;
  options.threads = 1;
  options.most_pending = 1;
  ConversationQueue queue(options, [&] {
    return [&](const ConversationTask&) {
      begun.count_down();
      go.wait();
      return ConversationGamma{};
    };
  });
  const std::string under_way = queue.open(), waiting = queue.open(), too_many = queue.open();
  queue.enter(under_way, {});
  begun.wait();
  queue.enter(waiting, {});
  queue.enter(too_many, {});
  EXPECT_EQ(queue.find(too_many)->result.reason, "the queue is full (1 waiting)");
  EXPECT_EQ(queue.find(waiting)->status, MeasurementStatus::pending);
  EXPECT_EQ(queue.close(), 2U);
  go.count_down();
  queue.enter(queue.open(), {});  // not taken any more
  EXPECT_LE(queue.close(), 1U);
}

}  // namespace
}  // namespace harmonia::test
