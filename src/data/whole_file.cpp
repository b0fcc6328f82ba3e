#include "whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harmonia/core/error.hpp"
#include "input_file.hpp"

namespace harmonia {

std::string read_whole_file(const std::string& path, std::size_t most, const std::string& expected) {
  InputFile file(path);
  std::string text;
  // Grown rather than sized alone: a pipe does not say how long it is.
  std::size_t size = 0;
  do {
    if (size > most << 20U)
      throw Error(ErrorCode::input,
                  fmt::format("{} is longer than {} MiB; expected {}", path, most, expected));
    const std::size_t said = std::min<std::size_t>(file.size().value_or(0), most << 20U) + 1;
    text.resize(std::max({std::size_t{4096}, 2 * size, size == 0 ? said : 0}));
    size += file.read({text.data() + size, text.size() - size});
  } while (size == text.size());
  text.resize(size);
  return text;
}

}  // namespace harmonia
