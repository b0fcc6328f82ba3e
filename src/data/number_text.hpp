#pragma once

#include <string_view>

namespace harmonia {

/// What a field of data turned out to be.
enum class NumberKind { number, missing, infinite, not_a_number };

/// A field read as a number; value is NaN unless it is one.
struct ParsedNumber {
  NumberKind kind;
  double value;
};

/// Reads the whole of `text`, blanks around it left out, to the nearest double. Nothing, nan and NA are
/// missing.
ParsedNumber parse_number(std::string_view text);

}  // namespace harmonia
