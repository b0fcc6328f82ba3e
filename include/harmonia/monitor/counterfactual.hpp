#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/baseline.hpp"

namespace harmonia {

/// The kept baseline row nearest to x, in the features' spreads; none if none is kept.
std::optional<BaselineRow> nearest_row(const Baseline& baseline, std::span<const double> x);

/// The smallest change found that brings gamma of x back to what 95 % of the baseline's rows have at most.
/// None: none was found with so many evaluations of the model, which are entered in run.ledger.
std::optional<Counterfactual> find_counterfactual(const Model& model, const Baseline& baseline,
                                                  std::span<const double> x, Run& run,
                                                  std::uint64_t evaluations);

/// Features whose values in `now` are distributed otherwise than in the baseline, the most changed first.
std::vector<AlertFeature> changed_features(const Baseline& baseline, const RowCounts& now);

}  // namespace harmonia
