#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Numbers and rows as text: the lines that a command reads and writes.
namespace harmonia {

/// Appends the fewest digits that read back as the same number; NaN is `nan`, whatever its sign.
void append_number(std::string& text, float value);
void append_number(std::string& text, double value);

/// Appends the row as one line of comma-separated numbers, with its end of line.
void append_line(std::string& text, std::span<const float> row);
void append_line(std::string& text, std::span<const double> row);

/// How many comma-separated values the line has; 0 for a blank line.
std::size_t count_values(std::string_view line);

/// Reads the out.size() values of a line that has as many. Gives back the first that is no number, if any.
std::optional<std::string_view> parse_line(std::string_view line, std::span<double> out);

}  // namespace harmonia
