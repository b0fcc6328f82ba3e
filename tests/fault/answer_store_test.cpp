// What was answered once is not asked again, and a file that is no store says so.
#include "harmonia/text/answer_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "../../src/text/answer_file.hpp"
#include "support/chat_stand_in.hpp"
#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

using test::ask;
using test::message_of;
using test::questions;
using test::says;

// Answers "re: TEXT #REPEAT", or what the text says, and counts what it is asked.
class Counting final : public Chat {
 public:
  explicit Counting(std::string name = "m") : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  void ask(std::span<const ChatQuestion> all,
           const std::function<void(std::size_t, ChatAnswer)>& taken) override {
    for (std::size_t i = all.size(); i-- > 0;) {
      ++asked;
      ChatAnswer answer;
      answer.outcome = ChatOutcome::answered;
      for (const ChatOutcome outcome : {ChatOutcome::refused, ChatOutcome::failed, ChatOutcome::too_long,
                                        ChatOutcome::empty, ChatOutcome::unasked}) {
        if (all[i].text == chat_outcome_name(outcome)) answer.outcome = outcome;
      }
      if (answer.outcome == ChatOutcome::answered) {
        answer.text = "re: " + all[i].text + " #" + std::to_string(all[i].repeat);
      } else {
        answer.reason = "so it is";
      }
      answer.finish = "stop";
      answer.tokens = 7;
      answer.calls = 1;
      taken(i, answer);
    }
  }
  int asked = 0;

 private:
  std::string name_;
};

// The number of letters, and how often it was asked. What begins with '!' has no embedding.
class Letters final : public Embedder {
 public:
  explicit Letters(std::size_t columns = 2) : columns_(columns) {}
  const std::string& name() const override { return name_; }
  Embeddings embed(std::span<const std::string> texts) override {
    Embeddings found{Matrix<float>(texts.size(), columns_), {}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].starts_with('!')) found.missing.emplace(i, "no: " + texts[i]);
      found.rows.row(i)[0] = static_cast<float>(texts[i].size());
      found.rows.row(i)[columns_ - 1] = static_cast<float>(++asked) / 3;
    }
    return found;
  }
  int asked = 0;

 private:
  std::string name_ = "letters";
  std::size_t columns_;
};

TEST(AnswerStore, AsksWhatIsStoredNoMore) {
  const test::TemporaryFolder folder;
  Counting model;
  std::vector<ChatQuestion> all = questions(50);
  all.push_back({"question 3", 1});                  // another answer
  all.push_back({"question 3", 0});                  // the same
  all.push_back({std::string("a\0b\n\xff", 5), 0});  // any bytes
  all.push_back({"", 0});
  std::vector<ChatAnswer> first;
  {
    AnswerStore store(folder.path("answers.db"));
    first = ask(*store.stored(model, "http://h/v1", {}), all);
    EXPECT_EQ(model.asked, 53);
    EXPECT_EQ(first[51].text, first[3].text);
    EXPECT_EQ(first[3].calls + first[51].calls, 1U);
    EXPECT_EQ(first[50].text, "re: question 3 #1");
  }
  AnswerStore store(folder.path("answers.db"));
  const auto again = ask(*store.stored(model, "http://h/v1", {}), all);
  EXPECT_EQ(model.asked, 53);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(again[i].outcome, ChatOutcome::answered);
    EXPECT_EQ(again[i].text, first[i].text);
    EXPECT_EQ(again[i].finish, "stop");
    EXPECT_EQ(again[i].tokens, i == 51 ? 0U : 7U) << "counted once";
    EXPECT_EQ(again[i].calls, 0U);
  }
}

TEST(AnswerStore, AsksAgainWhereAnythingDiffers) {
  const test::TemporaryFolder folder;
  AnswerStore store(folder.path("answers.db"));
  const auto one = questions(1);
  Counting model, other("other");
  const ChatParameters parameters;
  const auto calls = [&](Counting& chat, const std::string& address, const ChatParameters& with) {
    const int before = chat.asked;
    ask(*store.stored(chat, address, with), one);
    return chat.asked - before;
  };
  EXPECT_EQ(calls(model, "a", parameters), 1);
  EXPECT_EQ(calls(model, "a", parameters), 0);
  EXPECT_EQ(calls(model, "b", parameters), 1);
  EXPECT_EQ(calls(other, "a", parameters), 1);
  for (const auto& change : std::vector<void (*)(ChatParameters&)>{
           [](ChatParameters& p) { p.temperature = 1; }, [](ChatParameters& p) { p.max_tokens = 10; },
           [](ChatParameters& p) { p.system = "x"; }, [](ChatParameters& p) { p.seed = 2; },
           [](ChatParameters& p) { p.seed.reset(); }}) {
    ChatParameters changed;
    change(changed);
    EXPECT_EQ(calls(model, "a", changed), 1);
    EXPECT_EQ(calls(model, "a", changed), 0);
  }
}

