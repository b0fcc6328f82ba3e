#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "harmonia/model/point_asker.hpp"

namespace harmonia {

constexpr std::size_t kAnswersHeld = std::size_t{1} << 22;  // numbers: 32 MiB

/// Has ask(first, answers) ask about `count` points, a part of them at a time so that only its answers are in
/// memory, and gives each answer to take(i, outputs), in order.
template <class Ask, class Take>
void take_in_parts(std::size_t outputs, std::size_t count, const Ask& ask, const Take& take) {
  const std::size_t most = std::max<std::size_t>(1, kAnswersHeld / outputs);
  Matrix<double> answers(std::min(count, most), outputs);
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t part = std::min(most, count - first);
    ask(first, answers.view().slice(0, part));
    for (std::size_t i = 0; i < part; ++i) take(first + i, std::span<const double>(answers.row(i), outputs));
  }
}

/// The same of points that are written.
template <class Take>
void ask_in_parts(PointAsker& asker, std::size_t count, const PointAsker::Write& write, const Take& take) {
  const auto ask = [&](std::size_t first, MatrixView<double> answers) {
    asker.ask(
        answers.rows, [&](std::size_t i, std::span<double> x) { write(first + i, x); }, answers);
  };
  take_in_parts(asker.model().info().outputs, count, ask, take);
}

}  // namespace harmonia
