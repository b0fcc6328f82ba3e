#pragma once

#include <string>

namespace harmonia {

/// The key in a variable of the environment or, if that is not named, in a file; empty if neither is. option:
/// what messages call it, such as --key. Throws Error(usage), without the key, if it cannot be read.
std::string read_key(const std::string& variable, const std::string& file, const std::string& option);

}  // namespace harmonia
