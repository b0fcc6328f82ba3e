#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// One step of FNV-1a.
constexpr std::uint64_t mix_fingerprint(std::uint64_t hash, std::uint64_t part) {
  return (hash ^ part) * 1099511628211U;
}

/// Fingerprints of rows: FNV-1a over the values' bits. A row's is a chain of multiplications that wait for
/// each other, so that the chains of several rows are followed together. Results keep them: they never
/// change.
inline void fingerprints(const MatrixView<const double>& rows, std::span<std::uint64_t> out) {
  constexpr std::uint64_t kStart = 14695981039346656037U;
  constexpr std::size_t kTogether = 4;
  std::size_t i = 0;
  for (; i + kTogether <= rows.rows; i += kTogether) {
    std::array<std::uint64_t, kTogether> hashes{kStart, kStart, kStart, kStart};
    const std::array<const double*, kTogether> x{rows.row(i), rows.row(i + 1), rows.row(i + 2),
                                                 rows.row(i + 3)};
    for (std::size_t j = 0; j < rows.columns; ++j) {
      for (std::size_t k = 0; k < kTogether; ++k)
        hashes[k] = mix_fingerprint(hashes[k], std::bit_cast<std::uint64_t>(x[k][j]));
    }
    for (std::size_t k = 0; k < kTogether; ++k) out[i + k] = hashes[k];
  }
  for (; i < rows.rows; ++i) {
    out[i] = kStart;
    for (std::size_t j = 0; j < rows.columns; ++j)
      out[i] = mix_fingerprint(out[i], std::bit_cast<std::uint64_t>(rows.row(i)[j]));
  }
}

/// That of one row.
inline std::uint64_t fingerprint(std::span<const double> x) {
  std::uint64_t hash = 0;
  fingerprints({x.data(), 1, x.size()}, {&hash, 1});
  return hash;
}

}  // namespace harmonia
