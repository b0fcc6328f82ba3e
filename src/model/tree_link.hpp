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
  /// sums: margin k at sums[k × stride]. `margins` is room for as many numbers.
  void answer(const std::int64_t* sums, std::size_t stride, std::span<double> margins,
              std::span<double> out) const {
    const bool plain = link.kind == TreeLink::Kind::identity && !link.complement;
    const std::span<double> to = plain ? out : margins;
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] = base[k] + factor * (static_cast<double>(sums[k * stride]) * unit[k]);
    if (!plain) apply_link(link, margins, out);
  }
};

}  // namespace harmonia
