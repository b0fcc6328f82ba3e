#include "input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

[[noreturn]] void fail(const std::string& path, int reason) {
  if (reason == ENOENT || reason == ENOTDIR)
    throw Error(ErrorCode::input, fmt::format("{}: no such file", path));
  throw Error(ErrorCode::input, fmt::format("{}: {}", path, std::generic_category().message(reason)));
}

// Calls `read_some` until `out` is full or nothing more comes: pipes and signals cut reads short.
template <class ReadSome>
std::size_t read_fully(const std::string& path, std::span<char> out, ReadSome read_some) {
  // Linux reads at most 2 GiB at once; smaller requests than that keep ssize_t safe everywhere.
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = read_some(out.data() + done, std::min(out.size() - done, kMostAtOnce), done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail(path, errno);
    }
  }
  return done;
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, errno);
  struct stat status {};
  const int reason = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (reason != 0 || S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    if (reason != 0) fail(path_, reason);
    throw Error(ErrorCode::input, fmt::format("{} is a directory; expected a file", path_));
  }
  if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(std::span<char> out) {
  return read_fully(path_, out, [this](char* to, std::size_t count, std::size_t) {
    return ::read(descriptor_, to, count);
  });
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<char> out) const {
  return read_fully(path_, out, [this, offset](char* to, std::size_t count, std::size_t done) {
    return ::pread(descriptor_, to, count, static_cast<off_t>(offset + done));
  });
}

void InputFile::rewind() {
  if (::lseek(descriptor_, 0, SEEK_SET) == 0) return;
  if (errno == ESPIPE)
    throw Error(ErrorCode::input, fmt::format("{} is a pipe; it cannot be read twice", path_));
  fail(path_, errno);
}

}  // namespace harmonia
