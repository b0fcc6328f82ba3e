#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/baseline.hpp"

namespace harmonia {

/// The kept baseline row nearest to x: by the mean square, over the features that both have, of the
/// difference in the feature's spread (the reference rows' interquartile range). Fixed features, and those of
/// no spread, differ by 0 or 1. None if no kept row has a feature in common with x.
std::optional<BaselineRow> nearest_row(const Baseline& baseline, std::span<const double> x);

/// The largest gamma that counts as normal: 95 % of the reference rows have no more.
double normal_gamma(const Baseline& baseline);

/// Looks for a small change that brings gamma of x back to what is normal: walks straight towards the nearest
/// baseline rows of normal gamma, as short a way as is enough, and then leaves out of the change whatever is
/// not needed. What it finds is normal by a measurement of its own; that no smaller change would do is not
/// said. Fixed features never change, whole numbers stay whole. None: none was found with so many evaluations
/// of the model, which are entered in run.ledger; `reason`, if asked for, says why in a line. Throws what
/// gamma() throws.
std::optional<Counterfactual> find_counterfactual(const Model& model, const Baseline& baseline,
                                                  std::span<const double> x, Run& run,
                                                  std::uint64_t evaluations, std::string* reason = nullptr);

/// The features whose values are distributed otherwise in `now` than in the baseline, the most changed first.
/// Compared are the shares of rows in the features' bins, missing values being a bin. `distance` is their
/// total variation distance less what chance brings where nothing changed: half the sum over bins of
/// √(2/π · p(1 − p)(1/N + 1/M)), p the share in both samples together, N and M their sizes (normal
/// approximation). A feature is named if its distance is more than rows without a change reach, with
/// probability >= 0.99 over all features [McDiarmid 1989].
std::vector<AlertFeature> changed_features(const Baseline& baseline, const RowCounts& now);

}  // namespace harmonia
