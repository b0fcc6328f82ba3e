#include "http_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harmonia/core/text.hpp"

namespace harmonia {

std::string media_type(const HttpRequest& request) {
  const std::string header = request.header("content-type");
  std::string type(trim(std::string_view(header).substr(0, header.find(';'))));
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

std::string host_name(const HttpRequest& request) {
  const std::string host = request.header("host");
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::string cookie_name(const HttpRequest& request) {
  const std::string host = request.header("host");
  const std::size_t colon = host.rfind(':');
  const std::string port = colon == std::string::npos ? "" : host.substr(colon + 1);
  const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  return fmt::format("harmonia_{}", digits ? port : "page");
}

std::string cookie_of(const HttpRequest& request, const std::string& name) {
  const std::string header = request.header("cookie");
  std::string_view rest = header;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view pair = trim(rest.substr(0, end));
    if (pair.starts_with(name + "=")) return std::string(pair.substr(name.size() + 1));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::string form_value(std::string_view body, std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('&'), body.size());
    const std::string_view pair = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (!pair.starts_with(name) || pair.substr(name.size(), 1) != "=") continue;
    std::string value;
    for (std::size_t i = name.size() + 1; i < pair.size(); ++i) {
      const bool escaped = pair[i] == '%' && i + 2 < pair.size() &&
                           std::isxdigit(static_cast<unsigned char>(pair[i + 1])) != 0 &&
                           std::isxdigit(static_cast<unsigned char>(pair[i + 2])) != 0;
      value += escaped          ? static_cast<char>(digit(pair[i + 1]) * 16 + digit(pair[i + 2]))
               : pair[i] == '+' ? ' '
                                : pair[i];
      if (escaped) i += 2;
    }
    return value;
  }
  return {};
}

}  // namespace harmonia
