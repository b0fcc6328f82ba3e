#include "endpoint_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "../model/inference_protocol.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "openai_json.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::size_t kShortestSecret = 4;  // less is a word that servers without keys are given

template <class Codes>
bool is_one_of(long status, const Codes& codes) {
  return std::ranges::find(codes, status) != codes.end();
}

// The address without a slash at its end, and without the path if that is said too.
std::string base_of(std::string_view url, std::string_view path) {
  constexpr const char* kExpected = "expected http(s)://host[:port]/v1 or the like";
  if (url.find('@') != std::string_view::npos && url.find("://") == std::string_view::npos)
    throw Error(ErrorCode::usage, fmt::format("an endpoint's address holds a user name; {}", kExpected));
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    throw Error(ErrorCode::usage,
                fmt::format("endpoint {}: no http(s) address; {}", in_quotes(url), kExpected));
  }
  const std::size_t host = url.find("://") + 3;
  const std::string_view authority = url.substr(host, url.find('/', host) - host);
  // Neither is repeated: they hold passwords and keys, which would otherwise be in every result.
  if (authority.find('@') != std::string_view::npos)
    throw Error(ErrorCode::usage, "an endpoint's address holds a user name; expected a key or a header");
  if (url.find_first_of("?#") != std::string_view::npos)
    throw Error(ErrorCode::usage, fmt::format("an endpoint's address holds '?' or '#'; {}", kExpected));
  if (authority.empty() || std::ranges::any_of(url, [](unsigned char c) { return c <= ' ' || c == 0x7f; }))
    throw Error(ErrorCode::usage, fmt::format("endpoint {}: no address; {}", in_quotes(url), kExpected));
  while (url.ends_with('/')) url.remove_suffix(1);
  if (url.ends_with(path)) url.remove_suffix(path.size());
  return std::string(url);
}

}  // namespace

std::string endpoint_base(const EndpointOptions& options) {
  const EndpointAddress address(options, "/chat/completions");
  make_curl_headers(address.http());  // checks them
  return address.base();
}

EndpointAddress::EndpointAddress(const EndpointOptions& options, std::string_view path)
    : options_(options), base_(base_of(options.url, path)), name_("endpoint " + base_) {
  url_ = base_ + std::string(path);
  if (options.key.find_first_of("\r\n") != std::string::npos)
    throw Error(ErrorCode::usage, "the endpoint's key has more than one line");
  secrets_.push_back(options.key);
  for (const std::string_view header : options.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) continue;  // it will be refused
    const std::string_view value = trim(header.substr(colon + 1));
    secrets_.emplace_back(value);
    secrets_.emplace_back(value.substr(value.rfind(' ') + 1));  // what follows "Bearer"
  }
  std::erase_if(secrets_, [](const std::string& secret) { return secret.size() < kShortestSecret; });
}

HttpOptions EndpointAddress::http() const {
  HttpOptions http;
  http.name = name_;
  http.headers = options_.headers;  // first, as messages count them
  if (!options_.key.empty()) http.headers.push_back("Authorization: Bearer " + options_.key);
  http.ca_file = options_.ca_file;
  http.timeout_seconds = options_.timeout_seconds;
  http.retries = options_.retries;
  http.stop = options_.stop;
  http.longest_answer = options_.longest_answer;
  return http;
}

std::string EndpointAddress::failure(const HttpAttempt& attempt, int tries) const {
  if (attempt.code != CURLE_OK) return without_secrets(attempt.reason + after_tries(tries));
  // Before it is cut, and after escapes are read.
  const std::string words = without_secrets(parse_error_text(without_secrets(attempt.body)));
  return fmt::format("status {}{}{}{}", attempt.status, after_tries(tries), words.empty() ? "" : ": ", words);
}

void EndpointAddress::require_served(const HttpAttempt& attempt, int tries) const {
  constexpr std::array statuses{401L, 402L, 403L, 404L, 405L};
  const bool elsewhere = attempt.status >= 300 && attempt.status < 400;
  if (attempt.code == CURLE_OK && (elsewhere || is_one_of(attempt.status, statuses))) {
    throw Error(ErrorCode::model, fmt::format("{}: {}{}", name_, failure(attempt, tries),
                                              elsewhere ? "; redirects are not followed" : ""));
  }
}

ChatAnswer EndpointAddress::chat_answer(const HttpAttempt& attempt, int tries) const {
  if (attempt.succeeded()) {
    ChatAnswer answer = read_chat_answer(attempt.body);
    answer.reason = without_secrets(answer.reason);
    answer.finish = without_secrets(answer.finish);
    if (answer.outcome == ChatOutcome::failed) answer.reason += after_tries(tries);
    return answer;
  }
  ChatAnswer answer;
  answer.outcome = refuses_text(attempt)                      ? ChatOutcome::refused
                   : attempt.too_long && attempt.status < 300 ? ChatOutcome::too_long
                                                              : ChatOutcome::failed;
  answer.reason = failure(attempt, tries);
  return answer;
}

std::string EndpointAddress::without_secrets(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += kHidden.size())
      text.replace(at, secret.size(), kHidden);
  }
  return text;
}

bool refuses_text(const HttpAttempt& attempt) {
  constexpr std::array statuses{400L, 413L, 422L};
  return attempt.code == CURLE_OK && is_one_of(attempt.status, statuses);
}

}  // namespace harmonia
