#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/search/attack.hpp"

namespace harmonia {

/// Rows whose values a study keeps to be looked at, at most.
constexpr std::size_t kShownAttacks = 12;

/// Rows whose class had changed by a step.
struct AttackCurvePoint {
  std::size_t step = 0;
  std::size_t changed = 0;
  double share = 0;
  Interval interval;  ///< Wilson's
};

/// What a method came to over all rows.
struct AttackSummary {
  std::size_t rows = 0;  ///< that were attacked
  std::size_t changed = 0;
  double share = 0;                                     ///< of the rows whose class changed
  Interval interval{0, 1};                              ///< of that, by Wilson's score
  std::array<std::size_t, kAttackOutcomes> outcomes{};  ///< rows, all of them
  std::optional<Median> steps, features, l2, linf;      ///< of the rows that changed
  std::vector<AttackCurvePoint> curve;  ///< at step 1, where more rows have changed, and at the last step
  std::uint64_t evaluations = 0;
};

/// One method over the rows. Values (original, adversarial) and paths are kept of the first kShownAttacks
/// rows that changed, and of as many rows as are left of these if fewer did.
struct AttackRun {
  AttackMethod method = AttackMethod::gamma;
  std::vector<AttackRow> rows;
  AttackSummary summary;
};

/// Two methods on the same rows.
struct AttackComparison {
  std::size_t rows = 0;  ///< that both attacked
  std::size_t both = 0, first_alone = 0, second_alone = 0;
  ShareDifference difference;  ///< share changed by the first less that by the second
};

/// What one method or two came to.
struct AttackStudy {
  std::vector<AttackRun> runs;
  std::optional<AttackComparison> comparison;
  std::uint64_t evaluations = 0;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Attacks the data by the options' method and, if one is given, by another one with the same options, each
/// with half of the evaluations. Rows of the first method go to `sink`, which may be empty, with all that is
/// known of them. What grows with the rows is a few numbers each. Throws Error(usage) for options that
/// neither method has, and as attack() does.
AttackStudy attack_study(const Model& model, RowSource& data, const AttackOptions& options,
                         const std::optional<AttackMethod>& against, double confidence, Run& run,
                         const std::function<void(const AttackRow&)>& sink = {});

}  // namespace harmonia
