#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/model/point_asker.hpp"

namespace harmonia {

/// The class at each of `count` points. Throws Error(model) if the model gives none.
std::vector<long long> ask_classes(PointAsker& asker, std::size_t count, const PointAsker::Write& write);

/// How a model answered points that it was asked a second time.
struct AskedTwice {
  std::uint64_t asked = 0;     ///< points
  std::uint64_t differed = 0;  ///< … that got another class the second time
};

}  // namespace harmonia
