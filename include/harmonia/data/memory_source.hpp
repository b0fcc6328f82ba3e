#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Rows that the caller has in memory and keeps there. Without names the features are x0, x1, …; ids and
/// labels, one a row, are carried to the result. Throws Error(usage) if there are no rows or if the names do
/// not fit them.
std::unique_ptr<RowSource> make_memory_source(MatrixView<const double> rows,
                                              std::vector<std::string> names = {},
                                              std::vector<std::string> ids = {},
                                              std::vector<std::string> labels = {});

}  // namespace harmonia
