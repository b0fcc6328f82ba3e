#include "npy_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>

namespace harmonia {
namespace {

// IEEE binary16, which C++20 has no type for.
struct Half {
  std::uint16_t bits;
};

struct Boolean {
  std::uint8_t byte;
};

template <class T, bool Swap>
T load(const char* raw) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), raw, sizeof(T));
  if constexpr (Swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

// The value that text() prints: floats keep their type, so that 0.1f is 0.1.
template <class T>
T plain(T value) {
  return value;
}

std::uint8_t plain(Boolean value) { return value.byte != 0 ? 1 : 0; }

float plain(Half half) {
  const int exponent = (half.bits >> 10U) & 31;
  const int fraction = half.bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  }
  return (half.bits >> 15U) != 0 ? -value : value;
}

bool is_exact(std::floating_point auto value) { return !std::isinf(value); }

// Whether some double equals the integer: its digits, zeros at the end left out, fit in 53 bits.
bool is_exact(std::integral auto value) {
  if constexpr (sizeof(value) < 8) {
    return true;
  } else {
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
    return magnitude == 0 || (magnitude >> static_cast<unsigned>(std::countr_zero(magnitude))) >> 53U == 0;
  }
}

template <class T, bool Swap>
std::size_t convert(const char* raw, std::size_t stride, std::size_t count, double* out,
                    std::size_t out_stride) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = plain(load<T, Swap>(raw + i * stride));
    if (!is_exact(value)) return i;
    out[i * out_stride] = static_cast<double>(value);
  }
  return count;
}

template <class T, bool Swap>
std::string text(const char* raw) {
  return fmt::format("{}", plain(load<T, Swap>(raw)));
}

template <class T>
NpyNumber number(bool swap) {
  constexpr bool kWhole = std::integral<decltype(plain(T{}))>;
  if (swap) return {sizeof(T), kWhole, convert<T, true>, text<T, true>};
  return {sizeof(T), kWhole, convert<T, false>, text<T, false>};
}

struct Type {
  std::string_view code;
  NpyNumber (*make)(bool swap);
};

// A new type of number is a new row.
constexpr std::array kTypes{
    Type{"f2", number<Half>},          Type{"f4", number<float>},         Type{"f8", number<double>},
    Type{"i1", number<std::int8_t>},   Type{"i2", number<std::int16_t>},  Type{"i4", number<std::int32_t>},
    Type{"i8", number<std::int64_t>},  Type{"u1", number<std::uint8_t>},  Type{"u2", number<std::uint16_t>},
    Type{"u4", number<std::uint32_t>}, Type{"u8", number<std::uint64_t>}, Type{"b1", number<Boolean>},
};

}  // namespace

NpyNumber npy_number(std::string_view descr) {
  constexpr bool kLittle = std::endian::native == std::endian::little;
  bool swap = false;
  if (descr.starts_with('<') || descr.starts_with('>')) {
    swap = descr[0] == (kLittle ? '>' : '<');
    descr.remove_prefix(1);
  } else if (descr.starts_with('|') || descr.starts_with('=')) {
    descr.remove_prefix(1);
  }
  for (const Type& type : kTypes) {
    if (descr == type.code) return type.make(swap);
  }
  return {};
}

}  // namespace harmonia
