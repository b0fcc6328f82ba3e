#include "json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}{}", path, what));
}

}  // namespace

nlohmann::json parse_json(const std::string& path, const std::string& text) {
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      fail(path, fmt::format(": {} is given twice", in_quotes(value.get<std::string>())));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    // error.byte counts from 1 and is one past the end when the text stops too early.
    const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t line_start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const std::size_t byte = line_start == std::string::npos ? at : at - line_start - 1;
    fail(path,
         fmt::format(" line {}, byte {}: not valid JSON", 1 + std::count(text.begin(), end, '\n'), byte + 1));
  } catch (const Json::exception&) {
    fail(path, " holds a number that is too large for a double");
  }
}

}  // namespace harmonia
