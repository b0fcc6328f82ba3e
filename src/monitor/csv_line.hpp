#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harmonia {

/// Splits one line of CSV [RFC 4180] that holds whole fields: a quoted one ends in the line that it begins
/// in.
class CsvLine {
 public:
  /// Why the line cannot be split; empty: fields() has its fields, valid until the next call.
  std::string split(std::string_view line, char delimiter);
  /// Quotes undone, blanks around unquoted ones left out.
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  std::string bytes_;  // of the line, where doubled quotes were undone
  std::vector<std::string_view> fields_;
};

/// Whichever of comma, semicolon and tab the line has most of, outside of quotes.
char csv_delimiter(std::string_view line);

}  // namespace harmonia
