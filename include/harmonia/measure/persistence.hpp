#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/ball/noise.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/classes.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// How to measure the gamma-persistence of a row: the largest sigma* such that for every smaller sigma the
/// noise around the row keeps its class with probability gamma at least [Bell 2024].
struct PersistenceOptions {
  std::vector<double> gammas{0.7};  ///< each in (0, 1)
  NoiseOptions noise;
  double lowest = 0x1p-20;        ///< sigmas are looked at from here …
  double highest = 0x1p+20;       ///< … to here
  double precision = 0.05;        ///< stop when the interval's half-width is this share of sigma*
  std::uint64_t most = 16384;     ///< samples at one sigma, and for one sigma* once it is bracketed, at most
  double confidence = 0.95;       ///< of every interval
  bool paper = false;             ///< the paper's bracketing instead, ended after kPaperSteps
  std::uint64_t samples = 1000;   ///< of the paper's bracketing, at one sigma
  double paper_precision = 0.01;  ///< of the frequency, where the paper's bracketing ends
  std::size_t batch = 0;          ///< points held in memory at once, over all threads; 0: chosen
};

/// Sigmas are looked at this factor apart; where the class is left in between, …
constexpr double kCoarseRatio = 4;
/// … this factor apart.
constexpr double kFineRatio = 1.189207115002721;  // the fourth root of 2
/// Doublings, halvings and bisections after which the paper's bracketing is ended.
constexpr int kPaperSteps = 60;

/// How a persistence came about.
enum class PersistenceOutcome {
  crossing,       ///< sigma* was found
  censored_low,   ///< the class is kept for certain at no sigma that was looked at
  censored_high,  ///< the class is kept up to the highest sigma
  budget,         ///< the run's evaluations ran out: no value
};

/// The name that results use.
std::string outcome_name(PersistenceOutcome outcome);

/// The persistence of one row for one gamma.
struct PersistenceRow {
  std::size_t row = 0;
  std::optional<long long> decided_class;  ///< of the row itself; none if the budget ran out before it
  double gamma = 0;
  PersistenceOutcome outcome = PersistenceOutcome::crossing;
  std::optional<double> sigma;      ///< of a crossing
  std::optional<double> low, high;  ///< about as often as the confidence says sigma* lies between; where it
                                    ///< is censored one end is open
  std::uint64_t samples = 0;        ///< evaluations that were made for it and no earlier gamma of the row
  /// The radius within which the classifier smoothed by noise of deviation certified_sigma keeps this class
  /// with the confidence asked [Cohen 2019]: the largest over the sigmas of the coarse scan. None where
  /// certifiable() says no.
  std::optional<double> certified_radius, certified_sigma;
  std::string id, label;  ///< carried from the data
};

/// What a run comes to.
struct PersistenceSummary {
  std::size_t rows = 0;
  std::vector<std::size_t> outcomes;  ///< entries by PersistenceOutcome
  AskedTwice asked_twice;
  std::uint64_t evaluations = 0;
  std::string fast_path;              ///< by which points were answered sooner; empty: one by one
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Measures every row. Entries go to `sink` in order, all gammas of a row together. Displacements are the
/// same for all rows and sigmas; same seed, same result, whatever the threads and the batch. Throws Error for
/// options, data or a model that cannot be used.
PersistenceSummary persistence(const Model& model, RowSource& data, const PersistenceOptions& options,
                               Run& run, const std::function<void(const PersistenceRow&)>& sink);

/// How much the class frequency must fall below gamma, at a sigma that is looked at, to be seen with
/// probability one half.
double visible_dip(const PersistenceOptions& options, double gamma);

/// Evaluations that persistence() is likely to need.
struct PersistenceCost {
  std::uint64_t low = 0, high = 0;  ///< … of a class that ends all around the row, and on one side alone
};
PersistenceCost persistence_cost(const PersistenceOptions& options, std::uint64_t rows);

/// A persistence as a number that can be ranked: 0 where censored low, infinite where censored high.
std::optional<double> ranked(const PersistenceRow& row);

}  // namespace harmonia
