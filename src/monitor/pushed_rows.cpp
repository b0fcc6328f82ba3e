#include "harmonia/monitor/pushed_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "batch_builder.hpp"

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

// All rows one after another, from 0.
StreamBatch joined(const std::vector<StreamBatch>& batches) {
  StreamBatch all;
  bool has_ids = false;
  for (const StreamBatch& batch : batches) {
    all.next += batch.next;
    has_ids = has_ids || !batch.rows.ids.empty();
  }
  all.time = batches.back().time;
  all.rows.reset(0, all.next, batches.front().rows.values.columns());
  double* to = all.rows.values.view().data;
  for (const StreamBatch& batch : batches) {
    const MatrixView<const double> from = batch.rows.values.view();
    to = std::copy_n(from.data, from.rows * from.columns, to);
    if (!has_ids) continue;
    for (std::size_t i = 0; i < from.rows; ++i)
      all.rows.ids.push_back(batch.rows.ids.empty() ? std::string() : batch.rows.ids[i]);
  }
  return all;
}

}  // namespace

PushOutcome PushedRows::push(StreamBatch batch, std::chrono::milliseconds wait) {
  if (batch.next == 0) return PushOutcome::kept;
  const auto pushed = std::make_shared<Pushed>();
  pushed->batch = std::move(batch);
  const std::size_t rows = pushed->batch.next;
  std::unique_lock lock(mutex_);
  if (closed_) return PushOutcome::stopped;
  if (!has_room(rows)) return PushOutcome::full;
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

bool PushedRows::offer(StreamBatch batch) {
  const auto offered = std::make_shared<Pushed>();
  offered->batch = std::move(batch);
  offered->offered = true;
  const std::size_t rows = offered->batch.next;
  const std::lock_guard lock(mutex_);
  if (closed_ || rows > most_rows_ || !has_room(rows)) return false;
  waiting_.push_back(offered);
  rows_ += rows;
  entered_.notify_one();
  return true;
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

// The rows that have waited longest, and those of further offers right after an offer.
StreamBatch PushedRows::take() {
  taken_.splice(taken_.end(), waiting_, waiting_.begin());
  Pushed& first = *taken_.back();
  std::size_t rows = first.batch.next;
  std::vector<StreamBatch> offers;
  if (first.offered) {
    while (!waiting_.empty() && waiting_.front()->offered &&
           rows + waiting_.front()->batch.next <= BatchBuilder::kMost) {
      rows += waiting_.front()->batch.next;
      offers.push_back(std::move(waiting_.front()->batch));
      waiting_.pop_front();
    }
  }
  rows_ -= rows;
  first.state = State::taken;
  first.first = position_;
  if (offers.empty()) return std::move(first.batch);
  offers.insert(offers.begin(), std::move(first.batch));
  return joined(offers);
}

Arrival PushedRows::next(StreamBatch& batch, std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  entered_.wait_for(lock, wait, [&] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return closed_ ? Arrival::end : Arrival::nothing;
  batch = take();
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
