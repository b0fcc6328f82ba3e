#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace harmonia {

/// Cuts bytes that come in pieces into lines. Of a line that is too long, only so much is kept as tells that
/// it is.
class LineBuffer {
 public:
  explicit LineBuffer(std::size_t longest) : longest_(longest) {}

  /// Room for more bytes; lines that were taken are gone.
  std::span<char> room();
  /// So many bytes were put there.
  void add(std::size_t count) { end_ += count; }
  /// The next whole line, without its end; valid until room(). False: there is none yet.
  bool next(std::string_view& line);
  /// What is there of a line that has no end.
  std::string_view rest() const { return {bytes_.data() + begin_, end_ - begin_}; }
  /// Forgets all bytes.
  void clear();

 private:
  std::size_t longest_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0, end_ = 0;  // bytes that no line was made of
  std::size_t seen_ = 0;             // of them, that have no end of line
};

}  // namespace harmonia
