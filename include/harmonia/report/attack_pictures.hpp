#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harmonia/search/attack.hpp"

namespace harmonia {

/// Values of an image as the bytes of a PNG file. Black and white are the bounds if both are given, else 0
/// and 255 if no value of the row lies outside and one is above 1, else the row's least and largest value.
std::string attack_png(const AttackRow& row, const AttackOptions& options, const std::vector<double>& values);

/// Steps of a row's path to look at, at most `count`, evenly, the one where the class changed among them.
/// None if the steps do not say what they changed.
std::vector<std::size_t> strip_steps(const AttackRow& row, std::size_t count);

/// The row, the image after some steps, and the last one side by side, each over the number of its class: the
/// bytes of a PNG file. [Kersting 2024, figure 6]
std::string strip_png(const AttackRow& row, const AttackOptions& options);

}  // namespace harmonia
