#include "harmonia/core/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace harmonia {

double student_t_quantile(double p, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), p);
}

Interval magnitude(const Interval& interval) {
  const double a = std::abs(interval.low), b = std::abs(interval.high);
  const bool over_zero = interval.low <= 0 && interval.high >= 0;
  return {over_zero ? 0 : std::min(a, b), std::max(a, b)};
}

void CompensatedSum::add(double term) {
  const double sum = sum_ + term;
  lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
  sum_ = sum;
}

void Moments::add(double value) {
  ++count_;
  const auto n = static_cast<double>(count_);
  const double step = value - mean_, share = step / n;
  const double square = step * share * (n - 1);
  mean_ += share;
  cubes_ += square * share * (n - 2) - 3 * share * squares_;
  squares_ += square;
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

}  // namespace harmonia
