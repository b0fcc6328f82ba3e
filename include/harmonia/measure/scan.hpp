#pragma once

#include <string>
#include <vector>

namespace harmonia {

/// Reads 0.01..0.5x20 (evenly spaced), log:0.001..1x20 (evenly in the logarithm), numbers, and lists of these
/// with commas. Ascending, each once. Throws Error(usage) unless all are above 0 and finite.
std::vector<double> parse_radii(const std::string& text);

/// The same for the sizes of noise.
std::vector<double> parse_sigmas(const std::string& text);

}  // namespace harmonia
