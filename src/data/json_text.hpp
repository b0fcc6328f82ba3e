#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace harmonia {

/// Parses, and refuses a key that an object has twice, of which the parser would keep the last. Throws
/// Error(input) that names `path` and the place.
nlohmann::json parse_json(const std::string& path, const std::string& text);

}  // namespace harmonia
