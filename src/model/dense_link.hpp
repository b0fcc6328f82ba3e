#pragma once

#include <span>

#include "harmonia/core/rows.hpp"
#include "harmonia/model/dense_network.hpp"

namespace harmonia {

/// Makes of a last layer's sums at a row (centre) the network's outputs there, and of differences of these
/// sums (points × outputs) differences of outputs, without subtracting what is alike.
void link_differences(DenseLink link, std::span<double> centre, MutableRowsView differences);

}  // namespace harmonia
