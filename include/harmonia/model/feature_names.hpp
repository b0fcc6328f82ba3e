#pragma once

#include "harmonia/data/row_source.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// Throws Error(input) if model and data name their columns and the names are not the same in the same order.
/// The message names --columns, with which a user says which column is which. Names that were made up (x0,
/// f0, Column_0, 0 and so on in order) are none; what LightGBM writes as '_' may be a blank.
void check_features(const ModelInfo& model, const DataInfo& data);

}  // namespace harmonia