TEST(AnswerStore, ForgetsRefusalsAndFailures) {
  const test::TemporaryFolder folder;
  AnswerStore store(folder.path("answers.db"));
  Counting model;
  const auto chat = store.stored(model, "a", {});
  const std::vector<ChatQuestion> all{
      {"refused", 0}, {"failed", 0}, {"too_long", 0}, {"empty", 0}, {"unasked", 0}};
  const auto first = ask(*chat, all);
  EXPECT_EQ(model.asked, 5);
  const auto again = ask(*chat, all);
  EXPECT_EQ(model.asked, 8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(chat_outcome_name(again[i].outcome), all[i].text);
    EXPECT_EQ(again[i].reason, "so it is");
  }
}

// Gives answers by threes, as they came together, and breaks off before the last of the third three.
class ByThrees final : public Chat {
 public:
  const std::string& name() const override { return name_; }
  void ask(std::span<const ChatQuestion> questions,
           const std::function<void(std::size_t, ChatAnswer)>& taken) override {
    asked = questions.size();
    for (std::size_t i = 0; i < questions.size(); ++i) {
      if (i == 8) throw Error(ErrorCode::interrupted, "stopped");
      ChatAnswer answer;
      answer.outcome = ChatOutcome::answered;
      answer.text = "re: " + questions[i].text;
      answer.more = i % 3 < 2;
      taken(i, std::move(answer));
    }
  }
  std::size_t asked = 0;

 private:
  std::string name_ = "threes";
};

TEST(AnswerStore, AnswersThatComeTogetherAreStoredBeforeAnyIsGiven) {
  const test::TemporaryFolder folder;
  ByThrees model;
  const auto all = questions(9);
  std::vector<std::size_t> given;
  const auto run = [&] {
    AnswerStore store(folder.path("answers.db"));
    AnswerStore other(folder.path("answers.db"));
    ByThrees none;
    store.stored(model, "http://h/v1", {})->ask(all, [&](std::size_t place, const ChatAnswer& answer) {
      EXPECT_EQ(answer.text, "re: " + all[place].text);
      EXPECT_FALSE(answer.more);
      given.push_back(place);
      const std::size_t last = place / 3 * 3 + 2;  // of those that it came with
      std::size_t there = 0;
      other.stored(none, "http://h/v1", {})->ask(std::span(all).first(last + 1), [&](auto, auto) {
        ++there;
      });
      EXPECT_EQ(there, last + 1);
      EXPECT_EQ(none.asked, 0U) << "all of them are stored";
    });
  };
  EXPECT_EQ(message_of(ErrorCode::interrupted, run), "stopped");
  EXPECT_EQ(given, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  given.clear();
  run();
  EXPECT_EQ(given.size(), 9U);
  EXPECT_EQ(model.asked, 3U);
}

TEST(AnswerStore, WhatHasNoEmbeddingIsNotStored) {
  const test::TemporaryFolder folder;
  Letters letters;
  AnswerStore store(folder.path("answers.db"));
  const auto stored = store.stored(letters);
  const std::vector<std::string> texts{"!a", "bb", "!a", "c"};
  for (const int asked : {3, 4}) {
    const auto [rows, missing] = stored->embed(texts);
    EXPECT_EQ(missing, (std::map<std::size_t, std::string>{{0, "no: !a"}, {2, "no: !a"}}));
    EXPECT_EQ(rows.row(1)[0], 2);
    EXPECT_EQ(rows.row(3)[0], 1);
    EXPECT_EQ(letters.asked, asked) << "what is there is not asked again, what is not is";
  }
  EXPECT_EQ(stored->embed(std::vector<std::string>{"!a"}).missing.size(), 1U);
}

TEST(AnswerStore, KeepsEmbeddingsToTheBit) {
  const test::TemporaryFolder folder;
  Letters letters;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 1300; ++i) texts.emplace_back(i % 1200, 'x');
  Matrix<float> first;
  {
    AnswerStore store(folder.path("answers.db"));
    first = store.stored(letters)->embed(texts).rows;
    EXPECT_EQ(letters.asked, 1200);
  }
  AnswerStore store(folder.path("answers.db"));
  const auto stored = store.stored(letters);
  EXPECT_EQ(stored->name(), "letters");
  const Matrix<float> again = stored->embed(texts).rows;
  EXPECT_EQ(letters.asked, 1200);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(again.row(i)[0], static_cast<float>(i % 1200));
    EXPECT_EQ(again.row(i)[1], first.row(i)[1]);
  }
  texts.emplace_back("new");
  EXPECT_EQ(stored->embed(texts).rows.rows(), 1301U);
  EXPECT_EQ(letters.asked, 1201);
  EXPECT_EQ(stored->embed({}).rows.rows(), 0U);
  // Another model under the same name.
  Letters longer(5);
  texts.emplace_back("newer");
  EXPECT_EQ(message_of(ErrorCode::input, [&] { store.stored(longer)->embed(texts); }),
            folder.path("answers.db") +
                ": embeddings of letters have 2 and 5 numbers; expected one model of that name");
}

