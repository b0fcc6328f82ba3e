#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/data/schema.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// How the normal of a decision boundary is found.
enum class NormalMethod {
  automatic,  ///< margin where the two classes' answers meet without a jump, else label
  margin,     ///< central differences of the two tied classes' answers, a feature at a time
  label,      ///< where the boundary lies on parallels of the segment, by classes alone
  none        ///< no normal, no angle
};

/// Reads auto, margin, label, none. Throws Error(usage) for another word.
NormalMethod parse_normal(const std::string& text);
/// The text that parse_normal reads.
std::string normal_name(NormalMethod method);

/// What is asked of segments from rows of A to rows of B.
struct BoundaryOptions {
  std::size_t steps = 100;  ///< every segment is looked at on steps + 1 points, evenly spaced
  NormalMethod normal = NormalMethod::automatic;
  /// Of the differences, in units of the features' scales; 0: 0.001 of the root mean square of the features'
  /// standard deviations over the rows of A and B together, and 0.01 for a model that takes float32.
  double step = 0;
  Schema schema;             ///< scales are the unit of lengths and angles; fixed features are not moved
  double confidence = 0.95;  ///< of the mean angle's interval
  std::size_t batch = 0;     ///< points held in memory at once, over all threads; 0: chosen for the model
  bool keep_points = true, keep_normals = true;  ///< rows carry them; as wide as the data
};

/// How a row came about.
enum class BoundaryOutcome {
  crossing,  ///< a crossing, with its normal if one was asked for
  partial,   ///< a crossing; some directions of the normal are left out, because no boundary was found there
  flat,      ///< a crossing where the answers do not change within the step: no normal
  none,      ///< no class change on the points that were looked at
  equal,     ///< A and B are the same, up to what no double holds in units of the scales: no segment
  budget     ///< evaluations ran out: what is missing was not asked
};
constexpr std::size_t kBoundaryOutcomes = 6;  ///< how many outcomes there are
/// The outcome as results write it: the enumerator's name.
std::string boundary_outcome_name(BoundaryOutcome outcome);

/// A crossing of a segment with a decision boundary; or a segment that has none, and the outcome says why.
struct BoundaryRow {
  std::size_t row = 0;       ///< number of the pair, from 0
  std::size_t a = 0, b = 0;  ///< numbers of its rows in A and B
  std::string a_id, b_id;
  /// Between t_low and t_high, where the point is A + t·(B − A); at t_low the class is still `from`, at
  /// t_high it is `to`. These are neighbours among doubles, but for the outcome `budget`, and for points that
  /// do not differ in the model's type.
  std::optional<double> t, t_low, t_high;
  std::vector<double> point;
  std::optional<long long> from, to;  ///< of a segment without crossing: the classes at A and B
  NormalMethod method = NormalMethod::none;
  std::vector<double> normal;  ///< of length 1 in units of the scales, towards `to`; 0 where not moved
  /// Of the segment with the boundary, in degrees: 90 is orthogonal. The true angle lies between angle_low
  /// and angle_high as far as three estimates of it, at the step and at half of it, and the rounding of
  /// answers can tell: a numerical uncertainty, no probability.
  std::optional<double> angle, angle_low, angle_high;
  std::size_t left_out = 0;       ///< directions of the normal that the outcome `partial` lacks
  std::uint64_t evaluations = 0;  ///< spent on it; the look along the segment counts at the pair's first row
  BoundaryOutcome outcome = BoundaryOutcome::none;
};

/// What all pairs come to.
struct BoundarySummary {
  double step = 0;  ///< of the differences, as used
  std::size_t pairs = 0, crossings = 0;
  std::size_t not_looked_at = 0;                ///< pairs, for want of evaluations
  std::vector<std::size_t> pairs_by_crossings;  ///< element k: pairs with k crossings; 0: with not_looked_at
  std::array<std::size_t, kBoundaryOutcomes> outcomes{};  ///< rows
  /// The angles that all below is about: those of the outcome `crossing`. One that is `partial` is a bound.
  std::size_t angles = 0;
  /// Of the angles in degrees. With probability >= confidence the mean over the pairs' population lies in
  /// [low, high], up to O(1/pairs); none for fewer than two pairs with an angle.
  std::optional<double> mean, low, high;
  static constexpr std::array<double, 5> kQuantiles{0.05, 0.25, 0.5, 0.75, 0.95};
  std::vector<double> quantiles;                  ///< at kQuantiles; empty without angles
  std::array<std::size_t, 18> histogram{};        ///< of five degrees each
  std::optional<double> median_error, max_error;  ///< half the widths of [angle_low, angle_high]
  std::uint64_t evaluations = 0;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Looks along the segment of every pair (row i of A, row i of B; a side of one row goes with every row of
/// the other) for changes of the class, and bisects each down to neighbouring points. A boundary that is
/// crossed twice between two of the points that are looked at is not seen. Rows go to `sink` by pair and t.
/// Missing values are not moved. Throws Error(input) if A and B do not fit together, Error(model) if the
/// model gives no classes. [Bell 2024, section 4.3]
BoundarySummary boundary(const Model& model, RowSource& a, RowSource& b, const BoundaryOptions& options,
                         Run& run, const std::function<void(const BoundaryRow&)>& sink);

/// The rows, by pair and t, and what they come to.
struct BoundaryResult {
  BoundarySummary summary;
  std::vector<BoundaryRow> rows;
};

/// The same for rows in memory.
BoundaryResult boundary(const Model& model, MatrixView<const double> a, MatrixView<const double> b,
                        const BoundaryOptions& options, Run& run);

/// How many pairs the rows make. Throws Error(input) if they do not fit together.
std::size_t count_pairs(RowSource& a, RowSource& b);

/// Evaluations of a pair and, about, of each crossing: of its bisection, and of its normal by either method.
struct BoundaryCost {
  std::uint64_t pair = 0, bisection = 0, margin = 0, label = 0;
};
/// What the measure will ask for, of data with so many features.
BoundaryCost boundary_cost(const BoundaryOptions& options, std::size_t inputs);

}  // namespace harmonia
