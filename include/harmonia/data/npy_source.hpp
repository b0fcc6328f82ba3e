#pragma once

#include <memory>
#include <string>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Reads a NumPy array file a block at a time: floats, integers and booleans of either byte order. One
/// dimension is one column; more than two are rows × all the rest, in C order only. Columns are named x0, x1,
/// …. Messages count rows and columns from 0.
std::unique_ptr<RowSource> open_npy(const std::string& path, const DataOptions& options);

}  // namespace harmonia
