#include "harmonia/core/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace harmonia {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kMarks = "_-.,/:=+@%";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kMarks.find(c) != std::string_view::npos;
}

// Letters to insert, leave out or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> costs(b.size() + 1);
  std::iota(costs.begin(), costs.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = costs[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = costs[j + 1];
      costs[j + 1] = std::min({replaced, diagonal + 1, costs[j] + 1});
    }
  }
  return costs.back();
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\'";  // ends the quotes, and begins them anew behind
    out += c;
  }
  return out + "'";
}

std::string shell_list(std::span<const std::string> names) {
  return shell_word(fmt::format("{}", fmt::join(names, ",")));
}

std::string nearest_name(std::string_view text, std::span<const std::string> names) {
  std::string nearest;
  std::size_t least = 1 + std::max<std::size_t>(1, text.size() / 3);
  for (const std::string& name : names) {
    const bool abbreviated = text.size() > 1 && name.starts_with(text);
    const std::size_t distance = abbreviated ? 1 : edit_distance(text, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace harmonia
