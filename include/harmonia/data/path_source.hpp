#pragma once

#include <cstddef>
#include <memory>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// The straight path between two data sets of one row each: row i is (1 − t)·a + t·b with t = i / steps, from
/// a to b, both included. Throws Error(usage) if there are no steps, Error(input) if either has more rows
/// than one or they differ in their width.
std::unique_ptr<RowSource> make_path_source(RowSource& a, RowSource& b, std::size_t steps);

}  // namespace harmonia
