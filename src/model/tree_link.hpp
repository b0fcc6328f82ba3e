#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia {

/// Columns that a link makes of this many margins.
std::size_t link_outputs(const TreeLink& link, std::size_t margins);

/// What predict returns for one row's margins. out: link_outputs() numbers; may be the margins themselves.
void apply_link(const TreeLink& link, std::span<const double> margins, std::span<double> out);

/// From sums of leaves in fixed point to what a model answers.
struct TreeAnswers {
  std::vector<double> base;  ///< of each margin
  std::vector<double> unit;  ///< of each margin: what 1 in the sum stands for
  double factor = 1;
  TreeLink link;

  std::size_t margins() const { return base.size(); }
  /// Of `rows` sums after each other: margin k of row i at sums[i × next + k × stride]. `room` is for what
  /// comes between.
  void answer(const std::int64_t* sums, std::size_t stride, std::size_t next, std::size_t rows,
              std::vector<double>& room, std::span<double> out) const;
};

}  // namespace harmonia
