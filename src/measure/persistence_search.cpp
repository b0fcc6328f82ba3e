#include "persistence_search.hpp"

#include <algorithm>
#include <cmath>

#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kQuickLook = 4,
                        kLongerLook = 16;    // times the first look, before a close sigma is passed over
constexpr std::uint64_t kPilotPairs = 32;    // at the first three sigmas, or …
constexpr std::uint64_t kPilotShare = 8;     // … one in so many of the fewest pairs
constexpr double kFewestOfAKind = 40;        // samples that keep or lose the class, expected
constexpr std::uint64_t kFewestPairs = 192;  // before an interval is believed
constexpr std::uint64_t kFewestMore = 32;    // at a time
constexpr std::size_t kSigmasAStage = 3;
constexpr double kWidestBracket = 1.25;
constexpr double kPilotSpread = 0.15;  // of the two sigmas around the centre, in log sigma
constexpr double kLeastSpread = 0.01, kMostSpread = 0.25;
constexpr double kSpreadInProbits = 0.35;
constexpr double kLeastVariance = 0.25;  // of a pair's mean, in units of independent samples' p(1 − p)
// How far a point may lie off the line: a share of the level's distance squared, and of the slope times the
// distance in log sigma squared.
constexpr double kBendInProbits = 0.1, kBendInSigma = 0.75;

// Half of the error is for first looks, shared by the sigmas of the scan.
double first_error(const PersistenceOptions& options) {
  return (1 - options.confidence) / (2 * static_cast<double>(coarse_grid(options).size()));
}

// Looks at one sigma after the first one, at most: each doubles the samples.
double later_looks(const PersistenceOptions& options) {
  const double doublings = static_cast<double>(options.most) / static_cast<double>(first_look(options));
  return std::max(1.0, std::ceil(std::log2(doublings)));
}

// p against sigma near a crossing: the probit of p is a straight line in 1/sigma, as it is for a half-space
// exactly, and for balls and cones of many dimensions nearly.
struct Line {
  double centre = 0, level = 0, slope = 0, weight = 0, spread = 0;
  std::uint64_t pairs = 0;

  double root(double level_asked) const { return centre + (level_asked - level) / slope; }

  // Where the line takes the level [Fieller 1954]; none if the slope may be zero.
  std::optional<Interval> interval(double level_asked, double t) const {
    const double a = slope * slope - t * t / spread;
    if (!(a > 0) || !(slope > 0)) return std::nullopt;
    const double d = level_asked - level, b = slope * d, c = d * d - t * t / weight;
    const double root = std::sqrt(std::max(0.0, b * b - a * c));
    return Interval{centre + (b - root) / a, centre + (b + root) / a};
  }
};

// What the mean of a sample and its mirror image varies by, in units of p(1 − p): a half if they are
// independent, less if one mostly keeps the class where the other loses it.
double pair_variance(std::span<const PairCount> stages) {
  double seen = 0, single = 0;
  for (const PairCount& stage : stages) {
    const auto pairs = static_cast<double>(stage.pairs), both = static_cast<double>(stage.both),
               one = static_cast<double>(stage.one);
    const double mean = (both + one / 2) / pairs;
    seen += both + one / 4 - pairs * mean * mean;
    single += (pairs - 1) * mean * (1 - mean);
  }
  return single > 0 ? std::clamp(seen / single, kLeastVariance, 1.0) : 1.0;
}

