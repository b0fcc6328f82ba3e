#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harmonia/ball/noise.hpp"
#include "harmonia/core/rows.hpp"
#include "harmonia/measure/classes.hpp"
#include "harmonia/model/point_asker.hpp"

namespace harmonia {

/// Rows that are asked twice: the first of the data.
constexpr std::size_t kRowsAskedTwice = 64;
/// Points of each: the row, and noise samples around it.
constexpr std::size_t kPointsAskedTwice = 4;

/// Asks the first rows of x, and noise samples around them at some of the sigmas, twice, the second time in
/// the opposite order. Leaves rows out where that would take more than a twentieth of the evaluations that
/// are left.
AskedTwice ask_twice(PointAsker& asker, MatrixView<const double> x, const Noise& noise,
                     std::span<const double> sigmas);

/// Evaluations that ask_twice() spends on data of so many rows.
std::uint64_t asked_twice_cost(std::uint64_t rows, std::uint64_t left);

/// A sentence, if answers differed.
std::optional<std::string> asked_twice_warning(const AskedTwice& twice);

}  // namespace harmonia
