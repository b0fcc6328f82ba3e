#include "wire_format.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers in the wire format are little-endian");

template <class T>
T number_at(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(0x80 | (number & 0x7f));
  return bytes += static_cast<char>(number);
}

}  // namespace

void WireReader::fail(std::string_view what) const {
  throw Error(ErrorCode::input, fmt::format("model {} is not a whole ONNX file: {}", file_, what));
}

std::uint64_t WireReader::take_varint() {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) fail("a number is cut off");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  fail("a number is longer than 64 bits");
}

std::string_view WireReader::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) fail("a field is cut off");
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

bool WireReader::next() {
  if (rest_.empty()) return false;
  const std::string_view start = rest_;
  const std::uint64_t tag = take_varint();
  if (tag >> 3 == 0 || tag >> 32 != 0) fail(fmt::format("no field has the number {}", tag >> 3));
  field_ = static_cast<std::uint32_t>(tag >> 3);
  kind_ = static_cast<Kind>(tag & 7);
  switch (kind_) {
    case Kind::varint:
      number_ = take_varint();
      break;
    case Kind::fixed64:
      text_ = take(8);
      break;
    case Kind::text:
      text_ = take(take_varint());
      break;
    case Kind::fixed32:
      text_ = take(4);
      break;
    default:
      fail(fmt::format("field {} is of the unknown wire type {}", field_, tag & 7));
  }
  whole_ = start.substr(0, start.size() - rest_.size());
  return true;
}

std::int64_t WireReader::integer() const {
  if (kind_ != Kind::varint) fail(fmt::format("field {} is no whole number", field_));
  return static_cast<std::int64_t>(number_);
}

float WireReader::real() const {
  if (kind_ != Kind::fixed32) fail(fmt::format("field {} is no number of 32 bits", field_));
  return number_at<float>(text_);
}

std::string_view WireReader::text() const {
  if (kind_ != Kind::text) fail(fmt::format("field {} is no text or message", field_));
  return text_;
}

void WireReader::add_integers(std::vector<std::int64_t>& out) const {
  if (kind_ == Kind::varint) {
    out.push_back(integer());
    return;
  }
  WireReader packed = message();
  while (!packed.rest_.empty()) out.push_back(static_cast<std::int64_t>(packed.take_varint()));
}

template <class T>
void WireReader::add_fixed(std::vector<double>& out, Kind single) const {
  const std::string_view values = kind_ == single ? text_ : text();
  if (values.size() % sizeof(T) != 0) fail(fmt::format("field {} ends within a number", field_));
  for (std::size_t i = 0; i < values.size(); i += sizeof(T)) {
    out.push_back(static_cast<double>(number_at<T>(values.substr(i))));
  }
}

void WireReader::add_floats(std::vector<double>& out) const { add_fixed<float>(out, Kind::fixed32); }
void WireReader::add_doubles(std::vector<double>& out) const { add_fixed<double>(out, Kind::fixed64); }

std::string wire_text(std::uint32_t field, std::string_view text) {
  return (varint(std::uint64_t{field} << 3 | 2) + varint(text.size())).append(text);
}

std::string wire_integer(std::uint32_t field, std::uint64_t number) {
  return varint(std::uint64_t{field} << 3) + varint(number);
}

}  // namespace harmonia
