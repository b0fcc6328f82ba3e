#pragma once

#include <string>
#include <string_view>

namespace harmonia {

/// What a text turned out to be.
enum class NumberKind { number, missing, infinite, not_a_number };

/// A text read as a number; value is NaN unless it is one.
struct ParsedNumber {
  NumberKind kind;
  double value;
};

/// Reads the whole of `text`, blanks around it left out, to the nearest double. Nothing, nan and NA are
/// missing.
ParsedNumber parse_number(std::string_view text);

/// The text in quotes for a message: control characters and broken UTF-8 escaped, long texts cut.
std::string in_quotes(std::string_view text);

/// The same without quotes, for names.
std::string printable(std::string_view text);

/// "1 row", "2 rows".
std::string counted(std::size_t count, std::string_view thing);

}  // namespace harmonia
