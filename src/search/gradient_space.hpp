#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "row_search.hpp"

namespace harmonia {

/// A row's features as attacks by gradients move them: freely, in units of their own, and brought back to a
/// row that is allowed. The row must outlive it.
class GradientSpace {
 public:
  /// `by_bounds`: the units are scales times the width of the bounds, where both are finite.
  GradientSpace(const SearchSetting& setting, const AttackRow& row, bool by_bounds);

  std::size_t size() const { return row_.original.size(); }
  /// What feature j is changed by when it moves by 1.
  double unit(std::size_t j) const { return width_ * moves_.scale(j); }
  /// Whether feature j moves at all: it is not fixed, and not missing.
  bool moves(std::size_t j) const { return !moves_.fixed(j) && !std::isnan(row_.original[j]); }
  /// How far feature j may move, in units: from a number of 0 or less to one of 0 or more.
  double least(std::size_t j) const { return (moves_.lower(j) - row_.original[j]) / unit(j); }
  double most(std::size_t j) const { return (moves_.upper(j) - row_.original[j]) / unit(j); }

  /// The gradient by units, 0 for features that do not move.
  std::vector<double> by_units(std::span<const double> gradient) const;
  /// Writes the row that is `change` units from the original. A whole feature is the whole number between,
  /// nearest to it, so that it never leaves a ball or the bounds.
  void place(std::span<const double> change, std::span<double> x) const;

 private:
  const Moves& moves_;
  const AttackRow& row_;
  double width_ = 1;
};

/// Enters a point of a class that is looked for, nearer than those before, asked in the search's call `step`.
void enter_nearer(const SearchSetting& setting, AttackRow& row, const Reading& reading,
                  std::span<const double> x, std::size_t step);
/// Ends a search that met no such point; the last one, after so many calls, was `x`.
void enter_none(AttackRow& row, const Reading& reading, std::span<const double> x, std::size_t steps);

}  // namespace harmonia
