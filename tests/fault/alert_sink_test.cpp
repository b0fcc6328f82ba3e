#include "harmonia/monitor/alert_sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/expect_error.hpp"
#include "support/stand_in_server.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

using namespace std::chrono_literals;
using test::Reply;
using test::Request;
using test::StandInServer;

// What a sink said, from whichever thread.
struct Notes {
  std::mutex mutex;
  std::vector<std::string> texts;
  Note note() {
    return [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      texts.push_back(text);
    };
  }
};

AlertSinkOptions quick(Notes& notes) {
  AlertSinkOptions options;
  options.first_pause = 1ms;
  options.longest_pause = 5ms;
  options.last_wait = 20s;
  options.note = notes.note();
  return options;
}

Reply answer(int status, const std::string& headers = "") {
  Reply reply;
  reply.status = status;
  reply.headers = headers;
  return reply;
}

void wait_until_idle(const AlertSink& sink) {
  while (sink.status().waiting > 0) std::this_thread::sleep_for(1ms);
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(LineSink, AppendsALineForEveryAlert) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("alerts.jsonl", "{\"id\":0}\n");
  Notes notes;
  {
    const auto sink = open_line_sink(path, quick(notes));
    for (int i = 1; i < 4; ++i) sink->send("{\"id\":" + std::to_string(i) + "}");
  }
  EXPECT_EQ(contents(path), "{\"id\":0}\n{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
  EXPECT_TRUE(notes.texts.empty());
  test::expect_error(ErrorCode::input, "/none/alerts cannot be written: No such file or directory",
                     [&] { open_line_sink("/none/alerts", quick(notes)); });
}

TEST(LineSink, AFullDiskIsSaidOnceAndHoldsNobodyUp) {
  Notes notes;
  {
    AlertSinkOptions options = quick(notes);
    options.tries = 3;
    const auto sink = open_line_sink("/dev/full", options);
    for (int i = 0; i < 5; ++i) sink->send("{}");
    wait_until_idle(*sink);
    EXPECT_EQ(sink->status().given_up, 5U);
    EXPECT_EQ(sink->status().sent, 0U);
    EXPECT_EQ(sink->status().failure, "No space left on device");
  }
  EXPECT_EQ(notes.texts, std::vector<std::string>{"/dev/full: No space left on device; alerts wait"});
}

TEST(LineSink, APipeThatNobodyReadsHoldsNobodyUp) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  Notes notes;
  {
    AlertSinkOptions options = quick(notes);
    options.last_wait = 1ms;
    options.most_waiting = 10;
    const auto sink = open_line_sink(path, options);
    for (int i = 0; i < 100; ++i) sink->send(std::string(100000, 'x'));
    const SinkStatus status = sink->status();
    EXPECT_LE(status.waiting, 11U);
    EXPECT_EQ(status.sent, 0U);
    EXPECT_EQ(status.dropped + status.waiting, 100U);
  }
  ::close(reader);
  ASSERT_EQ(notes.texts.size(), 1U);
  EXPECT_NE(notes.texts[0].find("alerts were not delivered when the program ended"), std::string::npos);
}

TEST(Webhook, PostsEveryAlertInOrder) {
  std::vector<std::string> bodies;
  std::string header;
  StandInServer server([&](const Request& request) {
    bodies.push_back(request.method + " " + request.path + " " + request.body);
    header = request.headers;
    return answer(204);
  });
  Notes notes;
  {
    const auto sink = open_webhook(server.url() + "/secret", {.headers = {"X-Key: k"}}, quick(notes));
    for (int i = 0; i < 3; ++i) sink->send("{\"id\":" + std::to_string(i) + "}");
    wait_until_idle(*sink);
    EXPECT_EQ(sink->status().sent, 3U);
  }
  EXPECT_EQ(bodies, (std::vector<std::string>{"POST /secret {\"id\":0}", "POST /secret {\"id\":1}",
                                              "POST /secret {\"id\":2}"}));
  EXPECT_NE(header.find("X-Key: k"), std::string::npos);
  EXPECT_TRUE(notes.texts.empty());
}

TEST(Webhook, TriesAgainAfterErrorsAndLostConnections) {
  std::atomic<int> calls = 0;
  StandInServer server([&](const Request&) {
    switch (calls++) {
      case 0:
        return answer(500);
      case 1:
        return answer(503, "Retry-After: 3600\r\n");
      case 2:
        return Reply{200, "whole", "", false, 2};
      default:
        return answer(200);
    }
  });
  Notes notes;
  const std::string name = "the webhook at " + server.url().substr(7);
  {
    const auto sink = open_webhook(server.url() + "/secret", {}, quick(notes));
    sink->send("{}");
    wait_until_idle(*sink);
    EXPECT_EQ(sink->status().sent, 1U);
    EXPECT_EQ(sink->status().given_up, 0U);
  }
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(notes.texts, (std::vector<std::string>{name + ": it answered 500; alerts wait",
                                                   name + " takes alerts again"}));
}

TEST(Webhook, WhatItRefusesIsNotSentAgain) {
  StandInServer server([](const Request&) { return answer(404); });
  Notes notes;
  const auto sink = open_webhook(server.url(), {}, quick(notes));
  sink->send("{}");
  wait_until_idle(*sink);
  EXPECT_EQ(sink->status().given_up, 1U);
  EXPECT_EQ(server.requests(), 1);
}

TEST(Webhook, OneThatHangsHoldsNobodyUpNorTheEnd) {
  StandInServer server([](const Request&) { return Reply{200, "", "", true}; });
  Notes notes;
  {
    AlertSinkOptions options = quick(notes);
    options.last_wait = 1ms;
    options.most_waiting = 10;
    const auto sink = open_webhook(server.url(), {.timeout_seconds = 600}, options);
    for (int i = 0; i < 1000; ++i) sink->send("{}");
    const SinkStatus status = sink->status();
    EXPECT_LE(status.waiting, 11U);
    EXPECT_EQ(status.dropped + status.waiting, 1000U);
  }
  ASSERT_EQ(notes.texts.size(), 1U);
  EXPECT_NE(notes.texts[0].find("alerts were not delivered when the program ended"), std::string::npos);
}

TEST(Webhook, ADeadOneIsGivenUpAfterSomeTries) {
  std::string url;
  {
    StandInServer server([](const Request&) { return Reply{}; });
    url = server.url();
  }
  Notes notes;
  AlertSinkOptions options = quick(notes);
  options.tries = 3;
  const auto sink = open_webhook(url, {}, options);
  sink->send("{}");
  sink->send("{}");
  wait_until_idle(*sink);
  EXPECT_EQ(sink->status().given_up, 2U);
  EXPECT_EQ(sink->status().failure, "connection refused");
  for (const std::string wrong : {"ftp://host/", "http://", "http:///x", "https://me@/x"})
    test::expect_error(ErrorCode::usage, "the webhook is no URL; expected http://HOST… or https://HOST…",
                       [&] { open_webhook(wrong, {}, options); });
}

}  // namespace
}  // namespace harmonia
