#include <cassert>

#include "harmonia/monitor/evidence.hpp"

namespace harmonia {

ConformalRanks::ConformalRanks(const BinCounts& reference) : reference_(reference) { restore({}); }

double ConformalRanks::add(std::uint32_t bin, double uniform) {
  assert(bin < kValueBins && uniform >= 0 && uniform < 1);
  count(bin, 1);
  ++added_[bin];
  const std::uint64_t smaller = below(bin), equal = below(bin + 1) - smaller;
  const std::uint64_t larger = total_ - equal - smaller;
  return (static_cast<double>(larger) + uniform * static_cast<double>(equal)) / static_cast<double>(total_);
}

void ConformalRanks::restore(const BinCounts& added) {
  tree_.assign(kValueBins + 1, 0);
  total_ = 0;
  added_ = added;
  for (const auto& [bin, times] : reference_) count(bin, times);
  for (const auto& [bin, times] : added_) count(bin, times);
}

// How many numbers are in bins below this one. Entry i of the tree sums the lowest bit of i many bins, up to
// bin i - 1.
std::uint64_t ConformalRanks::below(std::uint32_t bin) const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = bin; i > 0; i &= i - 1) sum += tree_[i];
  return sum;
}

void ConformalRanks::count(std::uint32_t bin, std::uint64_t times) {
  for (std::uint32_t i = bin + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += times;
  total_ += times;
}

}  // namespace harmonia
