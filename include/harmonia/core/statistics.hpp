#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace harmonia {

/// Two ends of a confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Whether intervals can be had at the confidence: it is above 0, and what it leaves can still be shared
/// among some thousand intervals before a level rounds to 1.
constexpr double kLeastDoubt = 1e-12;
bool is_confidence(double confidence);
/// Throws Error(usage) if not.
void check_confidence(double confidence);

/// The p-quantile of Student's t distribution with `freedom` degrees of freedom, freedom >= 1.
double student_t_quantile(double p, double freedom);

/// The p-quantile of the standard normal distribution, and its inverse.
double normal_quantile(double p);
double normal_cdf(double z);

/// Where a probability lies of which `successes` of `trials` were seen, by Wilson's score: short, and covers
/// with about the confidence asked.
Interval wilson_interval(std::uint64_t successes, std::uint64_t trials, double confidence);

/// The fewest trials after which Wilson's interval is never wider than this to either side of its middle; the
/// largest number there is if they are more.
std::uint64_t wilson_trials(double half_width, double confidence);

/// The same by Clopper and Pearson: covers with the confidence asked at least.
Interval clopper_pearson_interval(std::uint64_t successes, std::uint64_t trials, double confidence);

/// The one-sided lower bound of Clopper and Pearson: the probability lies above with the confidence asked.
double clopper_pearson_low(std::uint64_t successes, std::uint64_t trials, double confidence);

/// What `successes` of `trials` say about a probability p against a level.
enum class Side { above, below, unsure };
/// Above or below only if so many successes, or more extreme ones, come with probability <= error / 2 where p
/// is the level.
Side side_of(std::uint64_t successes, std::uint64_t trials, double level, double error);

/// Where |value| lies if value lies in the interval: an interval over zero is folded.
Interval magnitude(const Interval& interval);

/// A sum that loses nothing to its order of magnitude [Neumaier 1974]. Terms are added in the order given.
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// Mean, spread and skewness of numbers that come one at a time [Welford 1962, Pébay 2008], in the order
/// given.
class Moments {
 public:
  void add(double value) {
    ++count_;
    const auto n = static_cast<double>(count_);
    const double step = value - mean_, share = step / n;
    const double square = step * share * (n - 1);
    mean_ += share;
    cubes_ += square * share * (n - 2) - 3 * share * squares_;
    squares_ += square;
  }
  /// The same number so many times.
  void add(double value, std::size_t times) {
    if (times == 0) return;
    const auto before = static_cast<double>(count_), more = static_cast<double>(times), n = before + more;
    const double step = value - mean_, share = step * more / n;
    const double square = step * share * before;
    mean_ += share;
    cubes_ += square * step * (before - more) / n - 3 * share * squares_;
    squares_ += square;
    count_ += times;
  }
  std::size_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Unbiased; 0 for fewer than two numbers.
  double variance() const;
  double deviation() const;
  /// Standard error of the mean; 0 for fewer than two numbers.
  double standard_error() const;
  /// Of the population, by the usual estimate (Fisher's, adjusted for the sample's size); 0 for fewer than
  /// three numbers.
  double skewness() const;

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0, cubes_ = 0;
};

/// Where the mean of the population lies, from a sample's moments: Student's t with Hall's correction for
/// skewness [Hall 1992], without which skewed values are covered too rarely. `t` is the two-sided quantile
/// for the sample's degrees of freedom; `correction` shrinks both sides, as for a sample that is a large part
/// of its population. Covers with the probability that t stands for, up to O(1/n).
Interval mean_interval(const Moments& sample, double t, double correction = 1);

/// How well a score tells two groups apart: the probability that one of `positive` is above one of
/// `negative`, ties counted half, with an interval [DeLong 1988, on the logit]. Infinite scores are ranked.
struct Auroc {
  double value = 0.5;
  Interval interval{0, 1};
};
Auroc auroc(std::span<const double> positive, std::span<const double> negative, double confidence);

/// Two scores of the same things: entry i of both lists of a group is about the same one.
struct PairedScores {
  std::span<const double> positive_a, positive_b, negative_a, negative_b;
};

/// AUROC of a minus that of b, with an interval for scores of the same things [DeLong 1988], which is of the
/// normal distribution. Where no pair of things tells the scores apart, or so few that they have no spread,
/// the interval is as wide as the rule of three of the smaller group allows. Lists of fewer than two: [-1,
/// 1].
struct AurocDifference {
  double value = 0;
  Interval interval{-1, 1};
};
AurocDifference auroc_difference(const PairedScores& scores, double confidence);

/// Pearson's correlation of two lists of equal length, with Fisher's interval, which is right for values that
/// are normal and about right for others if there are many.
struct Correlation {
  double value = 0;
  Interval interval{-1, 1};
  std::size_t count = 0;
};
/// None for fewer than four values, or if either list is constant.
std::optional<Correlation> correlation(std::span<const double> a, std::span<const double> b,
                                       double confidence);

/// Two probabilities of which the same trials tell: how far the first is above the second.
struct ShareDifference {
  double difference = 0;
  Interval interval{-1, 1};  ///< by Tango's score [Tango 1998]: covers with about the confidence asked
  double p_value = 1;        ///< of equal probabilities: McNemar's exact test, two-sided
};
/// Of `trials`, so many were successes of the first alone, and of the second alone.
ShareDifference share_difference(std::uint64_t first_alone, std::uint64_t second_alone, std::uint64_t trials,
                                 double confidence);

/// The middle of values, of an even number the mean of the middle two.
struct Median {
  double value = 0;
  /// By ranks: with probability >= confidence the population's median is inside. None if so few values can
  /// not be so sure.
  std::optional<Interval> interval;
};
/// None without values.
std::optional<Median> median(std::vector<double> values, double confidence);

}  // namespace harmonia