TEST(AnswerStore, IsSharedByProcesses) {
  const test::TemporaryFolder folder;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      AnswerStore store(folder.path("answers.db"));  // a connection of its own, as a process has
      Counting model;
      ask(*store.stored(model, "a", {}), questions(200));
    });
  }
  threads.clear();
  AnswerStore store(folder.path("answers.db"));
  Counting model;
  ask(*store.stored(model, "a", {}), questions(200));
  EXPECT_EQ(model.asked, 0);
}

TEST(AnswerStoreFaults, FilesThatAreNone) {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::string& path) {
    const std::string message = message_of(ErrorCode::input, [&] { const AnswerStore store(path); });
    EXPECT_TRUE(says(message, path + ": "));
    return message.substr(path.size() + 2);
  };
  EXPECT_EQ(refused(folder.write("text.db", std::string(5000, 'x'))), "is no SQLite file");
  EXPECT_EQ(refused(folder.path("no/answers.db")), "cannot be made: there is no folder " + folder.path("no"));
  EXPECT_EQ(refused(folder.path("")), "is a folder; expected a file");

  const std::string foreign = folder.path("foreign.db"), newer = folder.path("newer.db");
  { const SqliteFile file(foreign, {"x", 7, 1, "CREATE TABLE t (a)"}); }
  EXPECT_EQ(refused(foreign), "is an SQLite file of another program; expected a store of answers");
  { const SqliteFile file(newer, {"x", 0x4861726d, 2, "CREATE TABLE t (a)"}); }
  EXPECT_EQ(refused(newer), "is a store of answers of version 2; expected 1");
}

TEST(AnswerStoreFaults, DamagedFiles) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("answers.db");
  {
    AnswerStore store(path);
    Counting model;
    ask(*store.stored(model, "a", {}), questions(2000));
  }
  // Every page but the first is overwritten.
  const auto size = std::filesystem::file_size(path);
  ASSERT_GT(size, 50000U);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(size - 4096, '\x5a');
  }
  EXPECT_TRUE(says(message_of(ErrorCode::input,
                              [&] {
                                AnswerStore store(path);
                                Counting model;
                                ask(*store.stored(model, "a", {}), questions(2000));
                              }),
                   path + ": is damaged: "));
}

// Root may write anywhere: the test is nobody for a while.
class Unprivileged {
 public:
  Unprivileged() { EXPECT_EQ(::seteuid(before_ == 0 ? 65534 : before_), 0); }
  ~Unprivileged() { EXPECT_EQ(::seteuid(before_), 0); }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  uid_t before_ = ::geteuid();
};

TEST(AnswerStoreFaults, PlacesThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("answers.db");
  { const AnswerStore store(path); }
  ::chmod(path.c_str(), 0444);
  ::chmod(folder.path("").c_str(), 0555);
  {
    const Unprivileged nobody;
    EXPECT_EQ(message_of(ErrorCode::input, [&] { const AnswerStore store(path); }),
              path + ": cannot be written to");
    const std::string fresh = folder.path("new.db");
    EXPECT_EQ(message_of(ErrorCode::input, [&] { const AnswerStore store(fresh); }),
              fresh + ": cannot be opened or made");
  }
  // The file may be written, its folder not: there is no place for the log.
  ::chmod(path.c_str(), 0666);
  {
    const Unprivileged nobody;
    EXPECT_TRUE(
        says(message_of(ErrorCode::input, [&] { const AnswerStore store(path); }), path + ": cannot be "));
  }
  ::chmod(folder.path("").c_str(), 0755);
}

}  // namespace
}  // namespace harmonia
