#include "watch_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/side_thread.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWait{200};            // for rows, before it is looked whether to stop
constexpr milliseconds kFirstPause{500};      // before a model that did not answer is asked again …
constexpr milliseconds kLongestPause{30000};  // … and at most

// False: it is to stop.
bool pause(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

// What is needed of a batch after its rows were measured.
StreamBatch without_rows(const StreamBatch& batch) {
  StreamBatch head;
  head.partition = batch.partition;
  head.first = batch.first;
  head.next = batch.next;
  head.id = batch.id;
  head.time = batch.time;
  return head;
}

// A batch is measured by a thread of its own, while this one keeps the batch before and reads the next.
class Watch {
 public:
  Watch(Monitor& monitor, RowStream& stream, const WatchListener& listener, std::stop_token stop)
      : monitor_(monitor), stream_(stream), listener_(listener), stop_(std::move(stop)) {}

  void run() {
    stream_.start(monitor_.positions());
    while (!stop_.stop_requested() && (!ended_ || coming_)) {
      if (!coming_) read(monitor_.has_incomplete() ? milliseconds(0) : kWait);
      if (coming_ && !measure()) break;
      if (!coming_) keep();
      if (!kept_) tell_if_unsaved(monitor_.save_again());
      look_at_alerts();
    }
    keep();
    while (monitor_.has_incomplete() && !stop_.stop_requested()) look_at_alerts();
    if (!monitor_.save_again())
      throw Error(ErrorCode::input, "not all is kept: " + monitor_.status().unsaved);
  }

 private:
  // Waits at most so long for the next batch.
  void read(milliseconds wait) {
    if (ended_) return;
    StreamBatch batch;
    const Arrival arrival = stream_.next(batch, wait);
    ended_ = arrival == Arrival::end;
    if (arrival == Arrival::rows) coming_ = std::move(batch);
  }

  // Has the batch that came measured. False: it is to stop, and it was not.
  bool measure() {
    StreamBatch head = without_rows(*coming_);
    measuring_ = std::move(*coming_);
    coming_.reset();
    beside_.start([this] { measured_ = measured_of(measuring_); });
    keep();
    read(milliseconds(0));
    beside_.finish();
    if (!measured_) return false;
    unkept_ = {std::move(measured_), std::move(head)};
    return true;
  }

  // Keeps the batch that was measured last, if it is not kept yet.
  void keep() {
    if (!unkept_.first) return;
    const Taken taken = monitor_.keep(*std::exchange(unkept_.first, nullptr));
    waiting_.emplace_back(std::move(unkept_.second), taken.fresh);
    tell_if_unsaved(taken.kept);
    for (const Alert& alert : taken.alerts) listener_.alert(alert);
  }

  // As Monitor::measure(), when the model answers again; null: stopped.
  std::shared_ptr<const MeasuredBatch> measured_of(const StreamBatch& batch) {
    for (milliseconds time = kFirstPause;; time = std::min(2 * time, kLongestPause)) {
      try {
        std::shared_ptr<const MeasuredBatch> measured = monitor_.measure(batch);
        if (time != kFirstPause) listener_.note("the model answers again");
        return measured;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::interrupted) return nullptr;
        if (error.code() != ErrorCode::model) throw;
        listener_.note(fmt::format("{}; asked again in {:.1f} s", error.what(),
                                   std::chrono::duration<double>(time).count()));
        if (!pause(time, stop_)) return nullptr;
      }
    }
  }

  // Senders are told when their rows are kept, the user when it cannot be and when it can again.
  void tell_if_unsaved(bool kept) {
    if (kept) {
      for (const auto& [batch, fresh] : waiting_) stream_.kept(batch, fresh);
      waiting_.clear();
    }
    if (kept == kept_) return;
    kept_ = kept;
    listener_.note(
        kept ? "the file can be written again: all is kept"
             : fmt::format("cannot be kept for now, and is measured on: {}", monitor_.status().unsaved));
  }

  // At one row of an alert, so that rows that come do not wait long.
  void look_at_alerts() {
    try {
      if (const std::optional<Alert> alert = monitor_.complete_alert()) listener_.alert(*alert);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::interrupted) throw;
    }
  }

  Monitor& monitor_;
  RowStream& stream_;
  const WatchListener& listener_;
  std::stop_token stop_;
  bool ended_ = false;
  std::optional<StreamBatch> coming_;  // was read, and is measured next
  StreamBatch measuring_;
  std::shared_ptr<const MeasuredBatch> measured_;
  std::pair<std::shared_ptr<const MeasuredBatch>, StreamBatch> unkept_;  // was measured; and without its rows
  std::vector<std::pair<StreamBatch, bool>>
      waiting_;  // for the file to be written, and whether they were fresh
  bool kept_ = true;
  SideThread beside_;  // last: it uses the others
};

}  // namespace

void watch(Monitor& monitor, RowStream& stream, const WatchListener& listener, const std::stop_token& stop) {
  Watch(monitor, stream, listener, stop).run();
}

}  // namespace harmonia
