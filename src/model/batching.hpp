#pragma once

#include <cstddef>
#include <cstdint>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// Threads that ask the model: `asked`, or as many as suit it; no more than there are points in a batch.
std::size_t thread_count(const ModelInfo& info, std::size_t asked, std::size_t batch);

/// Points in one thread's batch where neighbours differ in one coordinate: few, which the cache holds.
std::size_t neighbour_slots(const ModelInfo& info, std::size_t batch, std::size_t threads);

/// The largest size of one thread's batch that a search from `start` on may try.
std::size_t most_slots(const ModelInfo& info, std::size_t start);

/// Points in one thread's batch where every one is written as a whole: many.
std::size_t whole_slots(const ModelInfo& info, std::size_t batch, std::size_t threads);

/// a / b, rounded up.
constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace harmonia
