#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harmonia/core/run.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/baseline.hpp"

namespace harmonia {

/// The kept row of the baseline that is nearest to x: by the mean square, over the features that both have,
/// of the difference in the feature's spread (the reference rows' interquartile range). Fixed features, and
/// those of no spread, differ by 0 or 1. None if no kept row has a feature in common with x.
std::optional<BaselineRow> nearest_row(const Baseline& baseline, std::span<const double> x);

/// The largest gamma that counts as normal: 95 % of the reference rows have no more.
double normal_gamma(const Baseline& baseline);

/// How long a change is looked for.
struct CounterfactualOptions {
  std::size_t goals = 5;              ///< rows of the baseline that are walked towards
  std::uint64_t evaluations = 50000;  ///< of the model, at most
};

/// What a search for a change came to.
struct CounterfactualSearch {
  std::optional<Counterfactual> back;
  std::string reason;  ///< one line, if there is none
  std::uint64_t evaluations = 0;
};

/// Looks for a small change of x that makes its gamma normal: walks straight towards the nearest baseline
/// rows of normal gamma, as short a way as is enough, and then leaves out of the change whatever is not
/// needed. What it finds is normal by a measurement of its own; that no smaller change would do is not said.
/// Fixed features never change, whole numbers stay whole. Throws what gamma() throws.
CounterfactualSearch find_counterfactual(const Model& model, const Baseline& baseline,
                                         std::span<const double> x, Run& run,
                                         const CounterfactualOptions& options = {});

}  // namespace harmonia
