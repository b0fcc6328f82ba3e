#include "batching.hpp"

#include <algorithm>

#include "harmonia/core/parallel.hpp"

namespace harmonia {
namespace {

// Of one thread's batch, unless the user or the model says. Filling a slot with another row costs its whole
// width, so that few slots are better than many, and those that the cache holds best.
constexpr std::size_t kSlotBytes = std::size_t{32} << 20;
constexpr std::size_t kCacheBytes = std::size_t{1} << 17;
constexpr std::size_t kFewSlots = 8, kManySlots = 64;
constexpr std::size_t kWholeSlots = 256;
constexpr std::size_t kMostTimes = 16;  // the size that a search begins with

std::size_t scalar_bytes(Scalar scalar) { return scalar == Scalar::float32 ? sizeof(float) : sizeof(double); }

std::size_t row_bytes(const ModelInfo& info) { return info.inputs * scalar_bytes(info.scalar); }

std::size_t affordable_slots(const ModelInfo& info) {
  return std::max<std::size_t>(1, kSlotBytes / row_bytes(info));
}

}  // namespace

std::size_t thread_count(const ModelInfo& info, std::size_t asked, std::size_t batch) {
  if (!info.reentrant) return 1;
  std::size_t threads = asked != 0 ? asked : info.preferred_threads;
  if (threads == 0) threads = hardware_threads();
  return batch == 0 ? threads : std::min(threads, batch);
}

std::size_t neighbour_slots(const ModelInfo& info, std::size_t batch, std::size_t threads) {
  if (batch != 0) return batch / threads;
  const std::size_t affordable = affordable_slots(info);
  if (info.preferred_batch != 0) return std::min(info.preferred_batch, affordable);
  return std::clamp(kCacheBytes / row_bytes(info), std::min(kFewSlots, affordable), kManySlots);
}

std::size_t most_slots(const ModelInfo& info, std::size_t start) {
  return std::max(start, std::min(kMostTimes * start, affordable_slots(info)));
}

std::size_t whole_slots(const ModelInfo& info, std::size_t batch, std::size_t threads) {
  if (batch != 0) return batch / threads;
  const std::size_t asked = info.preferred_batch != 0 ? info.preferred_batch : kWholeSlots;
  return std::min(asked, affordable_slots(info));
}

}  // namespace harmonia
