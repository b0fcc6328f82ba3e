#pragma once

#include "harmonia/search/attack.hpp"

namespace harmonia {

/// Throws Error for options of a method that uses gradients which cannot be, or if the model has none.
void check_gradient_options(const AttackOptions& options, const Model& model);

}  // namespace harmonia