// The line of largest likelihood, by Fisher's scoring. `slope`, per unit of log sigma, and `centre`, log
// sigma, are what is known so far.
Line fit(std::span<const PairCount> stages, double level_asked, double slope, double centre) {
  constexpr int kMostRounds = 30, kCarefulRounds = 3;
  constexpr double kSettled = 1e-9;
  // In probits. Where the line says that nothing is lost, samples of which nothing was lost weigh nothing.
  constexpr double kFarthest = 7, kLongStep = 1, kLongestStep = 4;
  const double variance = pair_variance(stages);
  Line line;
  for (int round = 0; round < kMostRounds; ++round) {
    const Line last = line;
    struct Point {
      double x, y, weight;
    };
    std::vector<Point> points;
    line = {};
    for (const PairCount& stage : stages) {
      const auto pairs = static_cast<double>(stage.pairs);
      const double p = (static_cast<double>(stage.both) + static_cast<double>(stage.one) / 2) / pairs;
      const double x = 1 / stage.sigma, away = std::log(stage.sigma) - centre;
      // At first every point's own frequency, which is near enough to start from.
      const double start = normal_quantile((2 * pairs * p + 0.5) / (2 * pairs + 1));
      const double known = round == 0 ? start : last.level + last.slope * (x - last.centre);
      const double eta = std::clamp(known, -kFarthest, kFarthest);
      const double mean = normal_cdf(eta), density = std::exp(-eta * eta / 2) / std::sqrt(2 * M_PI);
      const double off = eta - level_asked;
      const double bend = kBendInProbits * off * off + kBendInSigma * slope * away * away;
      const double spread = variance * mean * (1 - mean) / pairs / (density * density);
      const double longest = round < kCarefulRounds ? kLongStep : kLongestStep;
      const double step = std::clamp((p - mean) / density, -longest, longest);
      points.push_back({x, eta + step, 1 / (spread + bend * bend)});
      line.weight += points.back().weight;
      line.pairs += stage.pairs;
    }
    for (const Point& point : points) {
      line.centre += point.weight * point.x / line.weight;
      line.level += point.weight * point.y / line.weight;
    }
    for (const Point& point : points) {
      line.spread += point.weight * (point.x - line.centre) * (point.x - line.centre);
      line.slope += point.weight * (point.x - line.centre) * (point.y - line.level);
    }
    line.slope /= line.spread;
    const double root = line.root(level_asked);
    if (round > kCarefulRounds && std::abs(root - last.root(level_asked)) <= kSettled * std::abs(root)) break;
  }
  return line;
}

}  // namespace

std::vector<double> coarse_grid(const PersistenceOptions& options) {
  std::vector<double> grid{options.lowest};
  while (grid.back() * kCoarseRatio < options.highest) grid.push_back(grid.back() * kCoarseRatio);
  if (grid.back() < options.highest) grid.push_back(options.highest);
  return grid;
}

std::uint64_t first_look(const PersistenceOptions& options) {
  double most = 1;
  for (const double gamma : options.gammas) {
    most = std::max(most, std::log(first_error(options) / 2) / std::log(std::max(gamma, 1 - gamma)));
  }
  return static_cast<std::uint64_t>(std::ceil(most));
}

double visible_dip(const PersistenceOptions& options, double gamma) {
  const double z = -normal_quantile(first_error(options) / later_looks(options) / 2);
  return z * std::sqrt(gamma * (1 - gamma) / static_cast<double>(options.most));
}

PersistenceSearch::PersistenceSearch(const PersistenceOptions& options, const Noise& noise, double gamma,
                                     FrequencyCurve& curve)
    : options_(options),
      noise_(noise),
      gamma_(gamma),
      curve_(curve),
      grid_(coarse_grid(options)),
      first_look_(first_look(options)) {
  result_.gamma = gamma;
}

std::optional<SampleRequest> PersistenceSearch::next() {
  if (over_) return std::nullopt;
  if (!scan() || !refine_by_rays()) return need_;
  if (!over_ && !(narrow() && refine())) return need_;
  return std::nullopt;
}

void PersistenceSearch::take(const SampleRequest& request, std::span<const unsigned char> kept) {
  using Purpose = SampleRequest::Purpose;
  result_.samples += request.points();
  if (request.purpose == Purpose::rays) return curve_.rays->take(request, kept);
  if (request.purpose == Purpose::scan) {
    KeptCount& count = curve_.scan[request.sigma];
    count.asked += request.count;
    count.kept += static_cast<std::uint64_t>(std::count(kept.begin(), kept.end(), 1));
    return;
  }
  curve_.refined += request.count;
  if (request.purpose == Purpose::labels) return take_labels(request, kept);
  PairCount stage{.sigma = request.sigma, .pairs = request.count};
  for (std::size_t i = 0; i + 1 < kept.size(); i += 2) {
    stage.both += kept[i] & kept[i + 1];
    stage.one += kept[i] ^ kept[i + 1];
  }
  stages_.push_back(stage);
}

