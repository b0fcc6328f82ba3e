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

/// The p-quantile of the standard normal distribution.
double normal_quantile(double p);

/// With probability >= confidence |mean| lies in the result, if [mean ± half_width] covers with that
/// probability: an interval over zero is folded.
Interval magnitude_interval(double mean, double half_width);

/// A sum that loses nothing to its order of magnitude [Neumaier 1974]. Terms are added in the order given.
class CompensatedSum {
 public:
  void add(double term);
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// Mean and spread of numbers that come one at a time [Welford 1962], in the order given.
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

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace harmonia
