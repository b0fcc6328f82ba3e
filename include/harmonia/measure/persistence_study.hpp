#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/persistence.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// The middle of rows' persistences for one gamma. Censored ones are ranked at the ends: 0 and infinity.
struct PersistenceMedian {
  double gamma = 0;
  std::size_t rows = 0;          ///< that could be ranked
  std::optional<double> median;  ///< of an even number the mean of the middle two, the lower one if either is
                                 ///< censored; none if there are no rows
  std::optional<Interval> interval;  ///< with probability >= confidence the population's median is inside, by
                                     ///< order statistics; none for too few rows
};
PersistenceMedian persistence_median(std::span<const PersistenceRow> rows, double gamma, double confidence);

/// Two neighbouring rows of a path that have different classes.
struct ClassChange {
  std::size_t row = 0;  ///< the first of the two
  long long from = 0, to = 0;
};
/// Where the class changes along rows.
std::vector<ClassChange> class_changes(std::span<const PersistenceRow> rows);

/// How well a number tells rows from others.
struct DetectorScore {
  Auroc auroc;                           ///< the rows' own is the higher one
  std::size_t natural = 0, against = 0;  ///< rows that have the number
};

/// How the largest output was taken as the model's confidence.
enum class ConfidenceForm {
  none,           ///< a single output that is no probability
  probabilities,  ///< as they are
  softmax,        ///< after softmax, since they do not add up to 1
};
std::string confidence_form_name(ConfidenceForm form);

/// Persistence as a detector beside what costs less.
struct PersistenceDetector {
  std::vector<std::optional<DetectorScore>> persistence;  ///< one a gamma of the options
  std::optional<DetectorScore> confidence;                ///< the largest output at the row
  ConfidenceForm form = ConfidenceForm::none;
  std::optional<DetectorScore> gamma;  ///< minus gamma of the ball around the row: natural rows have less
};

/// The persistence of rows, and of others to tell them from.
struct PersistenceResult {
  std::vector<PersistenceRow> rows, against;  ///< all gammas of a row together
  std::vector<std::size_t> outcomes;          ///< entries of both by PersistenceOutcome
  std::optional<PersistenceDetector> detector;
  AskedTwice asked_twice;
  std::uint64_t evaluations = 0;
  std::string fast_path;              ///< by which points were answered sooner; empty: one by one
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Multiplies the range of sigma by the data's scale, noise_scale(), and returns that: 1 where noise is in
/// units of the features' spreads (`scale` std or range) or of given directions.
double scale_range(PersistenceOptions& options, const std::string& scale, RowSource& reference);

/// Measures the rows of `data` and, if given, of `against` by the same noise, and how well persistence tells
/// them apart; with a radius, gamma of that ball too. Throws as persistence() does.
PersistenceResult persistence_study(const Model& model, RowSource& data, RowSource* against,
                                    const std::optional<double>& radius, const PersistenceOptions& options,
                                    Run& run);

}  // namespace harmonia
