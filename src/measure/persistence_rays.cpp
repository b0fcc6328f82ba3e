#include <algorithm>
#include <cmath>
#include <utility>

#include "persistence_search.hpp"

namespace harmonia {
namespace {

// 1/t of exits is looked for between these, in units of 1/sigma at the centre; rays that leave the class
// before or after are not followed.
constexpr double kNearest = 4, kFarthest = 0.125;
constexpr int kBisections = 7;
constexpr double kRaysADimension = 1.4;        // that are followed to their exits, …
constexpr std::size_t kRaysMore = 8;           // … and these
constexpr std::size_t kMostTries = 3;          // rays that are looked at for each that is followed
constexpr std::size_t kMostDimensions = 2000;  // a fit of more takes longer than most models
constexpr double kEvaluationsARay = 9;         // with those that are not followed
constexpr double kLabelsLikely = 400;          // to correct a surrogate
constexpr std::uint64_t kFirstLabels = 128, kFewestLabels = 160, kFewestMoreLabels = 32;
constexpr double kPairVariance = 0.6;  // of a pair's mean, in units of independent samples' p(1 − p)
constexpr double kRaysMustSave = 1.3;  // times their cost
constexpr double kLabelsMustSave = 1.5;
constexpr int kMostMoves = 4;   // of the sigma where labels are asked for
constexpr double kDrift = 0.5;  // of a correction between two sigmas, at most, in units of its error

using Purpose = SampleRequest::Purpose;

// The displacement that a surrogate takes.
void direction(const Noise& noise, std::uint64_t sample, std::span<double> out) {
  std::vector<float> z(out.size());
  noise.numbers(sample, z);
  std::copy(z.begin(), z.end(), out.begin());
}

// What the surrogate's share of kept samples is off by, and the error of that [Bonett & Price 2012].
struct Correction {
  double mean = 0, error = 0;
  double against = 0;  // share of the labels
  double asked = 0;
};

Correction correction(std::span<const LabelCount> labels) {
  double kept = 1, lost = 1, asked = 2;
  for (const LabelCount& count : labels) {
    kept += static_cast<double>(count.kept_against);
    lost += static_cast<double>(count.lost_against);
    asked += static_cast<double>(count.asked);
  }
  const double mean = (kept - lost) / asked;
  return {mean, std::sqrt(((kept + lost) / asked - mean * mean) / asked), (kept + lost - 2) / (asked - 2),
          asked - 2};
}

// How many labels in all make the error so many times smaller, if as many of them as now are against.
double labels_for(const Correction& now, double smaller) {
  double asked = now.asked;
  const auto error = [&] { return std::sqrt(now.against * asked + 2) / (asked + 2); };
  const double goal = std::sqrt(now.against * asked + 2) / (asked + 2) / smaller;
  while (error() > goal) asked *= 1.02;
  return asked;
}

}  // namespace

double ray_cost(std::size_t dimension) {
  return kEvaluationsARay * (kRaysADimension * static_cast<double>(dimension + 1) + kRaysMore) +
         kLabelsLikely;
}

RayExits::RayExits(const Noise& noise, double centre, std::uint64_t first)
    : noise_(noise), centre_(centre), first_(first) {}

std::size_t RayExits::wanted() const {
  return static_cast<std::size_t>(std::ceil(kRaysADimension * static_cast<double>(noise_.dimension() + 1))) +
         kRaysMore;
}

std::optional<SampleRequest> RayExits::next() {
  if (over_) return std::nullopt;
  SampleRequest request{.purpose = Purpose::rays};
  if (round_ == 0) {
    // As many more as may be enough, by the share of those that were worth following.
    const std::uint64_t missing = wanted() - followed_.size(),
                        tries = drawn_ == 0 ? 1 : drawn_ / std::max<std::size_t>(1, followed_.size()) + 1;
    const std::uint64_t more = std::min(missing * tries, kMostTries * wanted() - drawn_);
    for (std::uint64_t i = 0; i < more; ++i)
      request.rays.push_back({centre_ / kFarthest, first_ + drawn_ + i, false});
    return request;
  }
  for (const Ray& ray : followed_) {
    request.rays.push_back({2 / (ray.low + ray.high), ray.sample, false});
  }
  return request;
}

void RayExits::take(const SampleRequest& request, std::span<const unsigned char> kept) {
  if (round_ == 0) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] == 0)
        followed_.push_back({request.rays[i].sample, kFarthest / centre_, kNearest / centre_});
    }
    drawn_ += kept.size();
    if (followed_.size() < wanted()) {
      over_ = drawn_ >= kMostTries * wanted();
      return;
    }
  } else {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      Ray& ray = followed_[i];
      (kept[i] != 0 ? ray.high : ray.low) = (ray.low + ray.high) / 2;
    }
  }
  if (++round_ <= kBisections) return;
  over_ = true;
  // Those that were never kept left the class before.
  std::erase_if(followed_, [&](const Ray& ray) { return ray.high == kNearest / centre_; });
  if (followed_.size() > noise_.dimension() + 1 + kRaysMore) fit();
}

