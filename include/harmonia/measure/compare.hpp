#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// gamma of every row of a data set, a column each; NaN where a row has none.
struct GammaColumns {
  std::vector<double> gamma;  ///< plug-in estimates
  std::vector<double> split;  ///< split estimates; of a row measured in full, the same as gamma
  std::vector<double> value;  ///< the measured output at the row
  std::vector<std::optional<long long>> decided_class;
  bool sparse = false;  ///< a row has no upper end
  double rounding = 0;  ///< a gamma of at most this share of the value is rounding, and counts as 0

  void add(const GammaRow& row);
};

/// The mean of gamma_a − gamma_b over the rows that both have a value for.
struct PairedDifference {
  std::size_t rows = 0;
  std::optional<double> difference;
  std::optional<double> low, high;  ///< none if fewer than kTrustedValues rows carry the difference
};

/// Compares rows of the same number. With probability >= confidence the mean difference of the population
/// that the rows are a random sample of lies in [low, high], up to O(1/rows). Sampled rows widen it: gamma
/// itself lies, on average, between a row's split and plug-in estimates.
PairedDifference paired_difference(const GammaColumns& a, const GammaColumns& b, double confidence);

/// What the interval of a difference allows to say.
enum class Verdict { a_lower, b_lower, indistinguishable };

/// The name that results use.
std::string verdict_name(Verdict verdict);

/// Two of the models that were compared.
struct ComparedPair {
  std::size_t a = 0, b = 0;  ///< places among the models, a < b
  PairedDifference gamma;
  Verdict verdict = Verdict::indistinguishable;  ///< unless the interval leaves 0 out
};

/// All pairs, at 1 − (1 − confidence)/pairs each [Bonferroni]: with probability >= confidence all their
/// intervals hold together.
std::vector<ComparedPair> compare_columns(std::span<const GammaColumns> columns, double confidence);

/// Several models on the same rows and the same points around them.
struct CompareResult {
  std::vector<GammaSummary> summaries;  ///< one a model; each interval holds for itself
  std::vector<GammaColumns> columns;    ///< one a model
  std::vector<ComparedPair> pairs;      ///< with probability >= confidence all their intervals hold together
  /// Lowest first, models that cannot be ordered together: every model of a group is lower than every model
  /// of a later one, with the pairs' probability.
  std::vector<std::vector<std::size_t>> ranking;
  std::vector<std::size_t> rows;  ///< their numbers in the data set
  std::vector<std::string> ids, labels;
  Matrix<double> x;  ///< the rows themselves, if they have at most kDrawnFeatures features
  std::uint64_t evaluations = 0;
};

/// Measures every model on every row with the same seed, so that the balls' points are the same for all, and
/// compares them in pairs: Student's intervals of the rows' differences with Hall's correction, at
/// 1 − (1 − confidence)/pairs each [Bonferroni], so that all hold together with probability >= confidence.
/// What the run may spend is shared out evenly. Keeps some 40 bytes a row and model. Throws Error for fewer
/// than two models, models of different inputs, or output `all`, which has no one number a row.
CompareResult compare(std::span<const Model* const> models, RowSource& data, const GammaOptions& options,
                      Run& run);

/// Puts models together that the pairs cannot order; lowest first. means: one a model, NaN for none.
std::vector<std::vector<std::size_t>> rank_models(std::span<const double> means,
                                                  std::span<const ComparedPair> pairs);

}  // namespace harmonia
