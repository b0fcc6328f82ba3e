// An endpoint that misbehaves costs the questions it misbehaves on, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>

#include "support/chat_stand_in.hpp"
#include "support/model_checks.hpp"

namespace harmonia {
namespace {

using test::ask;
using test::asked;
using test::chat_reply;
using test::count_of;
using test::message_of;
using test::options_for;
using test::questions;
using test::Reply;
using test::Request;
using test::right_reply;
using test::says;
using test::StandInServer;
using test::with_body;
using test::with_status;

std::unique_ptr<Chat> open(const EndpointOptions& options, const ChatParameters& parameters = {}) {
  static ChatBudget unlimited;
  return open_chat_endpoint(options, parameters, unlimited);
}

// The answer to one question by a server that replies so.
ChatAnswer answer_of(const Reply& reply, const std::string& text = "hello") {
  const StandInServer server([&](const Request&) { return reply; });
  EndpointOptions options = options_for(server);
  options.retries = 0;
  return ask(*open(options), std::vector<ChatQuestion>{{text, 0}}).front();
}

TEST(ChatEndpoint, AnswersAllOverConnectionsThatAreKept) {
  const StandInServer server(right_reply);
  const auto chat = open(options_for(server));
  EXPECT_EQ(chat->name(), "m");
  const auto all = questions(200);
  for (int i = 0; i < 2; ++i) {
    const auto answers = ask(*chat, all);
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_EQ(answers[k].outcome, ChatOutcome::answered) << answers[k].reason;
      EXPECT_EQ(answers[k].text, "re: " + all[k].text);
      EXPECT_EQ(answers[k].finish, "stop");
      EXPECT_EQ(answers[k].calls, 1U);
    }
  }
  EXPECT_EQ(server.requests(), 400);
  EXPECT_LE(server.connections(), 8);
}

TEST(ChatEndpoint, HasAsManyInFlightAsAllowed) {
  std::atomic<int> now = 0, most = 0;
  const StandInServer server([&](const Request& request) {
    const int here = ++now;
    int before = most;
    while (before < here && !most.compare_exchange_weak(before, here)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --now;
    return right_reply(request);
  });
  EndpointOptions options = options_for(server);
  options.in_flight = 5;
  ask(*open(options), questions(50));
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 5);
}

TEST(ChatEndpoint, SendsWhatWasSet) {
  std::vector<Request> seen;
  const StandInServer server([&](const Request& request) {
    seen.push_back(request);
    return right_reply(request);
  });
  EndpointOptions options = options_for(server);
  options.in_flight = 1;
  options.key = "a-key";
  options.headers = {"X-Team: blue"};
  ChatParameters parameters;
  parameters.temperature = 0.25;
  parameters.max_tokens = 17;
  parameters.system = "Be brief.";
  parameters.seed = 40;
  ask(*open(options, parameters), std::vector<ChatQuestion>{{"why?", 0}, {"why?", 2}});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].method, "POST");
  EXPECT_EQ(seen[0].path, "/v1/chat/completions");
  EXPECT_TRUE(says(seen[0].headers, "Authorization: Bearer a-key\r\n", "X-Team: blue\r\n"));
  const auto expected = nlohmann::json::parse(R"({"model": "m", "temperature": 0.25, "max_tokens": 17,
      "seed": 40, "stream": false, "messages": [{"role": "system", "content": "Be brief."},
                                                {"role": "user", "content": "why?"}]})");
  EXPECT_EQ(nlohmann::json::parse(seen[0].body), expected);
  EXPECT_EQ(nlohmann::json::parse(seen[1].body)["seed"], 42);

  options.model = "";
  options.url += "/chat/completions/";  // the whole address is understood too
  parameters.seed.reset();
  ask(*open(options, parameters), questions(1));
  EXPECT_EQ(seen[2].path, "/v1/chat/completions");
  EXPECT_FALSE(nlohmann::json::parse(seen[2].body).contains("seed"));
  EXPECT_FALSE(nlohmann::json::parse(seen[2].body).contains("model"));
}