void RayExits::fit() {
  Matrix<double> directions(followed_.size(), noise_.dimension());
  std::vector<double> exits;
  for (std::size_t i = 0; i < followed_.size(); ++i) {
    direction(noise_, followed_[i].sample, {directions.row(i), directions.columns()});
    exits.push_back((followed_[i].low + followed_[i].high) / 2);
  }
  surrogate_.emplace(std::as_const(directions).view(), exits);
}

// The probit of the frequency is nearly a line in 1/sigma: through where the class is kept and where it is
// lost.
PersistenceSearch::ScanLine PersistenceSearch::scan_line() const {
  double weights = 0, x = 0, y = 0, spread = 0, product = 0;
  const auto each = [&](const auto& use) {
    for (auto at = curve_.scan.find(above_); at != curve_.scan.upper_bound(below_); ++at) {
      const auto kept = static_cast<double>(at->second.kept), asked = static_cast<double>(at->second.asked);
      const double share = (kept + 0.5) / (asked + 1), probit = normal_quantile(share);
      const double density = std::exp(-probit * probit / 2);
      use(1 / at->first, probit, asked * density * density / (share * (1 - share)));
    }
  };
  each([&](double inverse, double probit, double weight) {
    weights += weight;
    x += weight * inverse;
    y += weight * probit;
  });
  x /= weights;
  y /= weights;
  each([&](double inverse, double probit, double weight) {
    spread += weight * (inverse - x) * (inverse - x);
    product += weight * (inverse - x) * (probit - y);
  });
  const double slope = product / spread, root = x + (normal_quantile(gamma_) - y) / slope;
  const double crossing =
      slope > 0 && root > 0 ? std::clamp(1 / root, above_, below_) : std::sqrt(above_ * below_);
  return {std::max(0.0, slope / crossing), crossing};
}

// Whether finding exits costs clearly less than asking for the class alone.
bool PersistenceSearch::rays_pay() const {
  const NoiseOptions& noise = noise_.options();
  if (noise.kind != NoiseKind::gaussian || noise_.dimension() > kMostDimensions) return false;
  if (noise.directions.rows() == 0 &&
      std::any_of(noise.schema.begin(), noise.schema.end(), [](const Feature& f) { return f.fixed; }))
    return false;
  const double level = normal_quantile(gamma_), density = std::exp(-level * level / 2) / std::sqrt(2 * M_PI);
  const double t = normal_quantile(0.5 + options_.confidence / 2);
  const double each = t / (density * scan_line().slope * options_.precision);
  const double plain = kPairVariance * gamma_ * (1 - gamma_) * each * each;
  return kRaysMustSave * ray_cost(noise_.dimension()) < std::min(plain, static_cast<double>(options_.most));
}

