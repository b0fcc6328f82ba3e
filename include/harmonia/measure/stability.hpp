#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/ball/noise.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/classes.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// How to measure which classes lie around rows [Bell 2024, definition 3.1].
struct StabilityOptions {
  std::vector<double> sigmas;     ///< sizes of the noise, ascending, above 0
  std::uint64_t samples = 1000;   ///< noise samples around every row at every sigma
  double half_width = 0;          ///< as many samples as make Wilson's interval this narrow; 0: `samples`
  double confidence = 0.95;       ///< of every interval
  std::optional<double> gamma{};  ///< asks of one sigma: has the row's class at least this probability?
  double margin = 0.01;  ///< of that question: half the width down to which an undecided interval is sampled
  std::size_t pictures = 0;  ///< keep this many noise samples of every row, from the least sigma to the
                             ///< largest, of data of at most kPicturedRows rows
  NoiseOptions noise{};
  std::size_t batch = 0;  ///< points held in memory at once, over all threads; 0: chosen for the model
};

/// Rows of which noise samples are kept, at most.
constexpr std::size_t kPicturedRows = 10;

/// How the numbers of a row came about.
enum class StabilityOutcome {
  sampled,     ///< as many samples as were asked for
  stable,      ///< the class has probability gamma or more
  unstable,    ///< it has less
  borderline,  ///< neither is known: gamma lies in the exact interval, which is at most 2 · margin wide
  budget,      ///< the run's evaluations ran out: no values
};

/// The name that results use.
std::string stability_outcome_name(StabilityOutcome outcome);

/// The classes around a row at one sigma.
struct StabilityPoint {
  double sigma = 0;
  std::uint64_t samples = 0;
  double probability = 0;  ///< share of samples of the row's own class
  Interval wilson, exact;  ///< with probability >= confidence (of Wilson's: about) its expectation is inside
  /// With probability >= confidence no point nearer to the row than this has another most probable class
  /// under the same noise [Cohen 2019, theorem 1], in units of the scales. None if the class is not known to
  /// have more than half, or the noise is not certifiable().
  std::optional<double> certified_radius;
  std::vector<std::pair<long long, std::uint64_t>> frequencies;  ///< samples by class, ascending
  StabilityOutcome outcome = StabilityOutcome::sampled;

  /// The class of most samples; of equals the row's `own`, or else the least.
  long long most_frequent(long long own) const;
};

/// A noise sample to look at.
struct StabilityPicture {
  double sigma = 0;  ///< 0: the row itself
  long long decided_class = 0;
  std::vector<double> values;
};

/// What is around one row.
struct StabilityRow {
  std::size_t row = 0;
  std::string id, label;                   ///< carried from the data
  std::optional<long long> decided_class;  ///< of the row itself; none if the budget ran out
  std::vector<StabilityPoint> points;      ///< one a sigma; none if the budget ran out
  std::optional<long long> background;     ///< the most frequent class at the largest sigma
  std::optional<double> takeover;  ///< the least sigma from which on another class is the most frequent
  std::vector<StabilityPicture> pictures;
};

/// One sigma over all rows.
struct StabilityMean {
  double sigma = 0;
  std::size_t rows = 0;     ///< that have values
  double probability = 0;   ///< mean over the rows
  std::size_t holding = 0;  ///< rows whose own class is the most frequent
  /// Of the mean over the rows' population, with about the confidence asked: Student's t with Hall's
  /// correction for skewness, and the error of the noise, which rows share. Where all rows have the same
  /// share, as many rows of any other are allowed for as so few can miss, 1 − (1 − confidence)^(1/rows) of
  /// the population. None for fewer than two rows.
  std::optional<Interval> interval;
};

/// How the question is answered: looks at 1, 2, 4, … times `first` samples and at `most`, which settles it.
struct StabilityLooks {
  std::uint64_t first = 0;  ///< the fewest samples that could decide
  std::uint64_t most = 0;   ///< the most that any row takes
  std::size_t looks = 0;
};

/// Which classes lie around rows.
struct StabilityResult {
  std::vector<StabilityRow> rows;
  std::vector<StabilityMean> means;     ///< one a sigma
  std::optional<StabilityLooks> looks;  ///< of the question
  AskedTwice asked_twice;
  std::uint64_t evaluations = 0;
  std::string fast_path;              ///< by which points of many sigmas were answered together; empty: none
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Draws noise samples around every row at every sigma and counts their classes. The same displacements serve
/// all rows and sigmas (common random numbers), so that curves are smooth in sigma and rows can be compared;
/// the samples of one row and sigma are independent. Each interval holds for itself. With a gamma, rows are
/// sampled until it is known with the confidence asked on which side of gamma the class's probability lies,
/// or their exact interval, gamma in it, is at most 2 · margin wide. Same seed, same result, whatever the
/// threads and the batch. Throws Error for options, data or a model that cannot be used.
StabilityResult stability(const Model& model, RowSource& data, const StabilityOptions& options, Run& run);

/// Samples that stability() draws around a row at every sigma, at most. Throws Error(usage) if the options
/// would take more than kMostNoiseSamples.
std::uint64_t stability_samples(const StabilityOptions& options);

/// How a question is answered. Throws Error(usage) if gamma, margin or confidence are not between 0 and 1, or
/// would take more samples than there are.
StabilityLooks stability_looks(double gamma, double margin, double confidence);

/// Evaluations that stability() needs for data of so many rows, at most.
std::uint64_t stability_cost(const StabilityOptions& options, std::uint64_t rows);

}  // namespace harmonia
