#include "number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace harmonia {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Whether a number that no double is near enough to is too small rather than too large. from_chars gives the
// same error for both; here the place of the first digit decides, as 0 and 10^308 are far from 1.
bool below_one(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, e);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  double exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const bool negative = power.starts_with('-');
    if (negative) power.remove_prefix(1);
    for (const char digit : power) exponent = 10 * exponent + (digit - '0');
    if (negative) exponent = -exponent;
  }
  return static_cast<double>(point) - static_cast<double>(first) + exponent < 0;
}

// The length of the UTF-8 character that `text` begins with; 0 if it begins with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : (lead & 0xf0U) == 0xe0      ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what is above U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

}  // namespace

ParsedNumber parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc{} && result.ptr == end && std::isfinite(value))
    return {NumberKind::number, value};

  text = trimmed(text);
  if (text.empty() || text == "NA") return {NumberKind::missing, kMissing};
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  end = text.data() + text.size();
  result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::invalid_argument || result.ptr != end)
    return {NumberKind::not_a_number, kMissing};
  if (result.ec == std::errc::result_out_of_range) {
    if (below_one(text)) return {NumberKind::number, text[0] == '-' ? -0.0 : 0.0};
    return {NumberKind::infinite, kMissing};
  }
  if (std::isnan(value)) return {NumberKind::missing, kMissing};
  if (std::isinf(value)) return {NumberKind::infinite, kMissing};
  return {NumberKind::number, value};
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= kLongest) return out + "…";
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = character_length(text.substr(i));
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace harmonia
