#pragma once

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

/// What the benchmarks share: two clocks, two sides timed in turn, and the table of goals.
namespace harmonia::bench {

/// Seconds that passed, and seconds of processor time over all threads.
struct Seconds {
  double wall = 0;
  double processor = 0;
};

inline double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What one call of `work` takes.
template <class Work>
Seconds time_once(const Work& work) {
  const Seconds start{seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
  work();
  return {seconds(CLOCK_MONOTONIC) - start.wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - start.processor};
}

/// Keeps the least of each clock: what others do on the machine only ever adds. Zero: nothing is kept yet.
inline void keep_least(Seconds& least, const Seconds& now) {
  least.wall = least.wall == 0 ? now.wall : std::min(least.wall, now.wall);
  least.processor = least.processor == 0 ? now.processor : std::min(least.processor, now.processor);
}

struct TwoSides {
  Seconds ours, theirs;
};

/// Times both sides in turn, so that a disturbance meets both, and keeps the least.
template <class Ours, class Theirs>
TwoSides time_in_turn(int repeats, const Ours& ours, const Theirs& theirs) {
  TwoSides least;
  for (int i = 0; i < repeats; ++i) {
    keep_least(least.theirs, time_once(theirs));
    keep_least(least.ours, time_once(ours));
  }
  return least;
}

/// A wrong answer ends the benchmark: there is nothing to time.
inline void require(bool right, const std::string& what) {
  if (right) return;
  std::fputs(fmt::format("wrong answer: {}\n", what).c_str(), stderr);
  std::exit(1);
}

/// One line a goal; a goal that is missed is shown, and fails nothing.
class Goals {
 public:
  /// Which of the project's goals the lines are of, by number; 0: none.
  explicit Goals(int number = 0) : number_(number) {}
  void of(int number) { number_ = number; }
  void at_least(const std::string& what, double goal, double measured) {
    add(what, ">=", goal, measured, measured >= goal);
  }
  void at_most(const std::string& what, double goal, double measured) {
    add(what, "<=", goal, measured, measured <= goal);
  }
  void print() const {
    fmt::print("\n{:<62} {:<9} {:>9}\n", "goal", "", "measured");
    for (const std::string& line : lines_) fmt::print("{}\n", line);
  }

 private:
  void add(const std::string& what, const char* sign, double goal, double measured, bool met) {
    const std::string number = number_ > 0 ? fmt::format("{}", number_) : "";
    lines_.push_back(fmt::format("{:>2}  {:<58} {} {:<6g} {:>9.3f}  {}", number, what, sign, goal, measured,
                                 met ? "pass" : "short"));
  }

  int number_;
  std::vector<std::string> lines_;
};

}  // namespace harmonia::bench
