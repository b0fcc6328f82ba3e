#include "bounded_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kPairs = 10;         // that the curvature is known from
constexpr double kEnough = 1e-4;           // share of the slope that a step must win
constexpr double kShortest = 0x1p-20;      // share of a step, below which there is none
constexpr double kLeastCurvature = 1e-10;  // of a pair, relative to its lengths
constexpr double kStill = 1e-9;            // decrease, relative to the value, that is none

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

void add(std::span<double> to, double times, std::span<const double> v) {
  for (std::size_t j = 0; j < to.size(); ++j) to[j] += times * v[j];
}

}  // namespace

BoundedDescent::BoundedDescent(std::vector<double> start, std::vector<double> lower,
                               std::vector<double> upper, double first_scale)
    : lower_(std::move(lower)),
      upper_(std::move(upper)),
      x_(std::move(start)),
      trial_(x_),
      first_scale_(first_scale) {}

void BoundedDescent::take(double value, std::span<const double> gradient) {
  if (!begun_) {
    begun_ = true;
    value_ = value;
    gradient_.assign(gradient.begin(), gradient.end());
    return aim();
  }
  double slope = 0;
  for (std::size_t j = 0; j < x_.size(); ++j) slope += gradient_[j] * (trial_[j] - x_[j]);
  if (value <= value_ + kEnough * slope) return accept(value, gradient);
  length_ /= 2;
  if (length_ < kShortest) {
    done_ = true;
  } else {
    try_length();
  }
}

void BoundedDescent::accept(double value, std::span<const double> gradient) {
  Pair pair{trial_, {gradient.begin(), gradient.end()}};
  add(pair.moved, -1, x_);
  add(pair.turned, -1, gradient_);
  pair.product = dot(pair.moved, pair.turned);
  if (pair.product > kLeastCurvature * std::sqrt(dot(pair.moved, pair.moved) * dot(pair.turned, pair.turned)))
    pairs_.push_back(std::move(pair));
  if (pairs_.size() > kPairs) pairs_.pop_front();
  const bool still = value_ - value <= kStill * std::abs(value_);
  x_ = trial_;
  value_ = value;
  gradient_.assign(gradient.begin(), gradient.end());
  if (still) {
    done_ = true;
  } else {
    aim();
  }
}

// A direction down among the features that are not held by a bound.
void BoundedDescent::aim() {
  std::vector<double> free = gradient_;
  for (std::size_t j = 0; j < free.size(); ++j) {
    if ((x_[j] <= lower_[j] && free[j] > 0) || (x_[j] >= upper_[j] && free[j] < 0)) free[j] = 0;
  }
  if (dot(free, free) == 0) {
    done_ = true;
    return;
  }
  direction_ = quasi_newton(free);
  for (std::size_t j = 0; j < free.size(); ++j) {
    if (free[j] == 0) direction_[j] = 0;
  }
  if (!(dot(direction_, free) < 0)) {
    pairs_.clear();
    direction_ = quasi_newton(free);
  }
  length_ = 1;
  try_length();
}

void BoundedDescent::try_length() {
  for (std::size_t j = 0; j < x_.size(); ++j)
    trial_[j] = std::clamp(x_[j] + length_ * direction_[j], lower_[j], upper_[j]);
}

// Less the inverse curvature times the gradient, by the two loops over the pairs.
std::vector<double> BoundedDescent::quasi_newton(std::vector<double> gradient) const {
  std::vector<double> shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = dot(pairs_[i].moved, gradient) / pairs_[i].product;
    add(gradient, -shares[i], pairs_[i].turned);
  }
  const double scale =
      pairs_.empty() ? first_scale_ : pairs_.back().product / dot(pairs_.back().turned, pairs_.back().turned);
  for (double& value : gradient) value *= scale;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double back = dot(pairs_[i].turned, gradient) / pairs_[i].product;
    add(gradient, shares[i] - back, pairs_[i].moved);
  }
  for (double& value : gradient) value = -value;
  return gradient;
}

}  // namespace harmonia
