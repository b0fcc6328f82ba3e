#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "input_file.hpp"

namespace harmonia {

/// Splits a CSV file [RFC 4180] into records through a buffer of fixed size; only a record that does not fit
/// makes it grow. Fields may be quoted; lines end in LF, CR LF or CR; a UTF-8 mark at the start is skipped.
/// The delimiter is whichever of comma, semicolon and tab the first line has most of.
class CsvRecords {
 public:
  /// The longest record; what is longer is more likely a lost quote than data.
  static constexpr std::size_t kRecordLimit = std::size_t{256} << 20;

  /// `buffer` is the size that the buffer starts with; tests make it small.
  explicit CsvRecords(const std::string& path, std::size_t buffer = std::size_t{256} << 10U);

  /// Goes to the next record that is not a blank line; false at the end of the file.
  bool next();
  /// Makes next() give the present record once more.
  void put_back() { held_ = true; }
  /// The fields of the present record, quotes undone, blanks around unquoted ones left out. Valid until
  /// next().
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// The line that the present record begins in, from 1.
  std::size_t line() const { return line_; }
  /// Whether the file has not a single byte.
  bool empty_file() const { return empty_file_; }
  /// Starts again from the first record.
  void rewind();

 private:
  void start();
  bool fill();
  bool scan();
  bool scan_quoted(char*& at, char* end);
  void unescape(std::size_t field);
  void choose_delimiter();
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && delimiter_ != '\t'); }
  bool is_stop(char c) const { return stops_[static_cast<unsigned char>(c)]; }
  [[noreturn]] void fail(std::size_t line, const std::string& message) const;

  InputFile file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // the unread bytes are buffer_[begin_, end_)
  std::size_t end_ = 0;
  bool at_end_ = false;  // nothing is left in the file
  bool empty_file_ = false;
  bool held_ = false;
  bool blank_ = false;  // the present record is a blank line
  char delimiter_ = ',';
  std::array<bool, 256> stops_{};  // characters that end an unquoted field
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> escaped_;  // fields that hold doubled quotes
};

}  // namespace harmonia
