#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harmonia/text/embedder.hpp"

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

  /// found: of the distinct texts. Those of the list, so that the same text has the same bits.
  Embeddings spread(const Embeddings& found) const {
    const std::size_t columns = found.rows.columns();
    Embeddings all{Matrix<float>(place_of.size(), columns), {}};
    for (std::size_t i = 0; i < place_of.size(); ++i) {
      std::copy_n(found.rows.row(place_of[i]), columns, all.rows.row(i));
      if (const auto why = found.missing.find(place_of[i]); why != found.missing.end())
        all.missing.emplace(i, why->second);
    }
    return all;
  }

  std::vector<std::string> texts;
  std::vector<std::size_t> place_of;  ///< of every text of the list, in `texts`
};

}  // namespace harmonia
