// A run that is killed at any moment goes on where it was: no answer that was stored is asked for again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "harmonia/text/answer_store.hpp"
#include "support/chat_stand_in.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kQuestions = 400;
constexpr std::size_t kInFlight = 8;
constexpr int kKills = 12;

// What the processes share: how often each question came to the server.
struct Shared {
  std::atomic<int> port = 0;
  std::array<std::atomic<int>, kQuestions> asked{};
};

// A child of a process with one thread; `work` runs in it, and its end is the child's.
template <class Work>
pid_t start(const Work& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive the test
  int code = 1;
  try {
    work();
    code = 0;
  } catch (...) {
  }
  ::_exit(code);
}

bool ended_well(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void serve(Shared& shared) {
  const test::StandInServer server([&](const test::Request& request) {
    const std::string text = test::asked(request);
    ++shared.asked.at(std::stoul(text.substr(text.find(' ') + 1)));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return test::right_reply(request);
  });
  const std::string url = server.url();
  shared.port = std::stoi(url.substr(url.rfind(':') + 1));
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

void ask_all(int port, const std::string& path) {
  EndpointOptions options;
  options.url = fmt::format("http://127.0.0.1:{}/v1", port);
  options.model = "m";
  options.in_flight = kInFlight;
  ChatBudget budget;
  const auto chat = open_chat_endpoint(options, {}, budget);
  AnswerStore store(path);
  store.stored(*chat, options.url, {})->ask(test::questions(kQuestions), [](std::size_t, const ChatAnswer&) {
  });
}

// Nobody may be asked any more.
class Silent final : public Chat {
 public:
  const std::string& name() const override { return name_; }
  void ask(std::span<const ChatQuestion> all, const std::function<void(std::size_t, ChatAnswer)>&) override {
    ADD_FAILURE() << all.size() << " questions are not stored";
  }

 private:
  std::string name_ = "m";
};

TEST(AnswerStoreFaults, IsKilledAndGoesOn) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared;
  const test::TemporaryFolder folder;
  const std::string path = folder.path("answers.db");
  const pid_t server = start([&] { serve(shared); });
  while (shared.port == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  std::mt19937 random(1);
  int kills = 0;
  for (bool done = false; !done;) {
    const bool let_go = kills == kKills;
    const pid_t run = start([&] { ask_all(shared.port, path); });
    if (!let_go) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 30));
      ::kill(run, SIGKILL);
    }
    done = ended_well(run);
    ASSERT_TRUE(done || !let_go) << "the run failed by itself";
    if (!done) ++kills;
  }
  std::size_t asked = 0;
  for (const auto& times : shared.asked) {
    EXPECT_GE(times, 1);
    asked += static_cast<std::size_t>(times);
  }
  EXPECT_GT(kills, 0);
  EXPECT_LE(asked, kQuestions + static_cast<std::size_t>(kills) * kInFlight);

  Silent silent;
  AnswerStore store(path);
  const auto all = test::questions(kQuestions);
  const auto chat = store.stored(silent, fmt::format("http://127.0.0.1:{}/v1", shared.port.load()), {});
  const auto answers = test::ask(*chat, all);
  for (std::size_t i = 0; i < kQuestions; ++i) EXPECT_EQ(answers[i].text, "re: " + all[i].text);
  ::kill(server, SIGKILL);
  ended_well(server);
  ::munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace harmonia
