#include "csv_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "../data/column_choice.hpp"

namespace harmonia {

std::string CsvLine::split(std::string_view line, char delimiter) {
  fields_.clear();
  bytes_.assign(line);
  const auto is_blank = [&](char c) { return (c == ' ' || c == '\t' || c == '\r') && c != delimiter; };
  char* at = bytes_.data();
  char* const end = at + bytes_.size();
  for (;; ++at) {
    if (fields_.size() == kColumnLimit) return fmt::format("it has more than {} fields", kColumnLimit);
    while (at < end && is_blank(*at)) ++at;
    const bool quoted = at < end && *at == '"';
    char* const first = quoted ? ++at : at;
    char* last = first;
    if (quoted) {
      for (;; ++at) {
        if (at == end) return fmt::format("field {} opens a quote that is never closed", fields_.size());
        if (*at == '"' && ++at < end && *at != '"') break;
        if (at == end) break;
        *last++ = *at;
      }
      while (at < end && is_blank(*at)) ++at;
      if (at < end && *at != delimiter)
        return fmt::format("text after the closing quote of field {}", fields_.size());
    } else {
      last = at = std::find(at, end, delimiter);
      while (last > first && is_blank(last[-1])) --last;
    }
    fields_.emplace_back(first, static_cast<std::size_t>(last - first));
    if (at == end) return {};
  }
}

char csv_delimiter(std::string_view line) {
  constexpr std::array kDelimiters{',', ';', '\t'};
  std::array<std::size_t, kDelimiters.size()> counts{};
  bool inside = false;
  for (const char c : line) {
    if (c == '"') inside = !inside;
    const auto found = std::find(kDelimiters.begin(), kDelimiters.end(), c);
    if (!inside && found != kDelimiters.end())
      ++counts[static_cast<std::size_t>(found - kDelimiters.begin())];
  }
  return kDelimiters[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) -
                                              counts.begin())];
}

}  // namespace harmonia
