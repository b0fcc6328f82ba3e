#pragma once

#include <cstddef>

namespace harmonia {

/// Two ends of a confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The p-quantile of Student's t distribution with `freedom` degrees of freedom, freedom >= 1.
double student_t_quantile(double p, double freedom);

/// Where |value| lies if value lies in the interval: an interval over zero is folded.
Interval magnitude(const Interval& interval);

/// A sum that loses nothing to its order of magnitude [Neumaier 1974]. Terms are added in the order given.
class CompensatedSum {
 public:
  void add(double term);
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// Mean, spread and skewness of numbers that come one at a time [Welford 1962, Pébay 2008], in the order
/// given.
class Moments {
 public:
  void add(double value);
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

}  // namespace harmonia
