#pragma once

#include <memory>
#include <string>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// grid:LOW..HIGHxCOUNT,…: every point of a regular grid, the last axis fastest. An axis has COUNT values
/// from LOW to HIGH, both included; a COUNT of 1 gives LOW. With options.jitter every point is moved
/// uniformly within its cell, by the seed: COUNT equal cells tile the axis, so that the rows' mean is an
/// unbiased estimate of the box's average.
std::unique_ptr<RowSource> open_grid(const std::string& spec, const DataOptions& options);

/// uniform:COUNT: rows of the unit cube of options.inputs dimensions (2 unless told). Row i depends on
/// nothing but the seed, so that fewer rows or features are a part of more.
std::unique_ptr<RowSource> open_uniform(const std::string& spec, const DataOptions& options);

}  // namespace harmonia
