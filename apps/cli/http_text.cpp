#include "http_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_text(std::string_view value) {
  return std::ranges::none_of(value, [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

bool is_digits(std::string_view text) {
  constexpr std::size_t kMost = 18;  // fit into 64 bits
  return !text.empty() && text.size() <= kMost &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<std::vector<HttpField>> read_fields(std::string_view head) {
  constexpr std::string_view kEnd = "\r\n";
  std::vector<HttpField> fields;
  const std::size_t first = head.find(kEnd);
  if (first == std::string_view::npos) return std::nullopt;
  head.remove_prefix(first + kEnd.size());
  for (;;) {
    const std::size_t end = head.find(kEnd);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + kEnd.size());
    if (line.empty()) return head.empty() ? std::optional(std::move(fields)) : std::nullopt;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
    const std::string_view value = trim(line.substr(colon + 1));
    if (!is_text(value)) return std::nullopt;
    fields.emplace_back(line.substr(0, colon), value);
  }
}

std::string framing_fault(const std::vector<HttpField>& fields, bool takes_body) {
  std::vector<std::string_view> lengths, encodings;
  for (const auto& [name, value] : fields) {
    const std::string small = lower(name);
    if (small == "content-length") lengths.push_back(value);
    if (small == "transfer-encoding") encodings.push_back(value);
  }
  if (!lengths.empty() && !encodings.empty())
    return "it has Content-Length and Transfer-Encoding; expected one of them";
  if (lengths.size() > 1) return "it has more than one Content-Length";
  if (lengths.size() == 1 && !is_digits(lengths[0]))
    return fmt::format("its Content-Length is {}; expected a number of bytes", in_quotes(lengths[0]));
  if (encodings.size() > 1 || (encodings.size() == 1 && lower(encodings[0]) != "chunked"))
    return "its Transfer-Encoding is not chunked alone";
  if (!takes_body && (!encodings.empty() || (lengths.size() == 1 && lengths[0] != "0")))
    return "it has a body, and its method takes none";
  return {};
}

std::string media_type(const HttpRequest& request) {
  const std::string header = request.header("content-type");
  return lower(trim(std::string_view(header).substr(0, header.find(';'))));
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
