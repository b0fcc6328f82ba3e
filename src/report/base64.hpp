#pragma once

#include <string>

namespace harmonia {

/// Bytes as text [RFC 4648], for pictures in a result.
std::string base64(const std::string& bytes);

}  // namespace harmonia
