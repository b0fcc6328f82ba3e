#pragma once

#include <fmt/format.h>

#include <string>

#include "harmonia/core/text.hpp"

namespace harmonia {

/// What a JSON value is, for messages: "null", "the text 'abc'", "a list of 3". Of any of the library's
/// types.
template <class Json>
std::string json_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return value.template get<bool>() ? "true" : "false";
    case Json::value_t::string:
      return fmt::format("the text {}", in_quotes(value.template get_ref<const std::string&>()));
    case Json::value_t::array:
      return fmt::format("a list of {}", value.size());
    case Json::value_t::object:
      return "an object";
    default:
      return fmt::format("the number {}", value.template get<double>());
  }
}

}  // namespace harmonia
