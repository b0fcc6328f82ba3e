#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/data/schema.hpp"
#include "harmonia/measure/output.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// Values that must carry a mean for its spread to be trusted: (Σ|d|)²/Σd² of what is more than rounding. Of
/// k equal values among zeros it is k; of values spread like a normal distribution, two thirds of their
/// number.
constexpr double kTrustedValues = 8;

/// Rows of so few features can be drawn: every entry keeps its row's values.
constexpr std::size_t kDrawnFeatures = 2;
/// Rows of largest gamma whose values are kept …
constexpr std::size_t kWorstRows = 10;
/// … and how many values of each.
constexpr std::size_t kKeptFeatures = 50;

/// How to measure gamma = |average of f on a ball around x − f(x)| [Kersting 2024, eq. 1.3].
struct GammaOptions {
  BallOptions ball;           ///< the points that stand for the sphere
  OutputChoice output;        ///< what of the model's outputs is averaged
  std::uint64_t sample = 0;   ///< directions drawn from the ball; 0: all of them
  double precision = 0;       ///< stop when the half-width is this share of |delta|; 0: no stopping rule
  double floor = 0;           ///< … or this small; required with precision
  double confidence = 0.95;   ///< of every interval
  std::size_t explain = 0;    ///< name this many features whose pairs weigh most
  bool paper = false;         ///< the paper's own procedure instead of ball, average, sample and precision
  std::size_t batch = 0;      ///< points held in memory at once, over all threads; 0: chosen for the model
  Schema schema;              ///< how features may be moved; empty: all alike
  bool keep_outputs = false;  ///< rows keep what the model answers there, as a Gamma Map asks for
};

/// How the number of a row came about.
enum class Outcome {
  exact,      ///< every point of the ball was evaluated
  sampled,    ///< a sample of the ball; the interval covers the whole ball's value
  floor,      ///< sampled, and stopped because the half-width reached the floor
  sparse,     ///< fewer than kTrustedValues directions carry delta: no upper end
  budget,     ///< the run's evaluations ran out: what there is, or nothing
  unmoved,    ///< no feature of this row may be moved: no value
  undefined,  ///< the angle with a zero vector: no value
};

/// The name that results use.
std::string outcome_name(Outcome outcome);

/// One feature's part in delta: the value of its own pair over the number of pairs.
struct Contribution {
  std::size_t feature = 0;
  double value = 0;
};

/// gamma of one row (with output `all`, of one of its columns). What has no value is empty.
struct GammaRow {
  std::size_t row = 0;
  std::optional<std::size_t> column;       ///< with output `all`
  std::optional<long long> decided_class;  ///< the model's decision at the row, if it makes one
  std::optional<double> value;             ///< the measured output at the row
  std::optional<double> gamma;             ///< plug-in estimate |delta|; biased upwards if sampled
  std::optional<double> low, high;         ///< with probability >= confidence the ball's gamma lies between
  std::optional<double> delta;             ///< signed: ball average minus value
  std::optional<double>
      laplacian;  ///< that delta implies, in units of the scales; none if steps were cut short or whole
  std::optional<double> split;  ///< sign from one half of the sample, size from the other; biased downwards
  std::optional<double> standard_error;
  std::uint64_t points = 0;   ///< of the ball that were evaluated, the centre not counted
  std::size_t moved = 0;      ///< features that were moved
  std::size_t shortened = 0;  ///< features whose step the bounds cut short
  Outcome outcome = Outcome::exact;
  std::vector<Contribution> explain;
  std::string id, label, segment;  ///< carried from the data; a segment without a value is "(empty)"
  std::vector<double> x;           ///< the row's values, NaN where missing: all of up to kDrawnFeatures; the
                                   ///< first kKeptFeatures if gamma is among the kWorstRows largest so far
  std::vector<double> outputs;     ///< all that the model answers at the row, with keep_outputs
  std::uint64_t fingerprint = 0;   ///< of the row's values, to know it again when a run is resumed

  /// It has a value, and too few directions carry it to say how large it may be.
  bool sparse() const { return outcome == Outcome::sparse || (outcome == Outcome::budget && gamma && !high); }
  /// Model evaluations that it stands for, the centre included.
  std::uint64_t evaluations() const { return outcome == Outcome::budget && points == 0 ? 0 : points + 1; }
};

/// gamma over a data set.
struct GammaStatistics {
  std::size_t rows = 0;        ///< rows that have a value
  std::optional<double> mean;  ///< of the plug-in estimates
  std::optional<double> low,
      high;  ///< with probability >= confidence the mean gamma of the population lies between
  std::optional<double> standard_error;  ///< of the mean, rows taken as a random sample
  std::optional<double> rms;             ///< root of the mean square of gamma, its square unbiased
  std::optional<double> relative;        ///< mean over the spread of the output
};

/// gamma over the rows of one segment; each segment's interval holds for itself.
struct GammaSegment {
  std::string value;  ///< of the column that segments are taken from
  GammaStatistics gamma;
};

/// What a run over a data set comes to.
struct GammaSummary {
  GammaStatistics gamma;                 ///< with output `all`, of the columns' average
  std::vector<GammaStatistics> columns;  ///< with output `all`
  std::vector<GammaSegment> segments;    ///< if the rows have segments: by value, numbers as numbers
  std::vector<std::size_t> outcomes;     ///< rows by Outcome
  std::vector<Contribution>
      explain;  ///< features by their total |contribution| in the rows that name them, over all rows
  std::size_t rows_shortened = 0;     ///< rows with a step that bounds cut short
  std::size_t rows_partly_moved = 0;  ///< rows with a feature that was not moved
  std::uint64_t evaluations = 0;      ///< that the rows stand for, centres included
  std::string fast_path;              ///< by which balls were answered as wholes; empty: point by point
  std::uint64_t fingerprint = 0;      ///< of all rows' numbers and values: the same rows, the same number
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Rows and their summary.
struct GammaResult {
  std::vector<GammaRow> rows;
  GammaSummary summary;
};

/// Measures gamma of every row of x (rows × inputs). Same seed, same result, whatever the threads and the
/// batch. Throws Error for options, data or a model that cannot be used.
GammaResult gamma(const Model& model, MatrixView<const double> x, const GammaOptions& options, Run& run);

/// The same for data that is read a block at a time. Rows go to `sink` in order as they are done; rows that
/// `done` holds (of an earlier, interrupted run) are not measured again. Keeps no rows itself. A model that
/// is not reentrant is asked by the calling thread. Unless run.threads is 1, data is read and `sink` called
/// by any of the threads, one at a time, and never while run.progress is.
GammaSummary gamma(const Model& model, RowSource& data, const GammaOptions& options, Run& run,
                   const std::function<void(const GammaRow&)>& sink, const std::vector<GammaRow>& done = {});

/// The options that gamma() works by for rows of `inputs` features: with `paper`, the paper's ball and
/// sample.
GammaOptions resolve(GammaOptions options, std::size_t inputs);

/// Evaluations that gamma() may need for one row of `inputs` features, at most.
std::uint64_t gamma_cost(const GammaOptions& options, std::size_t inputs);

}  // namespace harmonia
