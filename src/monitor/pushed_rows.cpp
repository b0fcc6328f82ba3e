#include "harmonia/monitor/pushed_rows.hpp"

#include <algorithm>
#include <utility>

namespace harmonia {
namespace {

// Positions from 0 become positions from `first`.
void shift(StreamBatch& batch, std::uint64_t first) {
  batch.first = first;
  batch.next += first;
  batch.rows.first += first;
  for (std::size_t& number : batch.rows.numbers) number += first;
  for (RefusedRow& refused : batch.refused) refused.position += first;
}

}  // namespace

PushOutcome PushedRows::push(StreamBatch batch, std::chrono::milliseconds wait) {
  if (batch.next == 0) return PushOutcome::kept;
  const auto pushed = std::make_shared<Pushed>();
  pushed->batch = std::move(batch);
  const std::size_t rows = pushed->batch.next;
  std::unique_lock lock(mutex_);
  if (closed_) return PushOutcome::stopped;
  if (!waiting_.empty() && rows_ + rows > most_rows_) return PushOutcome::full;
  waiting_.push_back(pushed);
  rows_ += rows;
  entered_.notify_one();
  settled_.wait_for(lock, wait,
                    [&] { return pushed->state != State::waiting && pushed->state != State::taken; });
  switch (pushed->state) {
    case State::waiting:  // nobody came for it in time
      waiting_.remove(pushed);
      rows_ -= rows;
      return PushOutcome::full;
    case State::taken:
      return PushOutcome::late;
    case State::kept:
      return PushOutcome::kept;
    case State::repeated:
      return PushOutcome::repeated;
    case State::stopped:
      break;
  }
  return PushOutcome::stopped;
}

void PushedRows::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& pushed : waiting_) pushed->state = State::stopped;
  waiting_.clear();
  rows_ = 0;
  entered_.notify_all();
  settled_.notify_all();
}

void PushedRows::end() {
  close();
  const std::lock_guard lock(mutex_);
  for (const auto& pushed : taken_) pushed->state = State::stopped;
  taken_.clear();
  settled_.notify_all();
}

std::size_t PushedRows::waiting() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

void PushedRows::start(const StreamPositions& kept) {
  const auto found = kept.find(StreamBatch{}.partition);
  const std::lock_guard lock(mutex_);
  if (found != kept.end()) position_ = found->second;
}

Arrival PushedRows::next(StreamBatch& batch, std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  entered_.wait_for(lock, wait, [&] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return closed_ ? Arrival::end : Arrival::nothing;
  taken_.splice(taken_.end(), waiting_, waiting_.begin());
  Pushed& pushed = *taken_.back();
  rows_ -= pushed.batch.next;
  pushed.state = State::taken;
  pushed.first = position_;
  batch = std::move(pushed.batch);
  shift(batch, position_);
  position_ = batch.next;
  return Arrival::rows;
}

void PushedRows::kept(const StreamBatch& batch, bool fresh) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(taken_.begin(), taken_.end(),
                                  [&](const auto& pushed) { return pushed->first == batch.first; });
  if (found == taken_.end()) return;
  (*found)->state = fresh ? State::kept : State::repeated;
  taken_.erase(found);
  // What was not counted leaves its positions to what comes next.
  if (!fresh && position_ == batch.next && taken_.empty()) position_ = batch.first;
  settled_.notify_all();
}

}  // namespace harmonia
