#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/search/attack.hpp"

namespace harmonia {

/// How rows may be moved: a unit, which is a feature or all channels of a pixel, at a time, or all of them.
class Moves {
 public:
  /// Throws Error(usage) if the options do not fit rows of so many features.
  Moves(const AttackOptions& options, std::size_t inputs);

  std::size_t inputs() const { return inputs_; }
  /// Units that may be moved; their numbers are unit(0), unit(1), …
  std::size_t units() const { return moved_.empty() ? all_units_ : moved_.size(); }
  std::size_t unit(std::size_t i) const { return moved_.empty() ? i : moved_[i]; }
  /// One more than the largest number of a unit.
  std::size_t all_units() const { return all_units_; }
  /// Throws Error(input) if the row lies outside of the bounds.
  void check(std::span<const double> x, std::size_t number) const;

  /// Moves a unit of x by `radii` times the radius, within the bounds. False if nothing moved.
  bool move(std::span<double> x, std::size_t unit, double radii) const;
  /// The same, past the bounds: a point of a ball around x.
  void displace(std::span<double> x, std::size_t unit, double radii) const;
  /// Whether no feature of the unit has left its bounds.
  bool inside(std::span<const double> x, std::size_t unit) const;
  /// How much feature j is moved by on its own: `radii` times the radius in units of its scale. Of a whole
  /// feature that is a whole number and at least 1: otherwise a small radius would never move it.
  double step(std::size_t j, double radii) const;
  /// Feature j of a row, which was `from`, at `to` or the value nearest to it that is allowed.
  double settled(std::size_t j, double from, double to) const;
  bool whole(std::size_t j) const { return !schema_.empty() && schema_[j].integer; }
  bool fixed(std::size_t j) const { return !schema_.empty() && schema_[j].fixed; }
  /// What feature j stays between.
  double lower(std::size_t j) const;
  double upper(std::size_t j) const;
  double scale(std::size_t j) const { return schema_.empty() ? 1 : schema_[j].scale; }

  /// ‖b − a‖₂/√n and the largest |b − a|, in units of the scales. Missing values do not count.
  double distance(std::span<const double> a, std::span<const double> b) const;
  double largest(std::span<const double> a, std::span<const double> b) const;
  /// Units in which they differ.
  std::size_t changed(std::span<const double> a, std::span<const double> b) const;

 private:
  double radius_, lower_, upper_;
  const Schema& schema_;
  std::size_t inputs_, channels_, all_units_;
  std::vector<std::size_t> moved_;  // empty: all
};

/// Different numbers below a bound, drawn one after another until none is left.
class DifferentNumbers {
 public:
  DifferentNumbers(std::uint64_t seed, std::uint64_t row, std::uint64_t sample, std::size_t bound);
  std::optional<std::size_t> next();

 private:
  std::size_t at(std::size_t place) const;

  DrawKey key_;
  std::size_t bound_, drawn_ = 0;
  std::unordered_map<std::size_t, std::size_t> swapped_;  // places of the permutation that are not their own
};

/// The first `count` of them; all if `count` are more.
std::vector<std::size_t> draw_different(std::uint64_t seed, std::uint64_t row, std::uint64_t sample,
                                        std::size_t count, std::size_t bound);

}  // namespace harmonia
