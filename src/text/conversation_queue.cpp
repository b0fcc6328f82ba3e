#include "harmonia/text/conversation_queue.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

// 128 bits of the system's randomness: who does not know the id cannot read the measurement.
std::string new_id() {
  std::random_device words;
  std::string id = "gamma-";
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", words() & 0xffffffffU);
  return id;
}

}  // namespace

std::string_view measurement_status_name(MeasurementStatus status) {
  switch (status) {
    case MeasurementStatus::pending:
      return "pending";
    case MeasurementStatus::measured:
      return "measured";
    case MeasurementStatus::failed:
      return "failed";
  }
  return "";
}

ConversationQueue::ConversationQueue(const ConversationQueueOptions& options,
                                     const std::function<Measure()>& make)
    : options_(options) {
  if (options.threads == 0 || options.kept == 0)
    throw Error(ErrorCode::usage, "no thread or no place for measurements; expected at least one");
  for (std::size_t i = 0; i < options.threads; ++i)
    threads_.emplace_back([this, measure = make()](const std::stop_token& stop) { work(stop, measure); });
}

ConversationQueue::~ConversationQueue() {
  close();
  for (std::jthread& thread : threads_) thread.request_stop();
}

std::string ConversationQueue::open() {
  std::string id = new_id();
  const std::lock_guard lock(mutex_);
  measurements_[id].id = id;
  order_.push_back(id);
  if (order_.size() > options_.kept) {
    const std::string& oldest = order_.front();
    if (const auto other = known_as_.extract(oldest)) {
      if (const auto found = other_ids_.find(other.mapped());
          found != other_ids_.end() && found->second == oldest)
        other_ids_.erase(found);
    }
    measurements_.erase(oldest);
    order_.pop_front();
  }
  return id;
}

void ConversationQueue::enter(const std::string& id, ConversationTask task) {
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      why = "the gateway ends";
    } else if (waiting_.size() >= options_.most_pending) {
      why = fmt::format("the queue is full ({} waiting)", waiting_.size());
    } else {
      waiting_.push_back({id, std::move(task)});
    }
  }
  if (why.empty()) {
    entered_.notify_one();
  } else {
    fail(id, std::move(why));
  }
}

void ConversationQueue::fail(const std::string& id, std::string reason) {
  ConversationGamma result;
  result.reason = std::move(reason);
  settle(id, std::move(result));
}

void ConversationQueue::also_known_as(const std::string& id, const std::string& other) {
  const std::lock_guard lock(mutex_);
  if (other.empty() || !measurements_.contains(id) || measurements_.contains(other)) return;
  other_ids_[other] = id;
  known_as_[id] = other;
}

const Measurement* ConversationQueue::known(const std::string& id) const {
  const auto other = other_ids_.find(id);
  const auto found = measurements_.find(other == other_ids_.end() ? id : other->second);
  return found == measurements_.end() ? nullptr : &found->second;
}

std::optional<Measurement> ConversationQueue::find(const std::string& id) const {
  return wait(id, std::chrono::milliseconds(0));
}

std::optional<Measurement> ConversationQueue::wait(const std::string& id,
                                                   std::chrono::milliseconds longest) const {
  std::unique_lock lock(mutex_);
  settled_.wait_for(lock, longest, [&] {
    const Measurement* const found = known(id);
    return closed_ || found == nullptr || found->status != MeasurementStatus::pending;
  });
  const Measurement* const found = known(id);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::size_t ConversationQueue::close() {
  const std::lock_guard lock(mutex_);
  const std::size_t dropped = waiting_.size() + under_way_;
  closed_ = true;
  waiting_.clear();
  settled_.notify_all();
  return dropped;
}

void ConversationQueue::work(const std::stop_token& stop, const Measure& measure) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!entered_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    ++under_way_;
    lock.unlock();
    ConversationGamma result;
    try {
      result = measure(next.task);
    } catch (const std::exception& error) {
      result.reason = sentence(error.what());
    }
    settle(next.id, std::move(result));
    lock.lock();
    --under_way_;
  }
}

void ConversationQueue::settle(const std::string& id, ConversationGamma result) {
  const std::lock_guard lock(mutex_);
  const auto found = measurements_.find(id);
  if (found == measurements_.end() || found->second.status != MeasurementStatus::pending) return;
  found->second.status = result.gamma ? MeasurementStatus::measured : MeasurementStatus::failed;
  found->second.result = std::move(result);
  settled_.notify_all();
}

}  // namespace harmonia
