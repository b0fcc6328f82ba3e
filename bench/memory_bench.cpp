// Goal 10: resident memory of the program at a million features, above what it takes to start.

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench.hpp"

extern char** environ;

namespace harmonia::bench {
namespace {

constexpr double kGoal = 1.1;
constexpr double kInputs = 1e6;

// Runs the program and gives its peak resident memory in bytes. Its JSON result is put into `result`.
double peak_bytes(std::vector<std::string> words, nlohmann::json& result) {
  char path[] = "/tmp/harmonia_memory_XXXXXX";
  close(mkstemp(path));
  words.insert(words.begin(), HARMONIA_PROGRAM);
  words.insert(words.end(), {"--quiet", "--json", path});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  require(posix_spawn(&child, HARMONIA_PROGRAM, nullptr, nullptr, arguments.data(), environ) == 0,
          "the program does not start");
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  std::FILE* file = std::fopen(path, "r");
  if (file != nullptr) {
    result = nlohmann::json::parse(file, nullptr, false);
    std::fclose(file);
  }
  unlink(path);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the program failed");
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void compare_all() {
  nlohmann::json result;
  const double start = peak_bytes({"gamma", "fn:f2", "uniform:1", "--radius", "1"}, result);
  fmt::print("start-up takes {:.1f} MB\n", 1e-6 * start);
  Goals goals(10);
  for (const char* ball : {"cross", "simplex+anti", "random-pairs:8"}) {
    for (const int batch : {8, 32}) {
      for (const int threads : {1, 2}) {
        std::vector<std::string> words{"gamma",
                                       "fn:f2?n=1000000",
                                       "uniform:4",
                                       "--radius",
                                       "0.1",
                                       "--ball",
                                       ball,
                                       "--batch",
                                       std::to_string(batch),
                                       "--threads",
                                       std::to_string(threads)};
        if (ball[0] != 'r') words.insert(words.end(), {"--sample", "16"});
        const double more = peak_bytes(words, result) - start;
        // The mean of |x|² over a sphere around x is |x|² + r².
        for (const auto& row : result["rows"]) {
          require(std::abs(row["gamma"].get<double>() - 0.01) < 1e-7,
                  fmt::format("{}: {}", ball, row.dump()));
        }
        require(result["rows"].size() == 4, "not 4 rows");
        const double allowed = 8 * kInputs * (batch + 16);
        goals.at_most(fmt::format("{}, batch {}, {} thread{}: {:.0f} MB of {:.0f}", ball, batch, threads,
                                  threads == 1 ? "" : "s", 1e-6 * more, 1e-6 * allowed),
                      kGoal, more / allowed);
      }
    }
  }
  goals.print();
}

}  // namespace
}  // namespace harmonia::bench

int main() { harmonia::bench::compare_all(); }