// Where the surrogate's share, corrected, is gamma; an end of the bracket if it is nowhere in it.
double PersistenceSearch::crossing(const RaySurrogate& surrogate, double correction) const {
  double low = std::log(above_), high = std::log(below_);
  for (int i = 0; i < 48; ++i) {
    const double middle = (low + high) / 2;
    (surrogate.kept(std::exp(middle)) + correction >= gamma_ ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

void PersistenceSearch::take_labels(const SampleRequest& request, std::span<const unsigned char> kept) {
  LabelCount count{.sigma = request.sigma, .asked = request.count};
  std::vector<double> z(noise_.dimension());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    direction(noise_, request.first + i, z);
    const bool expected = curve_.rays->surrogate()->inverse_exit(z) <= 1 / request.sigma;
    if (kept[i] != 0 && !expected) ++count.kept_against;
    if (kept[i] == 0 && expected) ++count.lost_against;
  }
  labels_.push_back(count);
}

// A surrogate learnt from the exits of rays says where the frequency is gamma; the classes of other samples
// there correct it, so that the answer is right whatever the surrogate is worth: only where it is wrong is
// there noise.
bool PersistenceSearch::refine_by_rays() {
  if (plain_ || above_ == 0 || below_ == 0) return true;
  if (!curve_.rays) {
    if (!rays_pay()) return plain_ = true;
    curve_.rays.emplace(noise_, scan_line().crossing, kRefinementFrom + curve_.refined);
  }
  if (auto request = curve_.rays->next()) {
    need_ = std::move(*request);
    return false;
  }
  curve_.refined = std::max(curve_.refined, curve_.rays->end() - kRefinementFrom);
  const std::optional<RaySurrogate>& surrogate = curve_.rays->surrogate();
  if (!surrogate) return plain_ = true;

  const auto inside = [&](double sigma) {
    return sigma > above_ * (1 + 1e-6) && sigma < below_ * (1 - 1e-6);
  };
  double sigma = crossing(*surrogate, 0);
  const double density = (surrogate->kept(sigma * 0.99) - surrogate->kept(sigma * 1.01)) / 0.02 * sigma;
  const double disagree = 0.8 * surrogate->error() * density;
  if (!inside(sigma) || kLabelsMustSave * disagree > kPairVariance * gamma_ * (1 - gamma_))
    return plain_ = true;

  const double t = kForLooking * normal_quantile(0.5 + options_.confidence / 2);
  const auto ask = [&](std::uint64_t labels) {
    need_ = {.purpose = Purpose::labels,
             .sigma = sigma,
             .first = kRefinementFrom + curve_.refined,
             .count = labels};
    return false;
  };
  std::size_t from = 0;  // labels at the present sigma
  int moves = 0;
  for (std::size_t asked = 0;; ++asked) {
    if (asked == labels_.size()) return ask(asked == 0 ? kFirstLabels : more_labels_);
    const Correction now = correction({labels_.data() + from, asked + 1 - from});
    const double found = crossing(*surrogate, now.mean), low = crossing(*surrogate, now.mean - t * now.error),
                 high = crossing(*surrogate, now.mean + t * now.error);
    if (!inside(found)) return plain_ = true;
    const double share = (high - low) / (2 * found * options_.precision);
    std::uint64_t spent = 0;
    for (std::size_t i = 0; i <= asked; ++i) spent += labels_[i].asked;
    const bool ends = spent >= options_.most || (share <= 1 && now.asked >= kFewestLabels);
    // A correction holds where it was measured, and nearby the longer the less there is to correct. What may
    // be noise moves nothing before the end.
    const double shift = std::abs(std::log(found / sigma));
    const bool drifts = shift * now.against > kDrift * now.error;
    const bool moved =
        moves < kMostMoves && drifts && spent < options_.most && (ends || shift > std::log(high / low) / 2);
    if (ends && !moved) {
      result_.sigma = found;
      return finish(PersistenceOutcome::crossing, low, high);
    }
    const double all = std::min(labels_for(now, share), 4 * now.asked);
    const auto left = static_cast<double>(options_.most - std::min(options_.most, spent));
    more_labels_ = static_cast<std::uint64_t>(
        std::max<double>(kFewestMoreLabels, std::min(left, moved ? all : all - now.asked)));
    if (!moved) continue;
    sigma = found;
    from = asked + 1;
    ++moves;
  }
}

}  // namespace harmonia
