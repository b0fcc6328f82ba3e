#include "key_flags.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {

void add_key_flags(CLI::App& app, KeyFlags& flags, const std::string& words, const std::string& group) {
  app.add_option(flags.option + "-env", flags.variable, words)->type_name("VARIABLE")->group(group);
  app.add_option(flags.option + "-file", flags.file, "file that holds it")
      ->type_name("FILE")
      ->group(group)
      ->excludes(flags.option + "-env");
}

std::string read_key(const KeyFlags& flags) {
  const auto& [option, variable, file] = flags;
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
    key.resize(kLongestKey + 1);
    in.read(key.data(), static_cast<std::streamsize>(key.size()));
    key.resize(static_cast<std::size_t>(in.gcount()));
    if (key.size() > kLongestKey) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}-file {}: has more than {} bytes; expected a key on one line", option, file,
                              kLongestKey));
    }
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
