#include "moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harmonia/core/error.hpp"

namespace harmonia {

Moves::Moves(const AttackOptions& options, std::size_t inputs)
    : radius_(options.radius),
      lower_(options.lower),
      upper_(options.upper),
      schema_(options.schema),
      inputs_(inputs),
      channels_(std::max<std::size_t>(1, options.image.channels)),
      all_units_(inputs / channels_) {
  if (options.image.channels > 0 && options.image.channels != 1 && options.image.channels != 3) {
    throw Error(ErrorCode::usage, fmt::format("an image of {} channels; expected 1 (grey) or 3 (colours)",
                                              options.image.channels));
  }
  if (options.image.channels > 0 && options.image.values() != inputs) {
    throw Error(ErrorCode::usage,
                fmt::format("an image of {}x{}x{} has {} values; rows have {} features", options.image.height,
                            options.image.width, options.image.channels, options.image.values(), inputs));
  }
  if (std::none_of(schema_.begin(), schema_.end(), [](const Feature& f) { return f.fixed; })) return;
  for (std::size_t u = 0; u < all_units_; ++u) {
    const auto first = schema_.begin() + static_cast<std::ptrdiff_t>(u * channels_);
    if (std::any_of(first, first + static_cast<std::ptrdiff_t>(channels_),
                    [](const Feature& f) { return !f.fixed; }))
      moved_.push_back(u);
  }
  if (moved_.empty()) throw Error(ErrorCode::usage, "the schema fixes every feature; nothing can be moved");
}

double Moves::lower(std::size_t j) const {
  return schema_.empty() ? lower_ : std::max(lower_, schema_[j].lower);
}

double Moves::upper(std::size_t j) const {
  return schema_.empty() ? upper_ : std::min(upper_, schema_[j].upper);
}

void Moves::check(std::span<const double> x, std::size_t number) const {
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (x[j] < lower(j) || x[j] > upper(j)) {
      throw Error(ErrorCode::input,
                  fmt::format("row {}, column {} is {}; expected a value within the bounds, {} to {}", number,
                              j, x[j], lower(j), upper(j)));
    }
  }
}

double Moves::step(std::size_t j, double radii) const {
  const double by = radii * radius_ * scale(j);
  if (!whole(j)) return by;
  return std::abs(by) < 1 ? std::copysign(1.0, by) : std::round(by);
}

double Moves::settled(std::size_t j, double from, double to) const {
  if (fixed(j) || std::isnan(from)) return from;
  if (!whole(j)) return std::clamp(to, std::min(from, lower(j)), std::max(from, upper(j)));
  // The outermost whole numbers within the bounds, which need not be whole themselves.
  const double least = std::ceil(lower(j)), most = std::floor(upper(j));
  return std::clamp(std::round(to), std::min(from, least), std::max(from, most));
}

bool Moves::move(std::span<double> x, std::size_t unit, double radii) const {
  bool moved = false;
  for (std::size_t j = unit * channels_; j < (unit + 1) * channels_; ++j) {
    const double to = settled(j, x[j], x[j] + step(j, radii));
    moved |= !std::isnan(to) && to != x[j];
    x[j] = to;
  }
  return moved;
}

void Moves::displace(std::span<double> x, std::size_t unit, double radii) const {
  for (std::size_t j = unit * channels_; j < (unit + 1) * channels_; ++j) {
    if (!fixed(j)) x[j] += step(j, radii);
  }
}

bool Moves::inside(std::span<const double> x, std::size_t unit) const {
  for (std::size_t j = unit * channels_; j < (unit + 1) * channels_; ++j) {
    if (x[j] < lower(j) || x[j] > upper(j)) return false;
    if (whole(j) && x[j] != std::round(x[j])) return false;
  }
  return true;
}

double Moves::distance(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const double by = (b[j] - a[j]) / scale(j);
    if (by != 0 && !std::isnan(by)) sum += by * by;
  }
  return std::sqrt(sum / static_cast<double>(inputs_));
}

double Moves::largest(std::span<const double> a, std::span<const double> b) const {
  double most = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const double by = std::abs(b[j] - a[j]) / scale(j);
    if (by > most) most = by;
  }
  return most;
}

std::size_t Moves::changed(std::span<const double> a, std::span<const double> b) const {
  std::size_t count = 0;
  for (std::size_t u = 0; u < all_units_; ++u) {
    bool differs = false;
    for (std::size_t j = u * channels_; j < (u + 1) * channels_; ++j) differs |= std::abs(b[j] - a[j]) > 0;
    count += differs ? 1 : 0;
  }
  return count;
}

DifferentNumbers::DifferentNumbers(std::uint64_t seed, std::uint64_t row, std::uint64_t sample,
                                   std::size_t bound)
    : key_{.seed = seed, .stream = Stream::search, .row = row, .sample = sample}, bound_(bound) {}

std::size_t DifferentNumbers::at(std::size_t place) const {
  const auto found = swapped_.find(place);
  return found == swapped_.end() ? place : found->second;
}

// A permutation by Fisher and Yates, as far as it is asked for; only places that were swapped are held.
std::optional<std::size_t> DifferentNumbers::next() {
  if (drawn_ == bound_) return std::nullopt;
  const std::size_t left = bound_ - drawn_;
  const auto share = static_cast<std::size_t>(draw_uniform(key_, drawn_) * static_cast<double>(left));
  const std::size_t place = drawn_ + std::min(left - 1, share);
  const std::size_t number = at(place);
  swapped_[place] = at(drawn_++);
  return number;
}

std::vector<std::size_t> draw_different(std::uint64_t seed, std::uint64_t row, std::uint64_t sample,
                                        std::size_t count, std::size_t bound) {
  DifferentNumbers numbers(seed, row, sample, bound);
  std::vector<std::size_t> drawn(std::min(count, bound));
  for (std::size_t& number : drawn) number = *numbers.next();
  return drawn;
}

}  // namespace harmonia
