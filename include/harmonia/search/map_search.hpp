#pragma once

#include "harmonia/measure/map_rows.hpp"
#include "harmonia/search/attack.hpp"

namespace harmonia {

/// Measures every row of the data (see map_rows), then searches around those that have a gamma (see attack),
/// which is entered in the rows. Evaluations that are limited are shared out so that as many rows as possible
/// have both; no search is made around a row that has no gamma. The data is read three times and rewound.
MapRows measure_and_search(const Model& model, RowSource& data, const GammaOptions& options,
                           const AttackOptions& search, Run& run);

}  // namespace harmonia
