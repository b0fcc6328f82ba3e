#include "row_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

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

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<double> read_number(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  double value = 0;
  auto [last, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    // Too large or too small for a double is still a number: the wider type tells infinity from zero.
    long double wide = 0;
    const auto again = std::from_chars(text.data(), end, wide);
    last = again.ptr;
    error = again.ec;
    value = static_cast<double>(wide);
  }
  if (error != std::errc{} || last != end) return std::nullopt;
  return value;
}

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

std::string one_line(std::string_view text, std::size_t limit) {
  text = trim(text);
  std::size_t length = std::min(text.size(), limit);
  // A multi-byte character is kept or cut as a whole.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    --length;
  std::string line(text.substr(0, length));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  if (length < text.size()) line += "…";
  return line;
}

}  // namespace harmonia
