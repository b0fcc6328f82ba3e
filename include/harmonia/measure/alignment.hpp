#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/manifold.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// Whose gradient by the inputs is compared with the data's plane. Only its direction matters.
enum class AlignedGradient {
  loss,   ///< cross-entropy of the row's label, or of its class where there is no label; outputs are logits
  output  ///< the output of the row's class
};
/// Reads loss, output. Throws Error(usage) for another word.
AlignedGradient parse_aligned_gradient(const std::string& text);
/// The text that parse_aligned_gradient reads.
std::string aligned_gradient_name(AlignedGradient gradient);

/// How to measure in which directions a model is sensitive [Bell 2024, section 4.5].
struct AlignmentOptions {
  AlignedGradient gradient = AlignedGradient::loss;
  bool probabilities = false;  ///< outputs are probabilities, not logits; for the loss
  bool paper = false;          ///< equations 3 to 5 as printed, with the components as they are
  double confidence = 0.95;    ///< of the means' intervals
  std::size_t batch = 0;       ///< points held in memory at once, over all threads; 0: chosen for the model
};

/// How a row came about.
enum class AlignmentOutcome {
  measured,
  flat,    ///< the gradient is zero, and has no direction
  across,  ///< nothing of the gradient is along the plane: no ratio
  budget   ///< the run's evaluations ran out: no values
};
/// The outcome as results write it: the enumerator's name.
std::string alignment_outcome_name(AlignmentOutcome outcome);

/// The gradient at one row, against the plane. Without values where the outcome says so.
struct AlignmentRow {
  std::size_t row = 0;
  std::string id, label;
  long long decided_class = 0;
  std::optional<double> cosine;     ///< ‖part along the plane‖ / ‖gradient‖: 1 is along it
  std::optional<double> ratio;      ///< 1 / cosine, the paper's measure: 1 is along the plane
  std::optional<double> rejection;  ///< length of the part across the plane, of a gradient of length 1
  AlignmentOutcome outcome = AlignmentOutcome::measured;
};

/// A mean over rows that have the value, with its interval for the rows' population; none for fewer than two.
struct AlignmentMean {
  std::size_t rows = 0;
  double mean = 0;
  std::optional<Interval> interval;
};

/// Where a model's gradients point.
struct AlignmentResult {
  std::vector<AlignmentRow> rows;
  AlignmentMean cosine, ratio, squared_cosine;
  /// What the squared cosine of a direction drawn at random has on average: dimensions ÷ features.
  double by_chance = 0;
  std::size_t dimensions = 0;  ///< of the plane
  std::uint64_t evaluations = 0;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Throws Error(model) if the model has no gradients or no classes, Error(input) for data of another width.
void check_alignment(const Model& model, const DataInfo& data);

/// Takes one gradient a row. Throws what check_alignment() does, and Error(input) for a label that is no
/// class, for missing values, or for components of rows of another width.
AlignmentResult alignment(const Model& model, RowSource& data, const ComponentsFound& components,
                          const AlignmentOptions& options, Run& run);

}  // namespace harmonia
