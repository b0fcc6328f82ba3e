#pragma once

#include <cstddef>
#include <string>

namespace harmonia {

/// All bytes of a file. Throws Error(input) if it cannot be read, or is longer than `most` MiB where
/// `expected` was looked for.
std::string read_whole_file(const std::string& path, std::size_t most, const std::string& expected);

}  // namespace harmonia
