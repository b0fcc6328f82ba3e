#include "harmonia/core/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace harmonia {

double student_t_quantile(double p, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), p);
}

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

Interval magnitude_interval(double mean, double half_width) {
  const double low = std::abs(mean) - half_width;
  return {std::max(0.0, low), std::abs(mean) + half_width};
}

void CompensatedSum::add(double term) {
  const double sum = sum_ + term;
  lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
  sum_ = sum;
}

void Moments::add(double value) {
  ++count_;
  const double step = value - mean_;
  mean_ += step / static_cast<double>(count_);
  squares_ += step * (value - mean_);
}

double Moments::variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1); }

double Moments::deviation() const { return std::sqrt(variance()); }

double Moments::standard_error() const {
  return count_ < 2 ? 0 : std::sqrt(variance() / static_cast<double>(count_));
}

}  // namespace harmonia
