#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/data/schema.hpp"

namespace harmonia {

/// Spread of one column; missing values are left out.
struct ColumnSpread {
  std::size_t count = 0;
  double mean = 0, variance = 0;  ///< the latter unbiased; 0 for fewer than two numbers
  double least = 0, largest = 0;
  double deviation() const { return std::sqrt(variance); }
};

/// No limit on the rows to read.
constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();

/// Reads rows from the first on (and rewinds) for the spread of every column.
std::vector<ColumnSpread> column_spreads(RowSource& data, std::size_t most_rows);

/// Sets the scale of every feature that has none of its own to its standard deviation ("std") or range
/// ("range"); "none" leaves it. A feature without spread keeps scale 1. Throws Error(usage) for another word.
void scale_features(Schema& schema, const std::string& scale, RowSource& data);

/// A tenth of the median distance of a row to its nearest other row, in units of the features' scales, over
/// up to 512 rows drawn by the seed; fixed features and rows at the same place are left out. Throws
/// Error(input) if there is no such distance.
double automatic_radius(const Schema& schema, RowSource& data, std::uint64_t seed);

/// The size that noise around the rows is measured against: the root mean square of the columns' standard
/// deviations in units of the features' scales, fixed features left out. 1 if there is no spread.
double noise_scale(const Schema& schema, RowSource& data);

/// A sentence for data whose features spread more than ten times as far as one another: one radius for all of
/// them probes only the narrow ones. None for data of few rows, which say too little.
std::optional<std::string> scale_warning(RowSource& data);

}  // namespace harmonia
