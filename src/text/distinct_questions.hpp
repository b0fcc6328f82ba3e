#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harmonia/text/chat.hpp"

namespace harmonia {

/// Every question of a list once, in the order in which they come first.
struct DistinctQuestions {
  explicit DistinctQuestions(std::span<const ChatQuestion> all) {
    std::map<std::pair<std::string_view, std::size_t>, std::size_t> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [same, is_new] = known.try_emplace({all[i].text, all[i].repeat}, questions.size());
      if (is_new) {
        questions.push_back(all[i]);
        places.emplace_back();
      }
      places[same->second].push_back(i);
    }
  }

  /// Gives the answer to every place of question `number`; calls and tokens to the first one.
  void give(std::size_t number, ChatAnswer answer,
            const std::function<void(std::size_t, ChatAnswer)>& taken) const {
    for (const std::size_t place : places[number]) {
      taken(place, answer);
      answer.calls = answer.tokens = 0;
    }
  }

  std::vector<ChatQuestion> questions;
  std::vector<std::vector<std::size_t>> places;  ///< of every question, in the list
};

}  // namespace harmonia
