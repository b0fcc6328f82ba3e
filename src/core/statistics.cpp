#include "harmonia/core/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "harmonia/core/error.hpp"

namespace harmonia {

bool is_confidence(double confidence) { return confidence > 0 && confidence <= 1 - kLeastDoubt; }

void check_confidence(double confidence) {
  if (is_confidence(confidence)) return;
  const bool too_sure = confidence < 1 && confidence > 0;
  throw Error(ErrorCode::usage, fmt::format("confidence is {}; expected between 0 and 1{}", confidence,
                                            too_sure ? fmt::format(" - {}", kLeastDoubt) : ""));
}

double student_t_quantile(double p, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), p);
}

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

double normal_cdf(double z) { return boost::math::cdf(boost::math::normal(), z); }

Interval wilson_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  if (trials == 0) return {0, 1};
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n, z = normal_quantile(0.5 + confidence / 2);
  const double centre = p + z * z / (2 * n), scale = 1 + z * z / n;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // Rounding must not leave [0, 1] where no or every trial was a success.
  return {successes == 0 ? 0 : (centre - half) / scale, successes == trials ? 1 : (centre + half) / scale};
}

std::uint64_t wilson_trials(double half_width, double confidence) {
  // Widest where half of the trials are successes: z/2 / sqrt(n + z²).
  const double z = normal_quantile(0.5 + confidence / 2);
  const double root = z / (2 * half_width), trials = std::ceil(root * root - z * z);
  if (!(trials < 0x1p64)) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::max(1.0, trials));
}

double clopper_pearson_low(std::uint64_t successes, std::uint64_t trials, double confidence) {
  if (successes == 0) return 0;
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  return boost::math::quantile(boost::math::beta_distribution<>(k, n - k + 1), 1 - confidence);
}

Interval clopper_pearson_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  const double each = 0.5 + confidence / 2;
  return {clopper_pearson_low(successes, trials, each),
          1 - clopper_pearson_low(trials - successes, trials, each)};
}

Side side_of(std::uint64_t successes, std::uint64_t trials, double level, double error) {
  if (trials == 0) return Side::unsure;
  const boost::math::binomial_distribution<> at_level(static_cast<double>(trials), level);
  const auto k = static_cast<double>(successes);
  if (k > level * static_cast<double>(trials)) {
    return boost::math::cdf(complement(at_level, k - 1)) <= error / 2 ? Side::above : Side::unsure;
  }
  return boost::math::cdf(at_level, k) <= error / 2 ? Side::below : Side::unsure;
}

Interval magnitude(const Interval& interval) {
  const double a = std::abs(interval.low), b = std::abs(interval.high);
  const bool over_zero = interval.low <= 0 && interval.high >= 0;
  return {over_zero ? 0 : std::min(a, b), std::max(a, b)};
}

double Moments::variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1); }

double Moments::deviation() const { return std::sqrt(variance()); }

double Moments::standard_error() const {
  return count_ < 2 ? 0 : std::sqrt(variance() / static_cast<double>(count_));
}

double Moments::skewness() const {
  if (count_ < 3 || squares_ <= 0) return 0;
  const auto n = static_cast<double>(count_);
  return n * std::sqrt(n - 1) / (n - 2) * cubes_ / (squares_ * std::sqrt(squares_));
}

Interval mean_interval(const Moments& sample, double t, double correction) {
  const auto n = static_cast<double>(sample.count());
  const double skew = sample.skewness();
  // Hall's monotone transformation makes the studentised mean symmetric; this is its inverse.
  const auto back = [&](double w) {
    const double shifted = w - skew / (6 * n);
    if (std::abs(skew * shifted) < 1e-8) return shifted;
    return 3 / skew * (std::cbrt(1 + skew * shifted) - 1);
  };
  const double scale = sample.deviation() * correction, w = t / std::sqrt(n);
  return {sample.mean() - scale * back(w), sample.mean() - scale * back(-w)};
}

namespace {

// Of every score, the share of the other group that it is above, ties counted half.
std::vector<double> shares_below(std::span<const double> scores, std::span<const double> others) {
  std::vector<double> sorted(others.begin(), others.end()), shares;
  std::sort(sorted.begin(), sorted.end());
  for (const double score : scores) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), score);
    const auto less = static_cast<double>(first - sorted.begin()), tied = static_cast<double>(last - first);
    shares.push_back((less + tied / 2) / static_cast<double>(sorted.size()));
  }
  return shares;
}

Moments difference_of(const std::vector<double>& a, const std::vector<double>& b) {
  Moments moments;
  for (std::size_t i = 0; i < a.size(); ++i) moments.add(a[i] - b[i]);
  return moments;
}

}  // namespace

