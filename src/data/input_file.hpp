#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace harmonia {

/// A file open for reading; every failure is an Error(input) that names it.
class InputFile {
 public:
  /// Throws if there is no such file, if it is a directory or if it may not be read.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Its bytes; nothing for pipes and devices, which have no size.
  std::optional<std::uint64_t> size() const { return size_; }
  /// Reads on until `out` is full or the file ends; how many bytes came.
  std::size_t read(std::span<char> out);
  /// Reads from `offset` until `out` is full or the file ends; how many bytes came. Leaves read() where it
  /// was.
  std::size_t read_at(std::uint64_t offset, std::span<char> out) const;
  /// Makes read() start again from the first byte.
  void rewind();

 private:
  std::string path_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
};

}  // namespace harmonia
