#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harmonia/model/point_asker.hpp"

namespace harmonia {

/// The class at each of `count` points. Throws Error(model) if the model gives none.
std::vector<long long> ask_classes(PointAsker& asker, std::size_t count, const PointAsker::Write& write);

}  // namespace harmonia
