#include "http_attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "pipe_signal.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr double kLongestTimeout = 86400;

std::size_t take_bytes(char* data, std::size_t, std::size_t count, void* user) {
  auto& attempt = *static_cast<HttpAttempt*>(user);
  if (count > attempt.longest - attempt.body.size()) {
    attempt.too_long = true;
    return 0;  // ends the transfer
  }
  attempt.body.append(data, count);
  return count;
}

// Asked by libcurl now and then; not 0 breaks the transfer off.
int stop_asked(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

void append_header(CurlHeaders& list, const std::string& header) {
  curl_slist* longer = curl_slist_append(list.get(), header.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());  // the longer list has taken it over
  list.reset(longer);
}

bool connection_lost(CURLcode code) {
  constexpr std::array codes{CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_GOT_NOTHING,
                             CURLE_RECV_ERROR,      CURLE_SEND_ERROR,           CURLE_PARTIAL_FILE,
                             CURLE_HTTP2,           CURLE_HTTP2_STREAM};
  return std::ranges::find(codes, code) != codes.end();
}

std::string describe(CURL* handle, const HttpAttempt& attempt, const HttpOptions& options) {
  if (attempt.too_long) return fmt::format("its answer is longer than {} bytes", attempt.longest);
  if (attempt.code == CURLE_OPERATION_TIMEDOUT)
    return fmt::format("no answer within {:g} s", options.timeout_seconds);
  long error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error);
  if (attempt.code == CURLE_COULDNT_CONNECT && error == ECONNREFUSED) return "connection refused";
  if (attempt.code == CURLE_GOT_NOTHING || attempt.code == CURLE_PARTIAL_FILE ||
      attempt.code == CURLE_RECV_ERROR) {
    return "the connection was closed before the answer was complete";
  }
  const char* const details = attempt.details.data();
  return sentence(*details != '\0' ? details : curl_easy_strerror(attempt.code));
}

void check(const HttpOptions& options) {
  if (!(options.timeout_seconds > 0)) {
    throw Error(ErrorCode::usage,
                fmt::format("timeout of {} s; expected more than 0", options.timeout_seconds));
  }
  for (std::size_t i = 0; i < options.headers.size(); ++i) {
    const std::string& header = options.headers[i];
    const std::size_t colon = header.find(':');
    // The header itself may be a secret and is not repeated.
    if (colon == std::string::npos || colon == 0 || header.find_first_of("\r\n") != std::string::npos) {
      throw Error(ErrorCode::usage,
                  fmt::format("header {} is not of the form 'Name: value' on one line", i + 1));
    }
  }
}

long timeout_of(const HttpOptions& options) {
  return std::max(1L, std::lround(1000 * std::min(options.timeout_seconds, kLongestTimeout)));
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  if (curl_easy_setopt(handle, option, value) != CURLE_OK) {
    throw Error(ErrorCode::model, fmt::format("libcurl refuses option {}", static_cast<int>(option)));
  }
}

}  // namespace

void FreeCurlHandle::operator()(CURL* handle) const {
  const PipeSignalGuard guard;  // it says goodbye over TLS
  curl_easy_cleanup(handle);
}

CurlHeaders make_curl_headers(std::span<const std::string> lines) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);  // once, by whoever is first
  if (initialised != CURLE_OK) throw Error(ErrorCode::model, "libcurl cannot be initialised");
  CurlHeaders headers;
  append_header(headers, "Expect:");  // else a large body waits a second for a leave that few servers give
  for (const std::string& line : lines) append_header(headers, line);
  return headers;
}

CurlHeaders make_curl_headers(const HttpOptions& options) {
  check(options);
  std::vector<std::string> lines{"Content-Type: application/json", "Accept: application/json"};
  lines.insert(lines.end(), options.headers.begin(), options.headers.end());
  return make_curl_headers(lines);
}

CurlHandle make_curl_handle() {
  CurlHandle handle(curl_easy_init());
  if (!handle) throw std::bad_alloc();
  return handle;
}

void prepare_attempt(CURL* handle, HttpAttempt& attempt, const HttpOptions& options, curl_slist* headers,
                     const std::string& url, const std::string* body) {
  attempt.longest = options.longest_answer;
  set(handle, CURLOPT_URL, url.c_str());
  set(handle, CURLOPT_HTTPHEADER, headers);
  set(handle, CURLOPT_USERAGENT, "harmonia/" HARMONIA_VERSION);
  set(handle, CURLOPT_NOSIGNAL, 1L);  // safe with threads
  set(handle, CURLOPT_PROXY, "");     // else the environment decides
  set(handle, CURLOPT_TIMEOUT_MS, timeout_of(options));
  set(handle, CURLOPT_ERRORBUFFER, attempt.details.data());
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, stop_asked);
  set(handle, CURLOPT_XFERINFODATA, &options.stop);
  set(handle, CURLOPT_WRITEFUNCTION, take_bytes);
  set(handle, CURLOPT_WRITEDATA, &attempt);
  if (!options.ca_file.empty()) set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
  if (body != nullptr) {
    set(handle, CURLOPT_POSTFIELDS, body->c_str());
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
  }
}

void conclude_attempt(CURL* handle, CURLcode code, HttpAttempt& attempt, const HttpOptions& options) {
  if (code == CURLE_ABORTED_BY_CALLBACK) throw Error(ErrorCode::interrupted, "stopped");
  attempt.code = code;
  if (code != CURLE_OK) attempt.reason = describe(handle, attempt, options);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &attempt.status);
  curl_off_t seconds = 0;
  curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
  attempt.asked_pause = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, 86400));
}

HttpRetries::HttpRetries(const HttpOptions& options)
    : most_(options.retries), longest_pause_(timeout_of(options)) {
  pause_ = std::min(kFirstPause, longest_pause_);
}

std::optional<milliseconds> HttpRetries::enter(const HttpAttempt& attempt, bool unusable) {
  const bool again = attempt.code == CURLE_OK ? attempt.status == 429 || attempt.status >= 500 || unusable
                     : attempt.code == CURLE_OPERATION_TIMEDOUT ? !std::exchange(timed_out_, true)
                                                                : connection_lost(attempt.code);
  const bool over = !again || last();
  ++tries_;
  if (over) return std::nullopt;
  const milliseconds pause = std::max(pause_, std::min(attempt.asked_pause, longest_pause_));
  pause_ = std::min(pause_ * 2, longest_pause_);
  return pause;
}

}  // namespace harmonia
