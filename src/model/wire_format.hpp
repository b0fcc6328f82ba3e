#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace harmonia {

/// Reads the fields of one message of Protocol Buffers' wire format, which ONNX files are written in. What it
/// gives are views into the bytes. Throws Error(input) that names the file if they are no such message.
class WireReader {
 public:
  enum class Kind : std::uint8_t { varint = 0, fixed64 = 1, text = 2, fixed32 = 5 };

  /// `file` is for messages, and must outlive the reader, as the bytes must.
  WireReader(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  /// Goes to the next field; false at the end.
  bool next();
  std::uint32_t field() const { return field_; }
  Kind kind() const { return kind_; }
  /// The field as it stands in the file, its tag included.
  std::string_view whole() const { return whole_; }

  /// The value, of the type that the caller expects; another one in the file is an error.
  std::int64_t integer() const;
  float real() const;
  std::string_view text() const;
  WireReader message() const { return {text(), file_}; }
  /// Adds the values of a repeated field, written one by one or packed.
  void add_integers(std::vector<std::int64_t>& out) const;
  void add_floats(std::vector<double>& out) const;
  void add_doubles(std::vector<double>& out) const;

 private:
  std::uint64_t take_varint();
  std::string_view take(std::uint64_t bytes);
  template <class T>
  void add_fixed(std::vector<double>& out, Kind single) const;
  [[noreturn]] void fail(std::string_view what) const;

  std::string_view rest_, whole_, text_;
  const std::string& file_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::varint;
  std::uint64_t number_ = 0;
};

/// A field of bytes as the wire format has it: to make a message of parts.
std::string wire_text(std::uint32_t field, std::string_view text);
/// A field that is a whole number.
std::string wire_integer(std::uint32_t field, std::uint64_t number);

}  // namespace harmonia
