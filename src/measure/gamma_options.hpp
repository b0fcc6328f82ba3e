#pragma once

#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// Throws Error(usage) or Error(input) for options that cannot be, or not with this model and data.
void check_options(const GammaOptions& options, const ModelInfo& model, std::size_t inputs);

}  // namespace harmonia
