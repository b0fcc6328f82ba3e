#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonia/report/result_file.hpp"

namespace harmonia {

/// What a result has to keep to.
struct GateOptions {
  std::optional<double> max_gamma;  ///< the mean gamma may be at most this
  double max_increase = 0;          ///< … and this much above the baseline's, where there is one
};

/// What an interval allows to say of a limit.
enum class GateOutcome {
  passed,        ///< all of it is within the limit
  failed,        ///< all of it is above
  inconclusive,  ///< the limit lies inside, or an end is not known
};

/// The name that results use.
std::string outcome_name(GateOutcome outcome);

/// One limit.
struct GateCheck {
  std::string name;  ///< such as "mean gamma"
  GateOutcome outcome = GateOutcome::inconclusive;
  std::string text;  ///< a sentence: what was found, and what was allowed
};

/// All limits. It fails if one does, and passes if all do.
struct GateResult {
  std::vector<GateCheck> checks;
  GateOutcome outcome() const;
};

/// Holds a result of `gamma` or `compare` (every model of it) against the limits. With a baseline, the
/// difference of two gamma results' means: row by row where both measured the same rows (paired), else as two
/// independent samples, whose intervals are put together by the method of variance estimates recovery
/// [Zou 2008]. A limit is kept, or broken, with the results' confidence. Throws Error(input) for results that
/// cannot be compared and Error(usage) if there is no limit.
GateResult gate(const ResultFile& result, const std::optional<ResultFile>& baseline,
                const GateOptions& options);

}  // namespace harmonia
