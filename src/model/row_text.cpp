#include "row_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

template <class T>
void append_shortest(std::string& text, T value) {
  if (std::isnan(value)) {  // to_chars would write -nan for some
    text += "nan";
    return;
  }
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), result.ptr);
}

template <class T>
void append_values(std::string& text, std::span<const T> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += ',';
    append_shortest(text, row[i]);
  }
  text += '\n';
}

}  // namespace

void append_number(std::string& text, float value) { append_shortest(text, value); }
void append_number(std::string& text, double value) { append_shortest(text, value); }
void append_line(std::string& text, std::span<const float> row) { append_values(text, row); }
void append_line(std::string& text, std::span<const double> row) { append_values(text, row); }

std::size_t count_values(std::string_view line) {
  if (trim(line).empty()) return 0;
  return static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
}

std::optional<std::string_view> parse_line(std::string_view line, std::span<double> out) {
  for (double& value : out) {
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view text = line.substr(0, comma);
    const std::optional<double> number = read_number(text);
    if (!number) return trim(text);
    value = *number;
    line.remove_prefix(std::min(comma + 1, line.size()));
  }
  return std::nullopt;
}

}  // namespace harmonia
