#pragma once

#include <memory>
#include <string>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Reads a CSV file a block at a time, so that its size does not matter. The first record is a header if it
/// holds a column that the options name, or if one of the features in it is neither a number nor missing.
/// Missing values are empty fields, nan and NA; blank lines are skipped. Messages count lines from 1 and
/// columns from 0.
std::unique_ptr<RowSource> open_csv(const std::string& path, const DataOptions& options);

}  // namespace harmonia
