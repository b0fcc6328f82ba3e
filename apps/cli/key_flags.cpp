#include "key_flags.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {

std::string read_key(const std::string& variable, const std::string& file, const std::string& option) {
  constexpr std::size_t kLongestKey = 1 << 16;
  std::string key;
  if (!variable.empty()) {
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr)
      throw Error(ErrorCode::usage,
                  fmt::format("{}-env {}: no such variable in the environment", option, variable));
    key = value;
  } else if (!file.empty()) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw Error(ErrorCode::usage, fmt::format("{}-file {}: cannot be read", option, file));
    key.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    return {};
  }
  key = trim(key);
  if (key.empty()) throw Error(ErrorCode::usage, fmt::format("the key of {} is empty", option));
  if (key.size() > kLongestKey || key.find_first_of("\r\n") != std::string::npos)
    throw Error(ErrorCode::usage, fmt::format("the key of {} is not one line", option));
  return key;
}

}  // namespace harmonia
