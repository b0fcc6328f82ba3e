#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace harmonia {

/// 1 if a > b, else 0; neither is negative, and NaN is above all. In whole numbers, so that loops over many
/// values run in vectors on every processor, which comparisons do not.
inline std::uint64_t is_above(double a, double b) {
  return (std::bit_cast<std::uint64_t>(b) - std::bit_cast<std::uint64_t>(a)) >> 63U;
}

/// How many of the values are further from 0 than this, NaN counted.
inline std::size_t count_above(std::span<const double> values, double size) {
  std::uint64_t count = 0;
  for (const double value : values) count += is_above(std::abs(value), size);
  return count;
}

/// How many of the values are NaN.
inline std::size_t count_nan(std::span<const double> values) {
  return count_above(values, std::numeric_limits<double>::infinity());
}

}  // namespace harmonia
