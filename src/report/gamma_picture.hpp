#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace harmonia {

/// What a number that is not there is drawn as.
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// What one model says of the rows; NaN where it says nothing. All are as long as there are rows.
struct DrawnModel {
  std::string name;
  std::vector<double> decided_class, gamma, value;
};

/// Rows of one or two features and what models say of them.
struct DrawnRows {
  std::vector<double> x, y;  ///< y is empty if there is one feature
  std::vector<DrawnModel> models;
};

/// The rows as the page draws them: a regular grid as one (`grid`), scattered rows as they are (`scatter`,
/// "dense" if they fill their box evenly), rows of one feature in its order (`line`). More than the page can
/// draw at once are averaged over cells, and "cell" or "binned" says so; numbers are rounded to six digits.
/// Null if there is nothing to draw.
nlohmann::ordered_json picture_json(const DrawnRows& rows);

/// How gammas are spread: how many are zero (or rounding, `values` giving the output's size), and counts in
/// bins of equal width, in gamma and in its logarithm.
nlohmann::ordered_json histogram_json(const std::vector<double>& gammas, const std::vector<double>& values);

}  // namespace harmonia
