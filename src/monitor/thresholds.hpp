#pragma once

#include <cstddef>
#include <vector>

namespace harmonia {

/// A number of few digits in [a, b), for a < b; finite.
double short_between(double a, double b);

/// At most parts − 1 numbers, ascending, that cut the values (NaN left out) into about equally full parts: a
/// part is what is above one and up to the next. Equal values are in one part, so there may be fewer.
std::vector<double> equal_cuts(std::vector<double> values, std::size_t parts);

}  // namespace harmonia
