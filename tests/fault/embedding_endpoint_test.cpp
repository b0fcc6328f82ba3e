// Embeddings come in any order and in batches; a text that has none is missing, and a line says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "../../src/text/openai_json.hpp"
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

// What is wrong with an answer to two texts.
std::string fails(const std::string& body) {
  return message_of(ErrorCode::model, [&] { read_embeddings(body, 2, "endpoint"); });
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
  const auto [rows, missing] = embedder->embed(texts);
  EXPECT_TRUE(missing.empty());
  ASSERT_EQ(rows.rows(), 300U);
  ASSERT_EQ(rows.columns(), 3U);
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(rows.row(i)[0], static_cast<float>(i % 150));
    EXPECT_EQ(rows.row(i)[2], 0.1F);
  }
  EXPECT_EQ(most, 64U);
  EXPECT_EQ(times.size(), 150U);
  for (const auto& [text, count] : times) EXPECT_EQ(count, 1);
  EXPECT_EQ(embedder->embed({}).rows.rows(), 0U);
}

TEST(EmbeddingEndpoint, AsksForFewerWhereSoManyAreRefused) {
  const StandInServer server([](const Request& request) {
    return inputs(request).size() > 10 ? with_status(422, R"({"error": "batch too large"})")
                                       : lengths(request);
  });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.emplace_back(i + 1, 'x');
  const auto [rows, missing] = open_embedding_endpoint(options_for(server))->embed(texts);
  EXPECT_TRUE(missing.empty());
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
  const auto embedder = open_embedding_endpoint(options_for(server));
  EXPECT_EQ(embedder->embed(std::vector<std::string>{"abc"}).rows.row(0)[0], 3);
  EXPECT_EQ(count, 4);
}

// One text of a hundred is answered so, alone and with others.
void one_is_missing(const Reply& reply, const std::string& words) {
  const StandInServer server([&](const Request& request) {
    return std::ranges::count(inputs(request), std::string(71, 'x')) > 0 ? reply : lengths(request);
  });
  EndpointOptions options = options_for(server);
  options.retries = 1;
  const auto embedder = open_embedding_endpoint(options);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.emplace_back(i + 1, 'x');
  const auto [rows, missing] = embedder->embed(texts);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing.begin()->first, 70U);
  EXPECT_TRUE(says(missing.at(70), "endpoint " + options.url + ": " + words));
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(rows.row(i)[0], i == 70 ? 0 : static_cast<float>(i + 1));
  const Embeddings alone = embedder->embed(std::vector<std::string>{texts[70]});
  EXPECT_EQ(alone.missing.size(), 1U);
  EXPECT_EQ(alone.rows.columns(), 3U);
}

TEST(EmbeddingFaults, OneTextThatFailsCostsNoOther) {
  one_is_missing(with_status(400, R"({"error": "too long"})"), "status 400: too long");
  one_is_missing(with_status(500, ""), "status 500 after 2 tries");
  one_is_missing(with_body("nothing"), "its answer is not JSON: 'nothing'");
}

TEST(EmbeddingFaults, AServerThatIsDownIsNotAskedForEveryText) {
  const StandInServer server([](const Request&) { return with_status(503, ""); });
  EndpointOptions options = options_for(server);
  options.retries = 0;
  const auto embedder = open_embedding_endpoint(options);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 640; ++i) texts.push_back(std::to_string(i));
  const auto [rows, missing] = embedder->embed(texts);
  EXPECT_EQ(missing.size(), 640U);
  EXPECT_EQ(rows.columns(), 0U);
  EXPECT_LE(server.requests(), 10 + 126) << "ten requests, one of which is taken apart";
  const int before = server.requests();
  embedder->embed(texts);
  EXPECT_EQ(server.requests(), before + 10);
}

TEST(EmbeddingFaults, AWrongKeyIsForAll) {
  const StandInServer server([](const Request&) { return with_status(401, R"({"error": "who are you"})"); });
  const EndpointOptions options = options_for(server);
  EXPECT_EQ(message_of(ErrorCode::model,
                       [&] {
                         open_embedding_endpoint(options)->embed(std::vector<std::string>{"a", "b"});
                       }),
            "endpoint " + options.url + ": status 401: who are you");
}

TEST(EmbeddingFaults, AreNamed) {
  EXPECT_TRUE(says(fails("{}"), "endpoint: its answer's data is null; expected a list of 2"));
  const auto data = [](const std::string& first, const std::string& second) {
    return fails(fmt::format(R"({{"data": [{}, {}]}})", first, second));
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
