#pragma once

#include <cstddef>
#include <vector>

#include "harmonia/measure/boundary.hpp"

namespace harmonia {

/// Gathers rows, which come by pair; keeps 16 bytes a crossing and 16 a pair.
class BoundarySummariser {
 public:
  void add(const BoundaryRow& row);
  /// Without step and evaluations.
  BoundarySummary summary(double confidence) const;

 private:
  struct PairAngles {
    double sum = 0;
    std::size_t count = 0;
  };

  BoundarySummary counts_;
  std::vector<double> angles_, errors_;
  std::vector<PairAngles> pairs_;
  std::size_t last_ = 0, in_pair_ = 0;
};

}  // namespace harmonia
