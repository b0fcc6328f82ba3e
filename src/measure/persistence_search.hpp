#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "harmonia/core/statistics.hpp"
#include "harmonia/measure/persistence.hpp"

namespace harmonia {

/// Samples to be asked for before a search can go on.
struct SampleRequest {
  double sigma = 0;
  bool paired = false;      ///< every sample is followed by its mirror image
  std::uint64_t first = 0;  ///< number of the first displacement
  std::uint64_t count = 0;  ///< of displacements

  std::uint64_t points() const { return paired ? 2 * count : count; }
};

/// How often samples at one sigma, independent of one another, kept the class.
struct KeptCount {
  std::uint64_t kept = 0, asked = 0;
};

/// How often samples and their mirror images did.
struct PairCount {
  double sigma = 0;
  std::uint64_t pairs = 0, both = 0, one = 0;
};

/// What is known of a row's class frequency as a function of sigma; all gammas of the row share it.
struct FrequencyCurve {
  std::map<double, KeptCount> scan;
  std::uint64_t pairs = 0;  ///< drawn so far
};

/// Searches one row's persistence for one gamma. It looks at what is known and says what it must know next,
/// so that the samples of many rows can be asked for together.
class PersistenceSearch {
 public:
  /// The options' noise is not used.
  PersistenceSearch(const PersistenceOptions& options, double gamma, FrequencyCurve& curve);

  /// What is needed next; none: the search is over.
  std::optional<SampleRequest> next();
  /// kept[i] tells whether point i of the request has the row's class.
  void take(const SampleRequest& request, std::span<const unsigned char> kept);
  /// The outcome, sigma and the interval, once the search is over.
  const PersistenceRow& result() const { return result_; }

 private:
  // Each returns false if samples are needed first: need_ says which.
  bool scan();
  bool look_between(std::size_t from, std::size_t to);
  bool narrow();
  bool refine();

  bool side(double sigma, std::uint64_t most, Side& side);
  bool rises(double from, double to) const;
  double error(std::uint64_t asked) const;
  double frequency(double sigma) const;
  bool finish(PersistenceOutcome outcome, std::optional<double> low, std::optional<double> high);

  const PersistenceOptions& options_;
  double gamma_;
  FrequencyCurve& curve_;
  std::vector<double> grid_;
  std::uint64_t first_look_ = 0;
  double above_ = 0, below_ = 0, centre_ = 0;
  std::vector<PairCount> stages_;
  SampleRequest need_;
  PersistenceRow result_;
};

/// The paper's bracketing [Bell 2024, algorithm 1], with an end.
class PaperBracketing {
 public:
  PaperBracketing(const PersistenceOptions& options, double gamma) : options_(options), gamma_(gamma) {}

  std::optional<SampleRequest> next();
  void take(const SampleRequest& request, std::span<const unsigned char> kept);
  const PersistenceRow& result() const { return result_; }

 private:
  enum class Stage { low, high, between, over };
  void finish(PersistenceOutcome outcome);

  const PersistenceOptions& options_;
  double gamma_;
  double low_ = 0.5, high_ = 1.5, at_low_ = 0, at_high_ = 0;
  Stage stage_ = Stage::low;
  bool low_known_ = false, high_known_ = false;
  int steps_ = 0;
  std::uint64_t drawn_ = 0;
  PersistenceRow result_;
};

/// The sigmas of the coarse scan.
std::vector<double> coarse_grid(const PersistenceOptions& options);

/// Samples of the first look at a sigma: the fewest that can decide for every gamma.
std::uint64_t first_look(const PersistenceOptions& options);

}  // namespace harmonia
