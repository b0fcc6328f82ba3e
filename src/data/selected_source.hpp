#pragma once

#include <memory>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// The rows of `source` that are in options.window and in all of options.regions, under their own numbers.
/// Reading throws Error(input) if there is none.
std::unique_ptr<RowSource> select_rows(std::unique_ptr<RowSource> source, const DataOptions& options);

}  // namespace harmonia