TEST(ChatEndpoint, CarriesEveryCharacter) {
  const StandInServer server([](const Request& request) { return chat_reply(asked(request)); });
  std::string text = "caf\u00e9 \u200b\U0001F600 \"\\/";
  for (char c = 0; c < 32; ++c) text += c;
  text += '\x7f';
  EXPECT_EQ(ask(*open(options_for(server)), std::vector<ChatQuestion>{{text, 0}}).front().text, text);
}

TEST(ChatEndpoint, ReplacesBrokenCharacters) {
  const auto content = [](const std::string& text) {
    return answer_of(with_body(R"({"choices": [{"message": {"content": ")" + text + "\"}}]}")).text;
  };
  EXPECT_EQ(content("a\xff\xc3z"), "a\ufffd\ufffdz");
  EXPECT_EQ(content(R"(a\ud83dz)"), "a\ufffdz");            // half a character
  EXPECT_EQ(content(R"(a\ude00\ud83d)"), "a\ufffd\ufffd");  // two halves, the wrong way round
  EXPECT_EQ(content(R"(\\ud83d \ud83d\ude00 \uD83D)"), "\\ud83d \U0001F600 \ufffd");
}

TEST(ChatEndpoint, CountsTokens) {
  EXPECT_EQ(answer_of(chat_reply("yes", 31)).tokens, 31U);
  EXPECT_EQ(answer_of(chat_reply("yes")).tokens, 0U);
}

