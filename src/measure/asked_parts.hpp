#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "harmonia/model/point_asker.hpp"

namespace harmonia {

constexpr std::size_t kAnswersHeld = std::size_t{1} << 22;  // numbers: 32 MiB

/// Asks about `count` points and gives each answer to take(i, outputs), in order, so that only a part of the
/// answers is in memory at once.
template <class Take>
void ask_in_parts(PointAsker& asker, std::size_t count, const PointAsker::Write& write, const Take& take) {
  const std::size_t outputs = asker.model().info().outputs;
  const std::size_t most = std::max<std::size_t>(1, kAnswersHeld / outputs);
  Matrix<double> answers(std::min(count, most), outputs);
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t part = std::min(most, count - first);
    asker.ask(
        part, [&](std::size_t i, std::span<double> x) { write(first + i, x); },
        answers.view().slice(0, part));
    for (std::size_t i = 0; i < part; ++i) take(first + i, std::span<const double>(answers.row(i), outputs));
  }
}

}  // namespace harmonia