Auroc auroc(std::span<const double> positive, std::span<const double> negative, double confidence) {
  if (positive.empty() || negative.empty()) return {};
  Moments up, down;
  std::vector<double> above(positive.begin(), positive.end()), below(negative.begin(), negative.end());
  std::sort(above.begin(), above.end());
  std::sort(below.begin(), below.end());
  for (const double share : shares_below(above, below)) up.add(share);
  for (const double share : shares_below(below, above)) down.add(1 - share);
  Auroc result{.value = up.mean()};
  const double error = std::hypot(up.standard_error(), down.standard_error());
  if (up.count() < 2 || down.count() < 2) return result;
  if (result.value <= 0 || result.value >= 1) {
    // No pair is out of order: as rare as the rule of three of the smaller group allows.
    const double rare = -std::log(1 - confidence) / static_cast<double>(std::min(up.count(), down.count()));
    result.interval =
        result.value > 0.5 ? Interval{std::max(0.0, 1 - rare), 1} : Interval{0, std::min(1.0, rare)};
    return result;
  }
  const double logit = std::log(result.value / (1 - result.value));
  const double half = normal_quantile(0.5 + confidence / 2) * error / (result.value * (1 - result.value));
  const auto back = [](double l) { return 1 / (1 + std::exp(-l)); };
  result.interval = {back(logit - half), back(logit + half)};
  return result;
}

AurocDifference auroc_difference(const PairedScores& s, double confidence) {
  if (s.positive_a.size() < 2 || s.negative_a.size() < 2) return {};
  const Moments up =
      difference_of(shares_below(s.positive_a, s.negative_a), shares_below(s.positive_b, s.negative_b));
  // Signs turned: the share of positives above is 1 minus the share below.
  const Moments down =
      difference_of(shares_below(s.negative_b, s.positive_b), shares_below(s.negative_a, s.positive_a));
  AurocDifference result{.value = up.mean()};
  const double error = std::hypot(up.standard_error(), down.standard_error());
  const double half =
      error > 0 ? normal_quantile(0.5 + confidence / 2) * error
                : -std::log(1 - confidence) / static_cast<double>(std::min(up.count(), down.count()));
  result.interval = {std::max(-1.0, result.value - half), std::min(1.0, result.value + half)};
  return result;
}

std::optional<Correlation> correlation(std::span<const double> a, std::span<const double> b,
                                       double confidence) {
  if (a.size() < 4) return std::nullopt;
  Moments of_a, of_b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    of_a.add(a[i]);
    of_b.add(b[i]);
  }
  const double spread_a = of_a.deviation(), spread_b = of_b.deviation();
  if (!(spread_a > 0) || !(spread_b > 0)) return std::nullopt;
  CompensatedSum sum;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum.add((a[i] - of_a.mean()) / spread_a * ((b[i] - of_b.mean()) / spread_b));
  const auto n = static_cast<double>(a.size());
  Correlation result{.value = std::clamp(sum.value() / (n - 1), -1.0, 1.0), .count = a.size()};
  // An exact line has no spread around it: what is left is taken for rounding.
  const double z = std::atanh(std::clamp(result.value, -1 + 1e-15, 1 - 1e-15));
  const double half = normal_quantile(0.5 + confidence / 2) / std::sqrt(n - 3);
  result.interval = {std::tanh(z - half), std::tanh(z + half)};
  return result;
}

namespace {

// Tango's score of a difference: how many standard errors the one seen lies above it, the errors taken where
// the probabilities are as likely as can be and differ by just so much. Falls as the difference grows.
double paired_score(double first, double second, double trials, double difference) {
  const double a = 2 * trials;
  const double b = -first - second + (2 * trials - first + second) * difference;
  const double c = -second * difference * (1 - difference);
  const double likely = (std::sqrt(std::max(0.0, b * b - 4 * a * c)) - b) / (2 * a);
  const double variance = trials * (2 * likely + difference * (1 - difference));
  const double above = first - second - trials * difference;
  if (variance <= 0) return above == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), above);
  return above / std::sqrt(variance);
}

// The difference in [low, high] whose score is z.
double paired_end(double first, double second, double trials, double z, double low, double high) {
  for (int i = 0; i < 100; ++i) {
    const double middle = low + (high - low) / 2;
    (paired_score(first, second, trials, middle) > z ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

ShareDifference share_difference(std::uint64_t first_alone, std::uint64_t second_alone, std::uint64_t trials,
                                 double confidence) {
  if (trials == 0) return {};
  const auto first = static_cast<double>(first_alone), second = static_cast<double>(second_alone);
  const auto n = static_cast<double>(trials);
  ShareDifference result;
  result.difference = (first - second) / n;
  const double z = normal_quantile(0.5 + confidence / 2);
  result.interval = {paired_end(first, second, n, z, -1, result.difference),
                     paired_end(first, second, n, -z, result.difference, 1)};
  if (first_alone + second_alone > 0) {
    const boost::math::binomial_distribution<> fair(first + second, 0.5);
    result.p_value = std::min(1.0, 2 * boost::math::cdf(fair, std::min(first, second)));
  }
  return result;
}

std::optional<Median> median(std::vector<double> values, double confidence) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  Median result{.value = (values[(n - 1) / 2] + values[n / 2]) / 2, .interval = {}};
  const boost::math::binomial_distribution<> fair(static_cast<double>(n), 0.5);
  // The k smallest values lie below the median with probability 1 − P(fewer than k do).
  std::size_t k = 0;
  while (k < n / 2 && boost::math::cdf(fair, static_cast<double>(k)) <= (1 - confidence) / 2) ++k;
  if (k > 0) result.interval = Interval{values[k - 1], values[n - k]};
  return result;
}

}  // namespace harmonia
