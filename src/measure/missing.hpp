#pragma once

#include <cstdint>
#include <span>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// Throws Error(input) if a value of the row is missing and the model takes none.
void check_missing(const ModelInfo& model, std::span<const double> x, std::uint64_t number);

}  // namespace harmonia
