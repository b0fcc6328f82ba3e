#pragma once

#include <cstddef>
#include <span>

#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia {

/// Columns that a link makes of this many margins.
std::size_t link_outputs(const TreeLink& link, std::size_t margins);

/// What predict returns for one row's margins. out: link_outputs() numbers; may be the margins themselves.
void apply_link(const TreeLink& link, std::span<const double> margins, std::span<double> out);

}  // namespace harmonia
