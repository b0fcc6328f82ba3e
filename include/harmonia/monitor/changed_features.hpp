#pragma once

#include <vector>

#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/baseline.hpp"

namespace harmonia {

/// The features whose values are other in `counts` than in the baseline, the most changed first. What is
/// compared are the shares of rows in the features' bins, missing values being a bin. `distance` is their
/// total variation distance less what chance brings where nothing changed: half the sum over bins of
/// √(2/π · p(1 − p)(1/N + 1/M)), p the share in both samples together, N and M their sizes (normal
/// approximation). A feature is named if its distance is more than rows without a change reach, with
/// probability >= 0.99 over all features [McDiarmid 1989].
std::vector<AlertFeature> changed_features(const Baseline& baseline, const RowCounts& counts);

}  // namespace harmonia
