#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace harmonia {

/// Bins of numbers >= 0 that are the same for every model, data set and version, so that counts of different
/// monitors add up exactly: bin 0 holds what is below 2^-60, the others are 1/32 of an octave wide, and the
/// last one has no upper end.
constexpr std::uint32_t kValueBins = 1 + 120 * 32;

/// The bin of a number >= 0.
std::uint32_t value_bin(double value);
/// The lower end of a bin.
double bin_low(std::uint32_t bin);

/// How often each bin occurs; those that do not are not there.
using BinCounts = std::map<std::uint32_t, std::uint64_t>;

/// What all of them count together.
BinCounts sum(std::span<const BinCounts> parts);
/// Their sum.
std::uint64_t total(const BinCounts& counts);
/// The value that a share p of what was counted is below, up to the width of a bin; 0 without counts.
double bin_quantile(const BinCounts& counts, double p);

}  // namespace harmonia
