#include "command_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <span>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "row_text.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kSendBytes = 1 << 16;  // text made ahead of what the pipe has taken
constexpr std::size_t kLongestLine = std::size_t{1} << 26;
constexpr milliseconds kTick{50};           // how often silence is looked into
constexpr milliseconds kLastWords{50};      // to write why it fails
constexpr milliseconds kEndPatience{1000};  // to end, once the standard output is closed

std::string describe(const ProcessEnd& end) {
  if (end.by_us) return "closed its standard output";
  if (end.signal != 0) {
    const char* name = ::sigabbrev_np(end.signal);
    return name == nullptr ? fmt::format("was ended by signal {}", end.signal)
                           : fmt::format("was ended by signal {} (SIG{})", end.signal, name);
  }
  if (end.status == 127) return "not found (status 127 of the shell)";
  if (end.status == 126) return "cannot be executed (status 126 of the shell)";
  return fmt::format("exited with status {}", end.status);
}

std::string seconds(milliseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

class Exchange {
 public:
  Exchange(ChildProcess& process, const ExchangeOptions& options, RowsView x,
           const std::function<void(std::size_t, std::string_view)>& answer)
      : process_(process), options_(options), x_(x), answer_(answer), closing_(options.close_input) {}

  AfterExchange run() {
    if (options_.kept) {
      process_.wait(false, milliseconds(0));
      refuse_extra_output();  // of the batch before
    }
    progress_ = heard_ = Clock::now();
    while (process_.output_open()) {
      send();
      take_lines();
      if (answered_ == x_.rows() && !closing_) {
        if (!all_sent()) too_many_lines();
        process_.wait(false, options_.linger);
        refuse_extra_output();
        if (process_.output_open()) return AfterExchange::ready;
        break;
      }
      watch_silence();
      process_.wait(!all_sent(), kTick);
    }
    return finish();
  }

 private:
  bool all_sent() const { return !process_.input_open() || (next_row_ == x_.rows() && text_.empty()); }

  void send() {
    while (!all_sent()) {
      while (text_.size() < kSendBytes && next_row_ < x_.rows()) append_row(next_row_++);
      const std::size_t count = process_.send(text_);
      if (count == 0) break;
      text_.erase(0, count);
      progress_ = heard_ = Clock::now();
    }
    if (closing_ && all_sent()) process_.close_input();
  }

  void append_row(std::size_t row) {
    if (x_.scalar() == Scalar::float32) {
      append_line(text_, std::span(x_.as<float>().row(row), x_.columns()));
    } else {
      append_line(text_, std::span(x_.as<double>().row(row), x_.columns()));
    }
  }

  void take_lines() {
    std::string& output = process_.output();
    if (output.size() > seen_) heard_ = Clock::now();
    std::size_t start = 0;
    // What was searched for an end of line before is not searched again.
    for (std::size_t end; (end = output.find('\n', std::max(start, seen_))) != std::string::npos;
         start = end + 1) {
      if (answered_ == x_.rows()) break;
      answer_(answered_++, std::string_view(output).substr(start, end - start));
      progress_ = Clock::now();
    }
    output.erase(0, start);
    seen_ = output.size();
    if (answered_ == x_.rows()) refuse_extra_output();
    if (output.size() > kLongestLine) fail(fmt::format("line {} is longer than 64 MiB", answered_ + 1));
  }

  void refuse_extra_output() {
    std::string& output = process_.output();
    seen_ = 0;
    if (!trim(output).empty()) too_many_lines();
    output.clear();
  }

  [[noreturn]] void too_many_lines() {
    const std::string_view extra = trim(process_.output());
    const std::string_view line = extra.substr(0, extra.find('\n'));
    fail(fmt::format("wrote more lines than it was given rows{}",
                     line.empty() ? "" : fmt::format(", the first of them '{}'", printable(line))),
         "one line per row");
  }

  // Some programs answer when their input ends. They have read everything and say nothing; one that is still
  // starting has not read yet and is waited for.
  void watch_silence() {
    if (options_.stop.stop_requested()) {
      process_.end(milliseconds(0));
      throw Error(ErrorCode::interrupted, "stopped");
    }
    const auto now = Clock::now();
    if (now - progress_ >= options_.timeout) {
      process_.end(milliseconds(0));
      fail(fmt::format("no answer within {}, {} of {} rows answered", seconds(options_.timeout), answered_,
                       x_.rows()));
    }
    if (closing_ || !all_sent()) return;
    if (!process_.input_consumed()) heard_ = now;
    if (now - heard_ < options_.patience) return;
    closing_ = asked_by_closing_ = true;
    process_.close_input();
    progress_ = now;
  }

  // The output is closed: takes a last line without its end, and asks how the program ended.
  AfterExchange finish() {
    take_lines();
    if (answered_ < x_.rows() && !trim(process_.output()).empty()) {
      answer_(answered_++, process_.output());
      process_.output().clear();
    }
    const ProcessEnd end = process_.end(closing_ ? options_.timeout : kEndPatience);
    if (options_.kept && answered_ == 0 && end.success()) return AfterExchange::gone;
    if (answered_ < x_.rows()) {
      if (end.status == 126 || end.status == 127) fail(describe(end), "a program that runs");
      fail(fmt::format("{} after {} of {} answers", describe(end), answered_, x_.rows()), "one line per row");
    }
    if (!end.success() && !end.by_us) {
      fail(fmt::format("{} after the last answer", describe(end)), "status 0");
    }
    return asked_by_closing_ ? AfterExchange::ended_by_input : AfterExchange::ended;
  }

  [[noreturn]] void fail(const std::string& what, const std::string& expected = "") {
    process_.end(kLastWords);
    fail_command(options_.name, expected.empty() ? what : fmt::format("{}; expected {}", what, expected),
                 process_.last_error_line());
  }

  ChildProcess& process_;
  const ExchangeOptions& options_;
  RowsView x_;
  const std::function<void(std::size_t, std::string_view)>& answer_;
  bool closing_;                   // the input is closed once everything is sent
  bool asked_by_closing_ = false;  // it was closed to make the program answer
  std::string text_;               // rows as text that the pipe has not taken yet
  std::size_t next_row_ = 0;       // the first that is not in text_
  std::size_t answered_ = 0;
  std::size_t seen_ = 0;        // bytes of the output that hold no end of line
  Clock::time_point progress_;  // last line received or byte sent
  Clock::time_point heard_;     // last byte received, sent or read by the program
};

}  // namespace

AfterExchange exchange(ChildProcess& process, const ExchangeOptions& options, RowsView x,
                       const std::function<void(std::size_t, std::string_view)>& answer) {
  return Exchange(process, options, x, answer).run();
}

void fail_command(const std::string& name, const std::string& what, const std::string& error_line) {
  const std::string said =
      error_line.empty() ? "" : fmt::format("; its standard error ends with: {}", sentence(error_line));
  throw Error(ErrorCode::model, fmt::format("model {}: {}{}", sentence(name), what, said));
}

}  // namespace harmonia
