#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace harmonia {

/// Hashes of a file's rows from the first one on, after 1, 2, 4, 8, … rows and after the last. They tell it
/// from a file whose rows were the same at first, before twice as many have come.
class FileHistory {
 public:
  /// The next row, a line without its end.
  void add(std::string_view line);
  /// To be kept: "rows:hash,…".
  std::string text() const;
  /// Whether the file of a kept text had another hash after as many rows. False where the text says nothing
  /// of so many.
  bool differs_from(std::string_view kept) const;

 private:
  struct Point {
    std::uint64_t rows = 0, hash = 0;
  };
  std::uint64_t rows_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325;  // FNV-1a
  std::vector<Point> points_;                // at powers of two
};

}  // namespace harmonia
