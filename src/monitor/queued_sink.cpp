#include "queued_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "harmonia/core/text.hpp"

namespace harmonia {

QueuedSink::QueuedSink(std::string name, std::string kind, const AlertSinkOptions& options, Deliver deliver)
    : name_(std::move(name)), options_(options), deliver_(std::move(deliver)) {
  status_.name = name_;
  status_.kind = std::move(kind);
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

QueuedSink::~QueuedSink() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.last_wait, [&] { return waiting_.empty() && !under_way_; });
  }
  thread_.request_stop();
  thread_.join();
  if (!waiting_.empty())
    note(fmt::format("{}: {} not delivered when the program ended", name_,
                     waiting_.size() == 1 ? "1 alert was" : fmt::format("{} alerts were", waiting_.size())));
}

void QueuedSink::send(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= options_.most_waiting) {
    waiting_.pop_front();
    ++status_.dropped;
  }
  waiting_.push_back(line);
  changed_.notify_all();
}

SinkStatus QueuedSink::status() const {
  const std::lock_guard lock(mutex_);
  SinkStatus status = status_;
  status.waiting = waiting_.size() + (under_way_ ? 1 : 0);
  return status;
}

void QueuedSink::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    std::string line = std::move(waiting_.front());
    waiting_.pop_front();
    under_way_ = true;
    lock.unlock();
    const bool done = deliver_one(line, stop);
    lock.lock();
    under_way_ = false;
    if (!done) waiting_.push_front(std::move(line));
    changed_.notify_all();
  }
}

// False: the sink was stopped before it was known what becomes of the line.
bool QueuedSink::deliver_one(const std::string& line, const std::stop_token& stop) {
  auto pause = options_.first_pause;
  for (int tries = 1;; ++tries) {
    Delivery delivery;
    try {
      delivery = deliver_(line, stop);
    } catch (const std::exception& error) {
      delivery = {sentence(error.what()), true};
    }
    if (!delivery.failure.empty() && stop.stop_requested()) return false;
    enter(delivery);
    std::unique_lock lock(mutex_);
    if (delivery.failure.empty()) {
      ++status_.sent;
      return true;
    }
    if (!delivery.again || tries >= options_.tries) {
      ++status_.given_up;
      return true;
    }
    changed_.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return false;
    pause = std::min(2 * pause, options_.longest_pause);
  }
}

// Says what is new: a sink that fails on and on is told of once.
void QueuedSink::enter(const Delivery& delivery) {
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(status_.failure, delivery.failure);
    if (!delivery.failure.empty()) ++status_.failed_tries;
  }
  if (before.empty() && !delivery.failure.empty())
    note(fmt::format("{}: {}{}", name_, delivery.failure, delivery.again ? "; alerts wait" : ""));
  if (!before.empty() && delivery.failure.empty()) note(fmt::format("{} takes alerts again", name_));
}

void QueuedSink::note(const std::string& text) const {
  if (options_.note) options_.note(text);
}

}  // namespace harmonia
