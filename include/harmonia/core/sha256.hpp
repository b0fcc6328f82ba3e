#pragma once

#include <string>
#include <string_view>

namespace harmonia {

/// The SHA-256 of the bytes, in hexadecimal, as `sha256sum` prints it.
std::string sha256_hex(std::string_view bytes);

}  // namespace harmonia