double PersistenceSearch::error(std::uint64_t asked) const {
  if (asked <= first_look_) return first_error(options_);
  return first_error(options_) / later_looks(options_);
}

double PersistenceSearch::frequency(double sigma) const {
  const KeptCount& count = curve_.scan.at(sigma);
  return static_cast<double>(count.kept) / static_cast<double>(count.asked);
}

bool PersistenceSearch::side(double sigma, std::uint64_t most, Side& side) {
  const KeptCount& count = curve_.scan[sigma];
  const auto ask = [&](std::uint64_t samples) {
    need_ = {.sigma = sigma, .first = count.asked, .count = samples};
    return false;
  };
  if (count.asked == 0) return ask(first_look_);
  side = side_of(count.kept, count.asked, gamma_, error(count.asked));
  if (side == Side::unsure && count.asked < most) return ask(std::min(count.asked, most - count.asked));
  return true;
}

bool PersistenceSearch::finish(PersistenceOutcome outcome, std::optional<double> low,
                               std::optional<double> high) {
  over_ = true;
  result_.outcome = outcome;
  result_.low = low;
  result_.high = high;
  return true;
}

// Upwards from the lowest sigma to the first where the class is lost. A sigma where the frequency is close to
// gamma is passed over at first; it counts when the frequency is higher again above it.
bool PersistenceSearch::scan() {
  above_ = below_ = 0;
  std::size_t kept = grid_.size();  // the last sigma where the class is kept for certain
  std::uint64_t most = kQuickLook * first_look_;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    Side at = Side::unsure;
    const bool last = i + 1 == grid_.size(), end = i == 0 || last;
    if (!side(grid_[i], end ? options_.most : std::min(most, options_.most), at)) return false;
    if (at == Side::unsure && frequency(grid_[i]) > gamma_ &&
        !side(grid_[i], std::min(kLongerLook * first_look_, options_.most), at)) {
      return false;
    }
    if (at == Side::unsure && !last) {
      most *= 2;
      continue;
    }
    std::size_t again = at == Side::below ? kept : i;  // the last sigma that is higher than one before
    for (std::size_t k = kept == grid_.size() ? i : kept + 1; k < i; ++k) {
      for (std::size_t j = kept + 1; j < k; ++j) again = rises(grid_[j], grid_[k]) ? k : again;
    }
    if (kept < again && again < grid_.size() && !look_between(kept, again)) return false;
    if (below_ != 0) return true;
    if (at == Side::below) below_ = grid_[i];
    if (at != Side::above) return true;
    kept = i;
    above_ = grid_[i];
    most = kQuickLook * first_look_;
  }
  return true;
}

// Whether the frequency is higher at the second sigma, as far as can be told from what was asked.
bool PersistenceSearch::rises(double from, double to) const {
  const KeptCount &a = curve_.scan.at(from), &b = curve_.scan.at(to);
  const double p = static_cast<double>(a.kept + b.kept) / static_cast<double>(a.asked + b.asked);
  const double error =
      std::sqrt(p * (1 - p) * (1 / static_cast<double>(a.asked) + 1 / static_cast<double>(b.asked)));
  return frequency(to) > frequency(from) + 2 * error;
}

// Between two sigmas where the class is kept, wherever it is left at all, for a dip below gamma.
bool PersistenceSearch::look_between(std::size_t from, std::size_t to) {
  bool close = false;
  for (std::size_t i = from; i <= to; ++i) close |= frequency(grid_[i]) < (1 + gamma_) / 2;
  if (!close) return true;
  for (double sigma = grid_[from] * kFineRatio; sigma < grid_[to] * (1 - 1e-9); sigma *= kFineRatio) {
    // The coarse sigmas are among the fine ones, up to rounding.
    for (const double coarse : grid_) {
      if (std::abs(sigma / coarse - 1) < 1e-9) sigma = coarse;
    }
    Side at = Side::unsure;
    if (!side(sigma, options_.most, at)) return false;
    if (at == Side::below) {
      below_ = sigma;
      return true;
    }
    if (at == Side::above) above_ = sigma;
  }
  return true;
}

