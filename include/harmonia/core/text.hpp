#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Foreign text: numbers in it, and how it is quoted in messages of one line.
namespace harmonia {

/// Blanks at both ends cut off.
std::string_view trim(std::string_view text);

/// Bytes of the UTF-8 character that the text begins with; 0 if it begins with none.
std::size_t character_length(std::string_view text);

/// Whether it is UTF-8 from end to end.
bool is_utf8(std::string_view text);

/// The double nearest to what the whole text says, blanks around it aside; `nan` and `inf` are numbers, and
/// so is what is too large (inf) or too small (0) for a double.
std::optional<double> read_number(std::string_view text);

/// The text with U+FFFD for every byte that is not of UTF-8.
std::string repair_utf8(std::string_view text);

/// The text for a message: line ends and tabs become spaces, other control characters and broken UTF-8 are
/// escaped, what is past `limit` bytes cut.
std::string printable(std::string_view text, std::size_t limit = 60);

/// The same with more room, blanks at both ends cut off: a sentence that somebody else wrote.
std::string sentence(std::string_view text);

/// A printable text in quotes.
std::string in_quotes(std::string_view text);

/// "1 row", "2 rows".
std::string counted(std::size_t count, std::string_view thing);

}  // namespace harmonia
