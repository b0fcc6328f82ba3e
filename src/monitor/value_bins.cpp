#include "harmonia/monitor/value_bins.hpp"

#include <bit>
#include <cassert>
#include <cmath>

namespace harmonia {
namespace {

constexpr int kMantissaBits = 5;
constexpr int kLowestExponent = -60;
// A double's exponent with the first bits of its mantissa behind it counts 1/32 octaves.
constexpr int kDroppedBits = 52 - kMantissaBits;
constexpr std::uint64_t kOrigin = static_cast<std::uint64_t>(1023 + kLowestExponent) << kMantissaBits;

}  // namespace

std::uint32_t value_bin(double value) {
  assert(value >= 0);
  const std::uint64_t step = std::bit_cast<std::uint64_t>(std::abs(value)) >> kDroppedBits;
  if (step < kOrigin) return 0;
  const std::uint64_t bin = 1 + (step - kOrigin);
  return bin < kValueBins ? static_cast<std::uint32_t>(bin) : kValueBins - 1;
}

double bin_low(std::uint32_t bin) {
  assert(bin < kValueBins);
  if (bin == 0) return 0;
  return std::bit_cast<double>((kOrigin + bin - 1) << kDroppedBits);
}

BinCounts sum(std::span<const BinCounts> parts) {
  BinCounts all;
  for (const BinCounts& part : parts) {
    for (const auto& [bin, times] : part) all[bin] += times;
  }
  return all;
}

std::uint64_t total(const BinCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [bin, count] : counts) sum += count;
  return sum;
}

double bin_quantile(const BinCounts& counts, double p) {
  assert(p >= 0 && p <= 1);
  const double below = p * static_cast<double>(total(counts));
  double passed = 0, value = 0;
  for (const auto& [bin, count] : counts) {
    const double low = bin_low(bin), here = static_cast<double>(count);
    const double high = bin + 1 < kValueBins ? bin_low(bin + 1) : low;
    value = low + (high - low) * std::fmin(1, (below - passed) / here);
    passed += here;
    if (passed >= below) break;
  }
  return value;
}

}  // namespace harmonia
