#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/logistic.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/measure/map_rows.hpp"
#include "harmonia/measure/map_table.hpp"

namespace harmonia {

/// How a map is fitted.
struct MapFitOptions {
  double ridge = 0.1;      ///< of the logistic regression, on standardised inputs; see fit_logistic()
  std::size_t folds = 10;  ///< of the cross-validation; fewer if an outcome has fewer rows
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// What is asked of a map. An upper end of gamma that is not known is an infinity.
struct MapQuestion {
  double log_odds = 0;  ///< log P/(1 − P)
  double gamma = 0;
  Interval gamma_interval;  ///< both ends gamma: it is exact
  std::vector<double> extra;
};

/// What a map answers.
struct MapAnswer {
  double probability = 0;  ///< of being stable
  Interval interval;       ///< from the errors of coefficients and recalibration, and gamma's interval
  bool outside = false;    ///< an input is outside of what the map was fitted on
};

/// Errors of a recalibration: those of what it adds and multiplies by.
struct CalibrationErrors {
  double intercept = 0, slope = 0, together = 0;  ///< variance, variance, covariance

  /// Variance of intercept + slope · log_odds.
  double variance(double log_odds) const;
};

/// The probability that a row's class outlasts N steps of a search, from P and gamma alone: a logistic
/// regression on log P/(1 − P), log gamma and further variables [Kersting 2024, figure 8].
struct GammaMap {
  Logistic fit;
  std::vector<std::string> inputs;  ///< "logit_p", "log_gamma", then the further variables
  std::vector<Interval> ranges;     ///< of the inputs, in the rows of the fit
  double floor = 0;                 ///< a smaller gamma counts as this much
  bool recalibrated = false;        ///< the next two were not 0 and 1 on held-out rows
  double intercept = 0, slope = 1;  ///< answered log-odds = intercept + slope · the fit's
  CalibrationErrors calibration;    ///< of these two; 0 where they are 0 and 1
  double confidence = 0.95;

  /// With about the confidence the probability that a row like this is stable lies in the interval, if the
  /// logistic form is right: the delta method on the log-odds. The coefficients' errors, the recalibration's,
  /// and gamma's interval are added in quadrature on either side. A slope below 1 does not shrink the
  /// coefficients' errors: it draws the answers together, and not the truth.
  MapAnswer predict(const MapQuestion& question) const;
  /// Throws Error(usage) if so many further variables are not what predict() takes.
  void check_variables(std::size_t given) const;
  /// The inputs of a row in the order of `inputs`.
  std::vector<double> inputs_of(const MapQuestion& question) const;
};

/// Held-out rows whose answers were near each other.
struct MapBin {
  double low = 0, high = 0, mean = 0;  ///< answers: least, largest and mean
  MapShare stable;
};

/// A number with its interval.
struct MapEstimate {
  double value = 0;
  Interval interval;
};

/// How well the map does on rows that it was not fitted on.
struct MapValidation {
  std::size_t folds = 0;
  Auroc map, probability, gamma;  ///< of stability, all on the same rows (of gamma: less is more)
  AurocDifference over_probability, over_gamma;  ///< the map's minus each, paired
  MapEstimate slope, intercept;  ///< of the outcome's log-odds on those held out; 1 and 0 are right
  MapMean brier, log_loss;       ///< of the answers, recalibrated ones if they are
  double brier_of_share = 0;     ///< of answering every row with the share of stable ones
  std::vector<MapBin> bins;      ///< of about equally many rows
};

/// The map, or why there is none.
struct MapFit {
  std::size_t stable = 0, unstable = 0;  ///< rows of the fit
  std::size_t left_out = 0;  ///< rows without a gamma, a search or a further variable, or too large ones
  std::size_t floored = 0;   ///< rows whose gamma is no more than rounding
  std::optional<GammaMap> map;
  std::optional<MapValidation> validation;
  std::string reason;                 ///< why one of them is missing; one sentence without a full stop
  std::vector<std::string> warnings;  ///< of rows and options that allow no fit; one sentence each
};

/// Fits a map on rows that were searched, and validates it on folds that are drawn by the seed, each outcome
/// spread evenly. gamma of no more than rounding of the largest logit in `scalar`, the model's own numbers,
/// counts as half the smallest that is more. Rows whose inputs are beyond 1e100 are left out; where the ridge
/// is too small for a fit there is no map, or no validation, and a warning says so.
MapFit fit_map(const MapRows& rows, const MapFitOptions& options, Scalar scalar);

/// log P/(1 − P). Throws Error(usage) if P is not between 0 and 1.
double log_odds_of(double probability);

/// The question that a row asks of a map. None if it has no gamma.
std::optional<MapQuestion> question_of(const MapRow& row);
/// What the map answers it. None if it has no gamma, or an input is not a finite number.
std::optional<MapAnswer> answer_of(const GammaMap& map, const MapRow& row);

}  // namespace harmonia
