#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/stability.hpp"

namespace harmonia {
namespace {

void check_share(const char* name, double value) {
  if (value > 0 && value < 1) return;
  throw Error(ErrorCode::usage, fmt::format("{} is {}; expected between 0 and 1", name, value));
}

// Samples that settle it however they fall: those that do not decide leave an interval within the margin.
bool settles(std::uint64_t samples, double gamma, double margin, double error) {
  // Undecided are the successes from `low` to `high`, around gamma; the interval is widest nearest to half.
  const auto undecided = [&](std::uint64_t k) { return side_of(k, samples, gamma, error) == Side::unsure; };
  const auto middle = static_cast<std::uint64_t>(gamma * static_cast<double>(samples));
  const std::uint64_t half = samples / 2;
  std::uint64_t inside = middle, outside = half;
  if (undecided(half)) {
    inside = half;
  } else if (undecided(middle)) {
    while (std::max(inside, outside) - std::min(inside, outside) > 1) {
      const std::uint64_t between =
          std::min(inside, outside) + (std::max(inside, outside) - std::min(inside, outside)) / 2;
      (undecided(between) ? inside : outside) = between;
    }
  }
  const Interval widest = clopper_pearson_interval(inside, samples, 1 - error);
  return widest.high - widest.low <= 2 * margin;
}

std::uint64_t fewest_that_decide(double gamma, double error) {
  // All samples of the class, or none, have this probability at the level itself.
  const double rarer = std::min(gamma, 1 - gamma);
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(std::log(error / 2) / std::log(rarer))));
}

std::uint64_t samples_that_settle(double gamma, double margin, double error) {
  std::uint64_t enough = 1;
  while (!settles(enough, gamma, margin, error)) {
    enough *= 2;
    if (enough > kMostNoiseSamples) {
      throw Error(ErrorCode::usage,
                  fmt::format("margin {} needs more than {} samples a row; expected a wider one", margin,
                              kMostNoiseSamples));
    }
  }
  std::uint64_t few = enough / 2;
  while (enough - few > 1) {
    const std::uint64_t between = few + (enough - few) / 2;
    (settles(between, gamma, margin, error) ? enough : few) = between;
  }
  return enough;
}

}  // namespace

StabilityLooks stability_looks(double gamma, double margin, double confidence) {
  check_share("gamma", gamma);
  check_share("margin", margin);
  check_confidence(confidence);
  // More looks make each stricter, which takes more samples, which may take a further look.
  for (std::size_t looks = 1;; ++looks) {
    const double error = (1 - confidence) / static_cast<double>(looks);
    StabilityLooks plan{fewest_that_decide(gamma, error), samples_that_settle(gamma, margin, error), looks};
    plan.first = std::min(plan.first, plan.most);
    if (std::ldexp(static_cast<double>(plan.first), static_cast<int>(looks) - 1) >=
        static_cast<double>(plan.most))
      return plan;
  }
}

}  // namespace harmonia
