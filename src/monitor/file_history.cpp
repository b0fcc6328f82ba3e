#include "file_history.hpp"

#include <fmt/format.h>

#include <bit>

#include "harmonia/core/text.hpp"

namespace harmonia {

void FileHistory::add(std::string_view line) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  constexpr std::size_t kMost = std::size_t{1} << 20;  // how much there is of a line that is too long varies
  for (const char c : trim(line).substr(0, kMost)) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kPrime;
  hash_ = (hash_ ^ static_cast<unsigned char>('\n')) * kPrime;
  if (std::has_single_bit(++rows_)) points_.push_back({rows_, hash_});
}

std::string FileHistory::text() const {
  std::string text;
  for (const Point& point : points_) text += fmt::format("{}:{:016x},", point.rows, point.hash);
  if (!std::has_single_bit(rows_)) text += fmt::format("{}:{:016x},", rows_, hash_);
  return text;
}

bool FileHistory::differs_from(std::string_view kept) const {
  const std::string here = fmt::format("{}:", rows_);
  const std::size_t found = kept.starts_with(here) ? 0 : kept.find("," + here);
  if (found == std::string_view::npos) return false;
  const std::string_view point = kept.substr(found == 0 ? 0 : found + 1);
  return !point.starts_with(fmt::format("{}{:016x},", here, hash_));
}

}  // namespace harmonia
