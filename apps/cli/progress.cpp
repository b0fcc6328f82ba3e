#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace harmonia {
namespace {

constexpr std::chrono::milliseconds kBetween{100};
constexpr std::size_t kWidth = 24;

std::string clock(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

ProgressBar::ProgressBar(bool wanted, const std::vector<GammaRow>& done)
    : wanted_(wanted && isatty(STDERR_FILENO) != 0), start_(std::chrono::steady_clock::now()), last_(start_) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (i > 0 && done[i].row == done[i - 1].row) continue;  // another column of the same row
    ++before_.rows_done;
    before_.evaluations += done[i].evaluations();
  }
}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!wanted_ || now - last_ < kBetween) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(progress.evaluations - before_.evaluations) / seconds;
  std::string line = fmt::format("{} rows", progress.rows_done);
  if (progress.rows && *progress.rows > 0) {
    const double share = static_cast<double>(progress.rows_done) / static_cast<double>(*progress.rows);
    const auto full = std::min(kWidth, static_cast<std::size_t>(share * kWidth));
    line = fmt::format("[{}{}] {:3.0f} %  {}/{} rows", std::string(full, '#'),
                       std::string(kWidth - full, '.'), 100 * share, progress.rows_done, *progress.rows);
    const auto now_done = static_cast<double>(progress.rows_done - before_.rows_done);
    const auto left = static_cast<double>(*progress.rows - progress.rows_done);
    if (now_done > 0) line += fmt::format(", {} left", clock(seconds * left / now_done));
  }
  std::fputs(fmt::format("\r\033[K{}, {:.3g} evaluations/s", line, rate).c_str(), stderr);
}

}  // namespace harmonia
