#include "harmonia/model/command_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "child_process.hpp"
#include "command_exchange.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "row_text.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{
    5000};  // silence after which a program is taken to wait for the end of input
constexpr std::size_t kRowsPerExchange = 1024;
constexpr milliseconds kLinger{50};     // after the first answer, for lines that nobody asked for
constexpr milliseconds kFarewell{500};  // to end by itself once its input is closed
constexpr milliseconds kLastWords{50};  // to write why its answer is wrong
constexpr double kLongestTimeout = 86400.0 * 365;

class CommandModel final : public Model {
 public:
  CommandModel(const std::string& address, const ModelOptions& options, std::span<const double> example)
      : command_(address.starts_with("cmd:") ? address.substr(4) : address) {
    if (trim(command_).empty())
      throw Error(ErrorCode::usage, "model cmd: names no program; expected cmd:PROGRAM ARGS");
    if (!(options.timeout_seconds > 0)) {
      throw Error(ErrorCode::usage,
                  fmt::format("timeout of {} s; expected more than 0", options.timeout_seconds));
    }
    stop_ = options.stop;
    info_.name = address;
    info_.kind = "command";
    info_.inputs = example.size();
    info_.takes_missing = options.takes_missing;
    info_.binary = options.binary;
    info_.preferred_batch = kRowsPerExchange;
    timeout_ = milliseconds(
        std::max(1LL, static_cast<long long>(1000 * std::min(options.timeout_seconds, kLongestTimeout))));
    ask_example(example);
  }

  ~CommandModel() override {
    for (const auto& process : idle_) process->close_input();
    for (const auto& process : idle_) process->end(kFarewell);
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    if (x.rows() == 0) return;
    ask(x, [&](std::size_t row, std::string_view line, ChildProcess& process) {
      const std::size_t values = count_values(line);
      if (values != info_.outputs) {
        fail_line(process, row, line, fmt::format("has {} values", values),
                  fmt::format("{}, as in its first answer", info_.outputs));
      }
      read_line(process, row, line, {y.row(row), info_.outputs});
    });
  }

 private:
  // The first answer says how many outputs there are.
  void ask_example(std::span<const double> example) {
    std::vector<double> answer;
    ask(MatrixView<const double>{example.data(), 1, example.size()},
        [&](std::size_t row, std::string_view line, ChildProcess& process) {
          answer.resize(count_values(line));
          if (answer.empty()) fail_line(process, row, line, "is blank", "comma-separated numbers");
          read_line(process, row, line, answer);
        });
    info_.outputs = answer.size();
    info_.example_rows = 1;
  }

  template <class Answer>
  void ask(RowsView x, const Answer& answer) const {
    std::unique_ptr<ChildProcess> process = take_idle();
    AfterExchange after = AfterExchange::gone;
    if (process) after = ask_one(*process, x, answer, true);
    // A program that ended by itself between two batches had answered all that it was asked.
    if (after == AfterExchange::gone) {
      process = start();
      after = ask_one(*process, x, answer, false);
    }
    if (after == AfterExchange::ended_by_input) answers_at_end_ = true;
    if (after == AfterExchange::ready && !answers_at_end_) give_back(std::move(process));
  }

  template <class Answer>
  AfterExchange ask_one(ChildProcess& process, RowsView x, const Answer& answer, bool kept) const {
    ExchangeOptions options;
    options.stop = stop_;
    options.name = info_.name;
    options.timeout = timeout_;
    options.patience = std::min(kPatience, timeout_ / 4);
    options.kept = kept;
    options.linger = info_.outputs == 0 ? kLinger : milliseconds(0);
    options.close_input = answers_at_end_;
    return exchange(process, options, x,
                    [&](std::size_t row, std::string_view line) { answer(row, line, process); });
  }

  void read_line(ChildProcess& process, std::size_t row, std::string_view line, std::span<double> out) const {
    const auto wrong = parse_line(line, out);
    if (wrong) fail_line(process, row, line, fmt::format("has '{}'", printable(*wrong)), "a number");
  }

  [[noreturn]] void fail_line(ChildProcess& process, std::size_t row, std::string_view line,
                              const std::string& found, const std::string& expected) const {
    const std::string what = fmt::format("line {} of its answer, '{}', {}; expected {}", row + 1,
                                         printable(line), found, expected);
    process.end(kLastWords);  // `line` is gone from here on
    fail_command(info_.name, what, process.last_error_line());
  }

  std::unique_ptr<ChildProcess> take_idle() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty() || answers_at_end_) return nullptr;
    std::unique_ptr<ChildProcess> process = std::move(idle_.back());
    idle_.pop_back();
    return process;
  }

  void give_back(std::unique_ptr<ChildProcess> process) const {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(process));
  }

  std::unique_ptr<ChildProcess> start() const {
    try {
      return std::make_unique<ChildProcess>(command_);
    } catch (const std::system_error& error) {
      fail_command(info_.name, fmt::format("cannot be started: {}", error.what()), "");
    }
  }

  ModelInfo info_;
  std::string command_;
  milliseconds timeout_;
  std::stop_token stop_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<ChildProcess>> idle_;
  // Found out by waiting once: from then on every batch has a process of its own.
  mutable std::atomic<bool> answers_at_end_ = false;
};

}  // namespace

std::unique_ptr<Model> open_command_model(const std::string& address, const ModelOptions& options,
                                          std::span<const double> example) {
  return std::make_unique<CommandModel>(address, options, example);
}

}  // namespace harmonia
