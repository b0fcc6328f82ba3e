#include "line_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace harmonia {
namespace {

constexpr std::size_t kRoom = std::size_t{1} << 20;

}  // namespace

std::span<char> LineBuffer::room() {
  if (end_ - begin_ > longest_ + 1) {  // enough to tell; the end of the line is still to come
    end_ = begin_ + longest_ + 1;
    seen_ = end_ - begin_;
  }
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() < end_ + kRoom) bytes_.resize(std::max(end_ + kRoom, 2 * end_));
  return {bytes_.data() + end_, bytes_.size() - end_};
}

bool LineBuffer::next(std::string_view& line) {
  const char* const first = bytes_.data() + begin_;
  const std::size_t count = end_ - begin_;
  const void* const found = count == seen_ ? nullptr : std::memchr(first + seen_, '\n', count - seen_);
  if (found == nullptr) {
    seen_ = count;
    return false;
  }
  line = {first, static_cast<std::size_t>(static_cast<const char*>(found) - first)};
  begin_ += line.size() + 1;
  seen_ = 0;
  return true;
}

void LineBuffer::clear() { begin_ = end_ = seen_ = 0; }

}  // namespace harmonia