// Halves the bracket by what the frequencies are, not by what is certain: the refinement may leave it.
bool PersistenceSearch::narrow() {
  if (below_ == 0) return true;
  if (above_ == 0) return true;
  for (;;) {
    const auto first = curve_.scan.lower_bound(above_);
    auto lost = std::next(first);
    while (lost->first < below_ && frequency(lost->first) >= gamma_) ++lost;
    const double low = std::prev(lost)->first, high = lost->first;
    centre_ = low * std::sqrt(high / low);
    if (high / low <= kWidestBracket) return true;
    Side at = Side::unsure;
    if (!side(centre_, std::min(kQuickLook * first_look_, options_.most), at)) return false;
  }
}

// Pairs at the crossing and at two sigmas around it, as many as the interval needs.
bool PersistenceSearch::refine() {
  const auto known = [](double sigma) { return sigma > 0 ? std::optional(sigma) : std::nullopt; };
  if (above_ == 0) return finish(PersistenceOutcome::censored_low, std::nullopt, known(below_));
  if (below_ == 0) return finish(PersistenceOutcome::censored_high, above_, std::nullopt);
  const double asked = normal_quantile(gamma_);
  double centre = std::log(centre_), spread = kPilotSpread, slope = 0;
  const auto fewest = static_cast<std::uint64_t>(
      std::max<double>(kFewestPairs, kFewestOfAKind / std::min(gamma_, 1 - gamma_)));
  const std::uint64_t most_pairs = std::max(options_.most / 2, fewest);
  std::uint64_t pairs = std::max(kPilotPairs, fewest / kPilotShare);
  const auto inside = [&](double x) { return std::clamp(x, std::log(above_), std::log(below_)); };
  for (std::size_t stage = kSigmasAStage;; stage += kSigmasAStage) {
    if (stages_.size() < stage) {
      const std::size_t place = stages_.size() + kSigmasAStage - stage;
      const double sigma = std::exp(place == 0 ? centre : centre + (place == 1 ? -spread : spread));
      need_ = {.purpose = SampleRequest::Purpose::pairs,
               .sigma = sigma,
               .first = kRefinementFrom + curve_.refined,
               .count = place == 0 ? pairs / 2 : pairs / 4};
      return false;
    }
    const Line line = fit({stages_.data(), stage}, asked, slope, centre);
    const double t =
        kForLooking * student_t_quantile(0.5 + options_.confidence / 2, static_cast<double>(line.pairs) - 2);
    const auto interval = line.interval(asked, t);
    const double root = line.slope > 0 ? line.root(asked) : 0;
    const bool bounded = interval && interval->low > 0 && root > 0;
    const double half = bounded ? (1 / interval->low - 1 / interval->high) / 2 * root : 0;
    const bool precise = bounded && half <= options_.precision && line.pairs >= fewest;
    if (precise || line.pairs >= most_pairs) {
      result_.sigma = bounded ? 1 / root : centre_;
      return bounded ? finish(PersistenceOutcome::crossing, 1 / interval->high, 1 / interval->low)
                     : finish(PersistenceOutcome::crossing, above_, below_);
    }
    const double seen = static_cast<double>(line.pairs);
    double more = seen;
    if (root > 0) {
      const double reach = std::max(kPilotSpread, 3 * spread);
      centre = inside(std::clamp(-std::log(root), centre - reach, centre + reach));
    }
    if (bounded) {
      slope = line.slope * root;
      spread = std::clamp(kSpreadInProbits / slope, kLeastSpread, kMostSpread);
      const double share = half / options_.precision;
      // In few large steps: a small one that loses nothing, or one sample, says little of a high level.
      more = std::max(std::min(seen * (1.03 * share * share - 1), 4 * seen),
                      std::min(static_cast<double>(fewest) - seen, 4 * seen));
    } else if (root <= 0) {
      // The slope is not seen yet: towards the level, if that is far, and more samples.
      const double off = (line.level - asked) * std::sqrt(line.weight);
      if (std::abs(off) > 2) centre = inside(centre + (off > 0 ? 2 : -2) * spread);
    }
    const auto left = static_cast<double>(most_pairs - line.pairs);
    pairs = static_cast<std::uint64_t>(std::max<double>(kFewestMore, std::min(more, left)));
  }
}

}  // namespace harmonia
