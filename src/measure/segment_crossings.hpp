#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/model/point_asker.hpp"

namespace harmonia {

/// The points a + t·(b − a) for 0 <= t <= 1. Its ends are somebody else's.
struct Segment {
  std::span<const double> a, b;

  /// Coordinate j; a itself at 0, b itself at 1, and never past them.
  double at(double t, std::size_t j) const;
  void point(double t, std::span<double> x) const;
};

/// A stretch of a segment over which the class changes.
struct Bracket {
  double low = 0, high = 1;  ///< t
  long long from = 0, to = 0;
  std::uint64_t evaluations = 0;
  bool unfinished = false;  ///< the budget ended before it was as narrow as can be
};

/// What was seen along a segment.
struct SegmentLook {
  bool asked = false;  ///< the budget allowed to look at it
  long long at_a = 0, at_b = 0;
  std::uint64_t evaluations = 0;  ///< of looking, without those of the brackets
  std::vector<Bracket> brackets;  ///< by t
  std::size_t left_out = 0;       ///< stretches with a further class change, because brackets are too many
};

/// Looks at every segment on steps + 1 points, and bisects every change of the class, all of them at once,
/// until no point of the model's type lies between. The classes of a segment's brackets are a chain: each
/// begins with the class that the one before ends with, but for a stretch that was left out.
std::vector<SegmentLook> find_crossings(PointAsker& asker, std::span<const Segment> segments,
                                        std::size_t steps);

}  // namespace harmonia
