// What asking costs besides waiting: the wall time of questions to an endpoint of known latency, 64 in
// flight, against the latency of as many rounds. Connections are opened anew for each; once more with every
// answer stored.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
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
  std::uint16_t port() const {
    return static_cast<std::uint16_t>(std::stoi(url_.substr(url_.rfind(':') + 1)));
  }

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

// Asks `count` times over one connection, and waits for all of each answer.
void exchange(std::uint16_t port, std::size_t count) {
  const std::string body = R"({"messages":[{"content":"What is 100?","role":"user"}]})";
  const std::string request = fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(port);
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  const auto* const where = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  require(::connect(socket, where, sizeof address) == 0, "no connection to the endpoint");
  std::array<char, 4096> buffer{};
  for (std::size_t i = 0; i < count; ++i) {
    require(::send(socket, request.data(), request.size(), 0) > 0, "nothing can be sent");
    std::string answer;
    while (!answer.ends_with("}]}")) {
      const ssize_t received = ::recv(socket, buffer.data(), buffer.size(), 0);
      require(received > 0, "the endpoint closed");
      answer.append(buffer.data(), static_cast<std::size_t>(received));
    }
  }
  ::close(socket);
}

void exchange_all(std::uint16_t port) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kInFlight; ++i)
    threads.emplace_back([port] { exchange(port, kQuestions / kInFlight); });
}

// store: null for none. run: each asks anew.
void ask_all(const std::string& url, AnswerStore* store, int run) {
  std::vector<ChatQuestion> questions;
  for (std::size_t i = 0; i < kQuestions; ++i) questions.push_back({fmt::format("What is {}?", i + 100), 0});
  EndpointOptions options;
  options.url = url;
  options.model = "m";
  options.in_flight = kInFlight;
  std::size_t right = 0;
  const auto taken = [&](std::size_t place, const ChatAnswer& answer) {
    right += answer.text == questions[place].text ? 1 : 0;
  };
  ChatBudget budget;
  const auto chat = open_chat_endpoint(options, {}, budget);
  if (store == nullptr) {
    chat->ask(questions, taken);
  } else {
    store->stored(*chat, fmt::format("{} {}", url, run), {})->ask(questions, taken);
  }
  require(right == kQuestions, fmt::format("{} of {} questions are answered right", right, kQuestions));
}

void run() {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("harmonia-bench-{}", ::getpid());
  std::filesystem::create_directory(folder);
  AnswerStore store((folder / "answers.db").string());
  Goals goals;
  fmt::print("{} questions, {} in flight, the least of {}\n{:<10} {:<6} {:>10} {:>10} {:>10} {:>20}\n",
             kQuestions, kInFlight, kRepeats, "latency", "store", "rounds s", "bare s", "wall s",
             "processor µs a call");
  for (const int latency : {50, 200}) {
    const Endpoint endpoint{std::chrono::milliseconds(latency)};
    const double rounds = 1e-3 * latency * static_cast<double>(kQuestions) / static_cast<double>(kInFlight);
    for (const bool stored : {false, true}) {
      int run = 0;
      const TwoSides sides = time_in_turn(
          kRepeats, [&] { ask_all(endpoint.url(), stored ? &store : nullptr, run++); },
          [&] { exchange_all(endpoint.port()); });
      fmt::print("{:<10} {:<6} {:>10.3f} {:>10.3f} {:>10.3f} {:>20.0f}\n", fmt::format("{} ms", latency),
                 stored ? "yes" : "no", rounds, sides.theirs.wall, sides.ours.wall,
                 1e6 * sides.ours.processor / static_cast<double>(kQuestions));
      const std::string what = fmt::format("{} ms{}", latency, stored ? ", stored" : "");
      goals.at_most("wall time / bare exchange, " + what, kGoal, sides.ours.wall / sides.theirs.wall);
      goals.at_most("wall time / latency, " + what, kGoal, sides.ours.wall / rounds);
    }
  }
  goals.print();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace harmonia::bench

int main() { harmonia::bench::run(); }
