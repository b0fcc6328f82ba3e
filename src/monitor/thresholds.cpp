#include "thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr int kMostDigits = 17;
constexpr std::size_t kSlack = 8;  // a cut is this share of a part off its place, to be short

}  // namespace

double short_between(double a, double b) {
  using Limits = std::numeric_limits<double>;
  const double low = std::max(a, Limits::lowest()), high = std::min(b, Limits::max());
  const double middle = low / 2 + high / 2;
  for (int digits = 1; digits <= kMostDigits; ++digits) {
    for (const double wanted : {middle, low}) {
      const double rounded = read_number(fmt::format("{:.{}g}", wanted, digits)).value_or(wanted);
      if (low <= rounded && rounded < high) return rounded;
    }
  }
  return low;
}

std::vector<double> equal_cuts(std::vector<double> values, std::size_t parts) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  std::vector<double> cuts;
  if (values.empty()) return cuts;
  std::vector<std::size_t> steps;  // places where a value is larger than the one before
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1] < values[i]) steps.push_back(i);
  }
  const auto cut_at = [&](std::size_t place, std::size_t slack) {
    double low = values[place > slack ? place - 1 - slack : 0];
    double high = values[std::min(place + slack, values.size() - 1)];
    // Where one value is often, what is beside it is told apart from it.
    if (low == values[place - 1] || high == values[place]) {
      low = values[place - 1];
      high = values[place];
    }
    const double cut = short_between(low, high);
    if (cuts.empty() || cuts.back() < cut) cuts.push_back(cut);
  };
  if (steps.size() < parts) {
    for (const std::size_t place : steps) cut_at(place, 0);
    return cuts;
  }
  const std::size_t slack = values.size() / parts / kSlack;
  for (std::size_t k = 1; k < parts; ++k) {
    const std::size_t wanted = k * values.size() / parts;
    const auto after = std::lower_bound(steps.begin(), steps.end(), wanted);
    const bool before =
        after == steps.end() || (after != steps.begin() && wanted - after[-1] < *after - wanted);
    cut_at(before ? after[-1] : *after, slack);
  }
  return cuts;
}

}  // namespace harmonia
