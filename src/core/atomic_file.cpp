#include "harmonia/core/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "harmonia/core/error.hpp"

namespace harmonia {

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_regular_file(status)) path_ = std::filesystem::canonical(path, ignored).string();
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    temporary_ = fmt::format("{}.{}.tmp", path_, getpid());
  }
  out_.open(temporary_.empty() ? path_ : temporary_, std::ios::binary | std::ios::trunc);
  if (!out_) throw Error(ErrorCode::input, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  out_.close();
  std::remove(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) {
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
}

void AtomicFile::commit() {
  out_.close();
  if (!out_ || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    throw Error(ErrorCode::input, fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
  }
  temporary_.clear();
}

}  // namespace harmonia
