#pragma once

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// Gives entries the values of their rows where GammaRow::x promises them. Entries come in the rows' order,
/// those of an earlier run included, so that a resumed run keeps the same.
class KeptValues {
 public:
  void add(GammaRow& entry, std::span<const double> x) {
    const bool among_largest = count(entry);
    if (x.size() > kDrawnFeatures && !among_largest) return;
    const std::span<const double> kept = x.first(std::min(x.size(), kKeptFeatures));
    entry.x.assign(kept.begin(), kept.end());
  }

  /// Counts an entry; whether its gamma is among the largest so far.
  bool count(const GammaRow& entry) {
    if (!entry.gamma) return false;
    if (largest_.size() == kWorstRows) {
      if (*entry.gamma <= largest_.top()) return false;
      largest_.pop();
    }
    largest_.push(*entry.gamma);
    return true;
  }

 private:
  std::priority_queue<double, std::vector<double>, std::greater<>> largest_;  // the least of them on top
};

}  // namespace harmonia
