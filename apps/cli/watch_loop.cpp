#include "watch_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kWait{200};            // for rows, before it is looked whether to stop
constexpr milliseconds kFirstPause{500};      // before a model that did not answer is asked again …
constexpr milliseconds kLongestPause{30000};  // … and at most
constexpr milliseconds kBetweenProgress{1000};

// False: it is to stop.
bool pause(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

class Watch {
 public:
  Watch(Monitor& monitor, RowStream& stream, const WatchListener& listener, std::stop_token stop)
      : monitor_(monitor), stream_(stream), listener_(listener), stop_(std::move(stop)) {}

  void run() {
    stream_.start(monitor_.positions());
    while (!stop_.stop_requested()) {
      StreamBatch batch;
      const Arrival arrival = stream_.next(batch, kWait);
      if (arrival == Arrival::end) break;
      if (arrival == Arrival::rows && !take(std::move(batch))) break;
      complete_alerts();
      show_progress();
    }
    listener_.progress(monitor_.status());
  }

 private:
  // False: it is to stop, and the batch was not taken.
  bool take(StreamBatch batch) {
    const std::optional<Taken> taken = taken_of(batch);
    if (!taken) return false;
    batch.rows.reset(0, 0, 0);  // who sent it needs no more than its positions
    waiting_.emplace_back(std::move(batch), taken->fresh);
    tell_if_unsaved(taken->kept);
    if (taken->kept) {
      for (const auto& [kept, fresh] : waiting_) stream_.kept(kept, fresh);
      waiting_.clear();
    }
    for (const Alert& alert : taken->alerts) listener_.alert(alert);
    return true;
  }

  // As Monitor::take(), when the model answers again; none: stopped.
  std::optional<Taken> taken_of(const StreamBatch& batch) {
    for (milliseconds time = kFirstPause;; time = std::min(2 * time, kLongestPause)) {
      try {
        Taken taken = monitor_.take(batch);
        if (time != kFirstPause) listener_.note("the model answers again");
        return taken;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::interrupted) return std::nullopt;
        if (error.code() != ErrorCode::model) throw;
        listener_.note(fmt::format("{}; asked again in {:.1f} s", error.what(),
                                   std::chrono::duration<double>(time).count()));
        if (!pause(time, stop_)) return std::nullopt;
      }
    }
  }

  void tell_if_unsaved(bool kept) {
    if (kept == kept_) return;
    kept_ = kept;
    listener_.note(
        kept ? "the file can be written again: all is kept"
             : fmt::format("cannot be kept for now, and is measured on: {}", monitor_.status().unsaved));
  }

  void complete_alerts() {
    try {
      while (const std::optional<Alert> alert = monitor_.complete_alert()) {
        listener_.alert(*alert);
        if (stop_.stop_requested()) return;
      }
    } catch (const Error& error) {
      // Tried again later.
      if (error.code() == ErrorCode::interrupted || error.what() == incomplete_) return;
      incomplete_ = error.what();
      listener_.note("an alert's rows cannot be looked at: " + incomplete_);
    }
  }

  void show_progress() {
    const Clock::time_point now = Clock::now();
    if (now - shown_ < kBetweenProgress) return;
    shown_ = now;
    listener_.progress(monitor_.status());
  }

  Monitor& monitor_;
  RowStream& stream_;
  const WatchListener& listener_;
  std::stop_token stop_;
  std::vector<std::pair<StreamBatch, bool>> waiting_;  // to be kept, and whether they were fresh
  bool kept_ = true;
  std::string incomplete_;  // why the last alert could not be completed
  Clock::time_point shown_{};
};

}  // namespace

void watch(Monitor& monitor, RowStream& stream, const WatchListener& listener, const std::stop_token& stop) {
  Watch(monitor, stream, listener, stop).run();
}

}  // namespace harmonia
