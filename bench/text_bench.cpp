// What asking costs besides waiting: the wall time of questions to an endpoint of known latency, 64 in
// flight, against the latency of as many rounds. Connections are opened anew for each; once more with every
// answer stored.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../tests/support/stand_in_server.hpp"
#include "bench.hpp"
#include "harmonia/text/answer_store.hpp"
#include "harmonia/text/endpoint.hpp"

namespace harmonia::bench {
namespace {

constexpr double kGoal = 1.05;
constexpr std::size_t kInFlight = 64;
constexpr std::size_t kQuestions = 640;
constexpr int kRepeats = 5;

// An endpoint in a process of its own, which answers every question with its text after the latency.
class Endpoint {
 public:
  explicit Endpoint(std::chrono::milliseconds latency) {
    std::array<int, 2> pipe{};
    require(::pipe(pipe.data()) == 0, "no pipe to the endpoint");
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(latency, pipe[1]);
    }
    ::close(pipe[1]);
    std::array<char, 64> url{};
    const ssize_t count = ::read(pipe[0], url.data(), url.size());
    ::close(pipe[0]);
    require(count > 0, "the endpoint does not start");
    url_.assign(url.data(), static_cast<std::size_t>(count));
  }
  ~Endpoint() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const std::string& url() const { return url_; }

 private:
  [[noreturn]] static void serve(std::chrono::milliseconds latency, int pipe) {
    const test::StandInServer server([latency](const test::Request& request) {
      const auto end = std::chrono::steady_clock::now() + latency;
      const auto question = nlohmann::json::parse(request.body);
      test::Reply reply;
      reply.body =
          nlohmann::json{{"choices", {{{"message", {{"content", question["messages"].back()["content"]}}}}}}}
              .dump();
      std::this_thread::sleep_until(end);
      return reply;
    });
    const std::string url = server.url() + "/v1";
    if (::write(pipe, url.data(), url.size()) < 0) ::_exit(1);
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  pid_t process_ = -1;
  std::string url_;
};

// store: empty for none.
Seconds ask_all(const std::string& url, const std::string& store) {
  std::vector<ChatQuestion> questions;
  for (std::size_t i = 0; i < kQuestions; ++i) questions.push_back({"What is " + std::to_string(i) + "?", 0});
  EndpointOptions options;
  options.url = url;
  options.model = "m";
  options.in_flight = kInFlight;
  std::size_t right = 0;
  const auto taken = [&](std::size_t place, const ChatAnswer& answer) {
    right += answer.text == questions[place].text ? 1 : 0;
  };
  const Seconds taken_seconds = time_once([&] {
    ChatBudget budget;
    const auto chat = open_chat_endpoint(options, {}, budget);
    if (store.empty()) {
      chat->ask(questions, taken);
    } else {
      AnswerStore answers(store);
      answers.stored(*chat, url, {})->ask(questions, taken);
    }
  });
  require(right == kQuestions, fmt::format("{} of {} questions are answered right", right, kQuestions));
  return taken_seconds;
}

void run() {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("harmonia-bench-{}", ::getpid());
  std::filesystem::create_directory(folder);
  Goals goals;
  fmt::print("{} questions, {} in flight, the least of {}\n{:<10} {:<8} {:>8} {:>8} {:>8} {:>20}\n",
             kQuestions, kInFlight, kRepeats, "latency", "store", "least s", "wall s", "ratio",
             "processor µs a call");
  for (const int latency : {50, 200}) {
    const Endpoint endpoint{std::chrono::milliseconds(latency)};
    const double least = 1e-3 * latency * static_cast<double>(kQuestions) / static_cast<double>(kInFlight);
    for (const bool stored : {false, true}) {
      Seconds best;
      for (int i = 0; i < kRepeats; ++i) {
        const std::string store = stored ? (folder / fmt::format("{}-{}.db", latency, i)).string() : "";
        keep_least(best, ask_all(endpoint.url(), store));
      }
      fmt::print("{:<10} {:<8} {:>8.3f} {:>8.3f} {:>8.3f} {:>20.0f}\n", fmt::format("{} ms", latency),
                 stored ? "yes" : "no", least, best.wall, best.wall / least,
                 1e6 * best.processor / static_cast<double>(kQuestions));
      goals.at_most(fmt::format("wall time / latency, {} ms{}", latency, stored ? ", stored" : ""), kGoal,
                    best.wall / least);
    }
  }
  goals.print();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace harmonia::bench

int main() { harmonia::bench::run(); }
