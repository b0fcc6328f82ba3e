#include "model_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kHead = 4096;          // bytes, enough to know a kind by
constexpr std::streamsize kBlock = 1 << 18;  // bytes that are read at once

}  // namespace

std::string model_file_head(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::string head(kHead, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

std::string read_model_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::usage, fmt::format("model {} is a folder; expected a file", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::usage, fmt::format("model {}: {}", path, std::strerror(errno)));
  // Not through a string stream: that would swallow a lack of memory, and hand over a part of the file.
  std::string bytes;
  for (std::vector<char> block(kBlock); in.read(block.data(), kBlock) || in.gcount() > 0;)
    bytes.append(block.data(), static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw Error(ErrorCode::usage, fmt::format("model {} cannot be read to its end", path));
  return bytes;
}

}  // namespace harmonia
