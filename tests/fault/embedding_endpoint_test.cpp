// Embeddings come in any order and in batches; what is none is an error of one line.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "harmonia/text/endpoint.hpp"
#include "support/chat_stand_in.hpp"
#include "support/model_checks.hpp"

namespace harmonia {
namespace {

using test::message_of;
using test::options_for;
using test::Reply;
using test::Request;
using test::says;
using test::StandInServer;
using test::with_body;
using test::with_status;

using Json = nlohmann::json;

std::vector<std::string> inputs(const Request& request) {
  return Json::parse(request.body)["input"].get<std::vector<std::string>>();
}

// [length of the text, 1, 0.1] for each, the last text first.
Reply lengths(const Request& request) {
  const auto texts = inputs(request);
  Json data = Json::array();
  for (std::size_t i = texts.size(); i-- > 0;)
    data.push_back({{"index", i}, {"embedding", {texts[i].size(), 1, 0.1}}});
  return with_body(Json{{"data", data}}.dump());
}

std::string fails(const Reply& reply, const std::vector<std::string>& texts = {"a", "b"}) {
  const StandInServer server([&](const Request&) { return reply; });
  EndpointOptions options = options_for(server);
  options.retries = 1;
  const std::string message =
      message_of(ErrorCode::model, [&] { open_embedding_endpoint(options)->embed(texts); });
  EXPECT_TRUE(says(message, "endpoint " + options.url + ": "));
  return message;
}

TEST(EmbeddingEndpoint, GivesARowATextInOrder) {
  std::mutex mutex;
  std::map<std::string, int> times;
  std::size_t most = 0;
  const StandInServer server([&](const Request& request) {
    const std::lock_guard lock(mutex);
    most = std::max(most, inputs(request).size());
    for (const std::string& text : inputs(request)) ++times[text];
    EXPECT_EQ(request.path, "/v1/embeddings");
    EXPECT_EQ(Json::parse(request.body)["model"], "m");
    return lengths(request);
  });
  const auto embedder = open_embedding_endpoint(options_for(server));
  EXPECT_EQ(embedder->name(), "m at " + server.url() + "/v1");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 300; ++i) texts.emplace_back(i % 150, 'x');
  const Matrix<float> rows = embedder->embed(texts);
  ASSERT_EQ(rows.rows(), 300U);
  ASSERT_EQ(rows.columns(), 3U);
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(rows.row(i)[0], static_cast<float>(i % 150));
    EXPECT_EQ(rows.row(i)[2], 0.1F);
  }
  EXPECT_EQ(most, 64U);
  EXPECT_EQ(times.size(), 150U);
  for (const auto& [text, count] : times) EXPECT_EQ(count, 1);
  EXPECT_EQ(embedder->embed({}).rows(), 0U);
}

TEST(EmbeddingEndpoint, AsksForFewerWhereSoManyAreRefused) {
  const StandInServer server([](const Request& request) {
    return inputs(request).size() > 10 ? with_status(422, R"({"error": "batch too large"})")
                                       : lengths(request);
  });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.emplace_back(i + 1, 'x');
  const Matrix<float> rows = open_embedding_endpoint(options_for(server))->embed(texts);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(rows.row(i)[0], static_cast<float>(i + 1));
}

TEST(EmbeddingFaults, AreTriedAgain) {
  std::atomic<int> count = 0;
  const StandInServer server([&](const Request& request) {
    const int now = ++count;
    Reply reply = lengths(request);
    if (now == 1) reply = with_status(500, "");
    if (now == 2) reply.body = reply.body.substr(0, 10);
    if (now == 3) reply.bytes = 5;
    return reply;
  });
  EXPECT_EQ(open_embedding_endpoint(options_for(server))->embed(std::vector<std::string>{"abc"}).row(0)[0],
            3);
  EXPECT_EQ(count, 4);
}

TEST(EmbeddingFaults, AreNamed) {
  EXPECT_TRUE(says(fails(with_status(400, R"({"error": {"message": "too long"}})")), "status 400: too long"));
  EXPECT_TRUE(says(fails(with_status(401, R"({"error": "who are you"})")), "status 401: who are you"));
  EXPECT_TRUE(says(fails(with_status(500, "")), "status 500 after 2 tries"));
  EXPECT_TRUE(says(fails(with_body("nothing")), "its answer is not JSON: 'nothing'"));
  EXPECT_TRUE(says(fails(with_body("{}")), "its answer's data is null; expected a list of 2"));
  const auto data = [](const std::string& first, const std::string& second) {
    return fails(with_body(fmt::format(R"({{"data": [{}, {}]}})", first, second)));
  };
  const std::string good = R"({"index": 0, "embedding": [1, 2]})";
  EXPECT_TRUE(says(data(good, good), "two embeddings of text 1"));
  EXPECT_TRUE(says(data(good, R"({"index": 2})"), "has index the number 2; expected 0 to 1"));
  EXPECT_TRUE(says(data(good, R"({"index": 1})"), "embedding of text 2 is null; expected a list of numbers"));
  EXPECT_TRUE(says(data(good, R"({"embedding": [1, "a"]})"), "text 2 holds the text 'a'; expected numbers"));
  EXPECT_TRUE(says(data(good, R"({"embedding": [1, null]})"), "text 2 holds null; expected numbers"));
  EXPECT_TRUE(says(data(good, R"({"embedding": [1, 1e300]})"), "text 2 holds a number that is not finite"));
  EXPECT_TRUE(says(data(good, R"({"embedding": [0, -0.0]})"), "text 2 holds only zeros"));
  EXPECT_TRUE(says(data(good, R"({"embedding": []})"), "text 2 holds only zeros"));
  EXPECT_TRUE(says(data(good, R"({"embedding": [1, 2, 3]})"), "have 2 and 3 numbers"));
  EXPECT_TRUE(says(data(R"({"index": 1, "embedding": [1, 2, 3]})", good), "have 2 and 3 numbers"));
}

TEST(EmbeddingFaults, AnotherLengthThanBefore) {
  std::atomic<int> count = 0;
  const StandInServer server([&](const Request&) {
    return with_body(++count == 1 ? R"({"data": [{"embedding": [1, 2]}]})"
                                  : R"({"data": [{"embedding": [1]}]})");
  });
  const auto embedder = open_embedding_endpoint(options_for(server));
  const std::vector<std::string> text{"a"};
  embedder->embed(text);
  EXPECT_TRUE(says(message_of(ErrorCode::model, [&] { embedder->embed(text); }),
                   "embeddings of 1 numbers; expected 2, as in its first answer"));
}

}  // namespace
}  // namespace harmonia