TEST(ChatFaults, CostOnlyTheQuestionsTheyMeet) {
  std::mutex mutex;
  std::set<std::string> met;
  const StandInServer server([&](const Request& request) {
    const std::string text = asked(request);
    Reply reply = right_reply(request);
    const bool first = [&] {
      const std::lock_guard lock(mutex);
      return met.insert(text).second;
    }();
    if (text == "hangs") reply.hang = true;
    if (text == "drops") reply.bytes = 20;
    if (text == "drops once" && first) reply.bytes = 0;
    if (text == "busy" && first) {
      reply = with_status(429, R"({"error": {"message": "slow down"}})");
      reply.headers = "Retry-After: 1\r\n";
    }
    if (text == "breaks") reply = with_status(500, R"({"error": {"message": "out of\nmemory"}})");
    if (text == "truncates") reply.body = reply.body.substr(0, 30);
    if (text == "empty") reply = chat_reply("");
    if (text == "huge") reply = chat_reply(std::string(10'000'000, 'x'));
    if (text.find('\x01') != std::string::npos)
      reply = with_status(400, R"({"error": {"message": "no control\u0002 characters", "code": 7}})");
    return reply;
  });
  EndpointOptions options = options_for(server);
  options.timeout_seconds = 1.5;
  options.retries = 2;
  auto all = questions(60);
  const std::vector<std::string> bad{"hangs",     "drops", "drops once", "busy", "breaks",
                                     "truncates", "empty", "huge",       "a\x01"};
  for (std::size_t i = 0; i < bad.size(); ++i) all[5 * i].text = bad[i];
  const auto answers = ask(*open(options), all);
  const auto expect = [&](const std::string& text, ChatOutcome outcome, std::uint64_t calls,
                          const std::string& reason) {
    const auto place = std::ranges::find(all, text, &ChatQuestion::text) - all.begin();
    const ChatAnswer& answer = answers[static_cast<std::size_t>(place)];
    EXPECT_EQ(chat_outcome_name(answer.outcome), chat_outcome_name(outcome)) << text;
    EXPECT_EQ(answer.calls, calls) << text;
    EXPECT_EQ(answer.reason, reason) << text;
  };
  expect("hangs", ChatOutcome::failed, 2, "no answer within 1.5 s after 2 tries");
  expect("drops", ChatOutcome::failed, 3,
         "the connection was closed before the answer was complete after 3 tries");
  expect("drops once", ChatOutcome::answered, 2, "");
  expect("busy", ChatOutcome::answered, 2, "");
  expect("breaks", ChatOutcome::failed, 3, "status 500 after 3 tries: out of memory");
  expect("truncates", ChatOutcome::failed, 3,
         R"(its answer is not JSON: '{"choices":[{"finish_reason":"' after 3 tries)");
  expect("empty", ChatOutcome::empty, 1, "the answer has no text (finish reason stop)");
  expect("huge", ChatOutcome::too_long, 1, "its answer is longer than 4194304 bytes");
  expect("a\x01", ChatOutcome::refused, 1, R"(status 400: no control\x02 characters)");
  EXPECT_EQ(count_of(answers, ChatOutcome::answered), 60 - bad.size() + 2);
}

// With one in flight, whoever waits for a pause would hold up all others.
TEST(ChatFaults, APauseHoldsUpNobodyElse) {
  std::atomic<bool> first = true;
  const StandInServer server([&](const Request& request) {
    if (asked(request) != "question 0" || !first.exchange(false)) return right_reply(request);
    Reply reply = with_status(429, "");
    reply.headers = "Retry-After: 1\r\n";
    return reply;
  });
  EndpointOptions options = options_for(server);
  options.in_flight = 1;
  std::vector<std::size_t> order;
  const auto answers = ask(*open(options), questions(20), &order);
  EXPECT_EQ(count_of(answers, ChatOutcome::answered), 20U);
  EXPECT_EQ(order.back(), 0U);
  EXPECT_EQ(answers[0].calls, 2U);
}

TEST(ChatFaults, ABusyServerIsNotAskedEverythingAtOnce) {
  std::mutex mutex;
  std::set<std::string> met;
  bool busy = true;  // until it is asked something again
  const StandInServer server([&](const Request& request) {
    const std::lock_guard lock(mutex);
    busy = busy && met.insert(asked(request)).second;
    return busy ? with_status(429, "") : right_reply(request);
  });
  EndpointOptions options = options_for(server);
  options.in_flight = 2;
  const auto answers = ask(*open(options), questions(30));
  EXPECT_EQ(count_of(answers, ChatOutcome::answered), 30U);
  EXPECT_EQ(met.size(), 4U);  // twice in_flight
}

TEST(ChatFaults, AnswersOfAnotherForm) {
  const auto failed = [](const std::string& body) {
    const ChatAnswer answer = answer_of(with_body(body));
    EXPECT_EQ(answer.outcome, ChatOutcome::failed) << body;
    return answer.reason;
  };
  EXPECT_EQ(failed(""), "its answer has no body");
  EXPECT_EQ(failed("<html>\n"), "its answer is not JSON: '<html> '");
  EXPECT_EQ(failed("[]"), "its answer's choices are null; expected a list of one");
  EXPECT_EQ(failed(R"({"choices": []})"), "its answer's choices are a list of 0; expected a list of one");
  EXPECT_EQ(failed(R"({"choices": [{"text": "old"}]})"), "its answer's content is null; expected a text");
  EXPECT_EQ(failed(R"({"choices": [{"message": {"content": [1]}}]})"),
            "its answer's content is a list of 1; expected a text");
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(failed(R"({"choices": )" + deep + "}"), "its answer's content is null; expected a text");
  for (const char* blank : {R"("")", R"(" \n\t")", "null"}) {
    const auto answer =
        answer_of(with_body(fmt::format(R"({{"choices": [{{"message": {{"content": {}}}}}]}})", blank)));
    EXPECT_EQ(answer.outcome, ChatOutcome::empty) << blank;
  }
}

TEST(ChatFaults, StatusesOfTheTextAndOfTheEndpoint) {
  for (const int status : {400, 413, 422}) {
    const ChatAnswer answer = answer_of(with_status(status, R"({"error": "too odd"})"));
    EXPECT_EQ(answer.outcome, ChatOutcome::refused);
    EXPECT_EQ(answer.reason, fmt::format("status {}: too odd", status));
  }
  EXPECT_EQ(answer_of(with_status(418, "teapot")).outcome, ChatOutcome::failed);
  for (const int status : {308, 401, 402, 403, 404, 405}) {
    const std::string message = message_of(ErrorCode::model, [&] {
      answer_of(with_status(status, R"({"error": {"message": "no such model"}})"));
    });
    EXPECT_TRUE(
        says(message, "endpoint http://127.0.0.1:", fmt::format("/v1: status {}: no such model", status)));
  }
}

TEST(ChatFaults, KeysAppearInNoMessage) {
  int status = 400;
  const StandInServer server([&](const Request& request) {
    nlohmann::json body{{"error", {{"message", "you sent " + request.headers}}}};
    return with_status(status, body.dump());
  });
  EndpointOptions options = options_for(server);
  options.key = "sk-12345";
  options.headers = {"X-Other: Basic qwertz", "X-Third: hidden value"};
  const auto clean = [&](const std::string& text) {
    for (const char* secret : {"sk-12345", "qwertz", "hidden", "Basic"}) EXPECT_FALSE(says(text, secret));
    return says(text, "***");
  };
  const std::vector<ChatQuestion> one = questions(1);
  options.retries = 0;
  EXPECT_TRUE(clean(ask(*open(options), one).front().reason));
  status = 500;
  EXPECT_TRUE(clean(ask(*open(options), one).front().reason));
  status = 401;
  EXPECT_TRUE(clean(message_of(ErrorCode::model, [&] { ask(*open(options), one); })));
  options.key = "two\r\nsk-12345";
  EXPECT_EQ(message_of(ErrorCode::usage, [&] { open(options); }),
            "the endpoint's key has more than one line");
  options.key = "";
  options.headers = {"sk-12345"};
  EXPECT_EQ(message_of(ErrorCode::usage, [&] { open(options); }),
            "header 1 is not of the form 'Name: value' on one line");
}

TEST(ChatFaults, ACapOnCallsIsHard) {
  std::atomic<bool> broken = false;
  const StandInServer server(
      [&](const Request& request) { return broken ? with_status(503, "") : right_reply(request); });
  ChatBudget budget;
  budget.most_calls = 11;
  const auto chat = open_chat_endpoint(options_for(server), {}, budget);
  const auto answers = ask(*chat, questions(30));
  EXPECT_EQ(server.requests(), 11);
  EXPECT_EQ(budget.calls, 11U);
  EXPECT_EQ(count_of(answers, ChatOutcome::answered), 11U);
  EXPECT_EQ(count_of(answers, ChatOutcome::unasked), 19U);
  EXPECT_EQ(answers.back().reason, "the cap of 11 calls is reached");
  EXPECT_EQ(answers.back().calls, 0U);
  // Further tries are calls too.
  broken = true;
  budget.most_calls = 20;
  const auto failed = ask(*chat, questions(6));
  EXPECT_EQ(server.requests(), 20);
  EXPECT_EQ(count_of(failed, ChatOutcome::failed), 6U);
  std::uint64_t calls = 0;
  for (const ChatAnswer& answer : failed) calls += answer.calls;
  EXPECT_EQ(calls, 9U);
}

TEST(ChatFaults, ACapOnTokensIsHard) {
  std::uint64_t said = 90;
  const StandInServer server([&](const Request& request) { return chat_reply(asked(request), said); });
  ChatParameters parameters;
  parameters.max_tokens = 20;
  ChatBudget budget;
  budget.most_tokens = 1000;
  const auto chat = open_chat_endpoint(options_for(server), parameters, budget);
  // A question of 10 bytes may take 10 + 20 + 64.
  const auto answers = ask(*chat, questions(10, "question_"));
  EXPECT_EQ(count_of(answers, ChatOutcome::answered), 10U);
  EXPECT_EQ(budget.tokens, 900U);
  const auto more = ask(*chat, questions(10, "question_"));
  EXPECT_EQ(count_of(more, ChatOutcome::answered), 1U);
  EXPECT_EQ(budget.tokens, 990U);
  EXPECT_EQ(more.back().reason, "990 of 1000 tokens are spent, and the question may take 94");
  // Who does not count is charged that.
  said = 0;
  budget.most_tokens = 1200;
  EXPECT_EQ(count_of(ask(*chat, questions(10, "question_")), ChatOutcome::answered), 2U);
  EXPECT_EQ(budget.tokens, 990U + 2 * 94);
}

TEST(ChatFaults, IsDown) {
  EndpointOptions options;
  std::unique_ptr<Chat> chat;
  {
    const StandInServer server(right_reply);
    options = options_for(server);
    options.retries = 1;
    chat = open(options);
    EXPECT_EQ(count_of(ask(*chat, questions(3)), ChatOutcome::answered), 3U);
  }
  // One that was there and went is no reason to give up what was measured.
  const auto answers = ask(*chat, questions(3));
  EXPECT_EQ(count_of(answers, ChatOutcome::failed), 3U);
  EXPECT_EQ(answers[0].reason, "connection refused after 2 tries");
  EXPECT_EQ(message_of(ErrorCode::model, [&] { ask(*open(options), questions(3)); }),
            "endpoint " + options.url + ": connection refused after 2 tries");
}

TEST(ChatFaults, IsStopped) {
  const StandInServer server([](const Request& request) {
    Reply reply = right_reply(request);
    reply.hang = asked(request) != "question 0";
    return reply;
  });
  std::stop_source stop;
  EndpointOptions options = options_for(server);
  options.timeout_seconds = 600;
  options.stop = stop.get_token();
  const auto chat = open(options);
  std::size_t taken = 0;
  const auto all = questions(20);
  EXPECT_EQ(message_of(ErrorCode::interrupted,
                       [&] {
                         chat->ask(all, [&](std::size_t, const ChatAnswer&) {
                           ++taken;
                           stop.request_stop();
                         });
                       }),
            "stopped");
  EXPECT_EQ(taken, 1U);
}

TEST(ChatFaults, GoesOnAfterSomebodyElsesError) {
  const StandInServer server(right_reply);
  const auto chat = open(options_for(server));
  const auto all = questions(40);
  std::size_t taken = 0;
  EXPECT_THROW(chat->ask(all,
                         [&](std::size_t, const ChatAnswer&) {
                           if (++taken == 5) throw std::runtime_error("full");
                         }),
               std::runtime_error);
  EXPECT_EQ(count_of(ask(*chat, all), ChatOutcome::answered), 40U);
}

TEST(ChatFaults, AddressesThatAreNone) {
  const auto refused = [](const std::string& url) {
    EndpointOptions options;
    options.url = url;
    return message_of(ErrorCode::usage, [&] { open(options); });
  };
  EXPECT_TRUE(says(refused("127.0.0.1:80/v1"), "endpoint '127.0.0.1:80/v1': no http(s) address; expected"));
  EXPECT_TRUE(says(refused("http://"), "no address; expected"));
  EXPECT_TRUE(says(refused("http://a b/v1"), "no address; expected"));
  for (const char* wrong : {"http://me:secret@h/v1", "http://h/v1?key=secret", "http://h/v1#secret"})
    EXPECT_FALSE(says(refused(wrong), "secret"));
  EndpointOptions options;
  options.url = "http://h/v1";
  options.timeout_seconds = 0;
  EXPECT_TRUE(says(message_of(ErrorCode::usage, [&] { open(options); }), "timeout of 0 s"));
}

}  // namespace
}  // namespace harmonia
