#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace harmonia {

/// A file that appears under its name only when it is whole: it is written beside it and renamed at the end.
/// What was there before stays until then; an unfinished file is removed. A link is followed; what is no
/// plain file (a pipe, a device) is written to as it is.
class AtomicFile {
 public:
  /// Throws Error(input) if the folder cannot be written to.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  /// Puts the file in its place. Throws Error(input) if it could not be written whole.
  void commit();

 private:
  std::string path_, temporary_;
  std::ofstream out_;
};

}  // namespace harmonia
