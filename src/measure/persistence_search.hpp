#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "harmonia/core/statistics.hpp"
#include "harmonia/measure/persistence.hpp"
#include "ray_surrogate.hpp"

namespace harmonia {

/// Displacements for scans have the numbers below this one, those for refinements the numbers from it on.
constexpr std::uint64_t kRefinementFrom = std::uint64_t{1} << 31;

/// Intervals are wider for having been looked at before the last sample.
constexpr double kForLooking = 1.08;

/// Samples to be asked for before a search can go on.
struct SampleRequest {
  enum class Purpose { scan, pairs, rays, labels };

  /// One sample around the row.
  struct Point {
    double sigma = 0;
    std::uint64_t sample = 0;  ///< number of the displacement
    bool mirrored = false;
  };

  Purpose purpose = Purpose::scan;
  double sigma = 0;
  std::uint64_t first = 0;    ///< number of the first displacement
  std::uint64_t count = 0;    ///< of displacements; of pairs each is followed by its mirror image
  std::vector<Point> rays{};  ///< the points themselves, each at a sigma of its own

  std::uint64_t points() const {
    return purpose == Purpose::rays ? rays.size() : purpose == Purpose::pairs ? 2 * count : count;
  }
  Point point(std::uint64_t i) const {
    if (purpose == Purpose::rays) return rays[i];
    if (purpose == Purpose::pairs) return {sigma, first + i / 2, i % 2 == 1};
    return {sigma, first + i, false};
  }
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

/// How often samples kept the class where a surrogate said otherwise.
struct LabelCount {
  double sigma = 0;
  std::uint64_t asked = 0, kept_against = 0, lost_against = 0;
};

/// Finds where rays around a row leave its class, and learns a surrogate from them.
class RayExits {
 public:
  /// `centre`: a sigma near those that matter; displacements are numbered from `first` on.
  RayExits(const Noise& noise, double centre, std::uint64_t first);

  /// What is needed next; none: it is over.
  std::optional<SampleRequest> next();
  void take(const SampleRequest& request, std::span<const unsigned char> kept);
  /// The number of the first displacement after those that it has taken.
  std::uint64_t end() const { return first_ + drawn_; }
  /// Once it is over; none if the class ends along too few rays.
  const std::optional<RaySurrogate>& surrogate() const { return surrogate_; }

 private:
  // 1/t of a ray's exit lies between these, if it is followed at all.
  struct Ray {
    std::uint64_t sample = 0;
    double low = 0, high = 0;
  };
  std::size_t wanted() const;
  void fit();

  const Noise& noise_;
  double centre_;
  std::uint64_t first_, drawn_ = 0;
  int round_ = 0;
  std::vector<Ray> followed_;
  std::optional<RaySurrogate> surrogate_;
  bool over_ = false;
};

/// Evaluations that the exits of rays take in so many dimensions.
double ray_cost(std::size_t dimension);

/// What is known of a row's class frequency as a function of sigma; all gammas of the row share it.
struct FrequencyCurve {
  std::map<double, KeptCount> scan;
  std::uint64_t refined = 0;  ///< displacements drawn for refinements so far
  std::optional<RayExits> rays;
};

/// Searches one row's persistence for one gamma. It looks at what is known and says what it must know next,
/// so that the samples of many rows can be asked for together.
class PersistenceSearch {
 public:
  PersistenceSearch(const PersistenceOptions& options, const Noise& noise, double gamma,
                    FrequencyCurve& curve);

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
  bool refine_by_rays();
  void take_labels(const SampleRequest& request, std::span<const unsigned char> kept);

  bool side(double sigma, std::uint64_t most, Side& side);
  bool rises(double from, double to) const;
  double error(std::uint64_t asked) const;
  double frequency(double sigma) const;
  struct ScanLine {
    double slope = 0;     // how fast the probit falls with log sigma
    double crossing = 0;  // sigma
  };
  ScanLine scan_line() const;
  bool rays_pay() const;
  double crossing(const RaySurrogate& surrogate, double correction) const;
  bool finish(PersistenceOutcome outcome, std::optional<double> low, std::optional<double> high);

  const PersistenceOptions& options_;
  const Noise& noise_;
  double gamma_;
  FrequencyCurve& curve_;
  std::vector<double> grid_;
  std::uint64_t first_look_ = 0;
  double above_ = 0, below_ = 0, centre_ = 0;
  std::vector<PairCount> stages_;
  std::vector<LabelCount> labels_;
  std::uint64_t more_labels_ = 0;
  bool plain_ = false;  // rays are of no use
  SampleRequest need_;
  bool over_ = false;
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
