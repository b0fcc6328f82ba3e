#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Every text of a list once, in the order in which they come first.
struct DistinctTexts {
  explicit DistinctTexts(std::span<const std::string> all) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (const std::string& text : all) {
      const auto [place, fresh] = places.try_emplace(text, texts.size());
      if (fresh) texts.push_back(text);
      place_of.push_back(place->second);
    }
  }

  /// rows: one a distinct text. One a text of the list, so that the same text has the same bits.
  Matrix<float> spread(const Matrix<float>& rows) const {
    Matrix<float> result(place_of.size(), rows.columns());
    for (std::size_t i = 0; i < place_of.size(); ++i)
      std::copy_n(rows.row(place_of[i]), rows.columns(), result.row(i));
    return result;
  }

  std::vector<std::string> texts;
  std::vector<std::size_t> place_of;  ///< of every text of the list, in `texts`
};

}  // namespace harmonia
