#pragma once

#include <optional>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What gamma comes to at one radius.
struct SweepPoint {
  double radius = 0;
  GammaSummary summary;
};

/// How the mean gamma grows: as radius^value.
struct GrowthExponent {
  double value = 0;
  /// With probability >= confidence the exponent of the rows' population lies between, up to O(1/rows); none
  /// where rows were sampled, because their gamma is biased by the radius.
  std::optional<double> low, high;
};

/// gamma against the radius.
struct SweepResult {
  std::vector<SweepPoint> points;  ///< each interval holds for itself
  /// Slope of log(mean gamma) against log(radius) by least squares; none for one radius, or where a mean is
  /// 0.
  std::optional<GrowthExponent> growth;
  std::uint64_t evaluations = 0;
};

/// Measures gamma of every row at every radius, with the same directions (common random numbers), so that
/// what differs between radii is due to the radius alone. What the run may spend is shared out evenly. Keeps
/// 8 bytes a row and radius.
SweepResult sweep(const Model& model, RowSource& data, const std::vector<double>& radii,
                  const GammaOptions& options, Run& run);

}  // namespace harmonia
