#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "http_client.hpp"

/// What every use of libcurl shares: one request, and when it is tried again. The one file that includes
/// libcurl's header.
namespace harmonia {

struct FreeCurlHandle {
  void operator()(CURL* handle) const;
};
struct FreeCurlHeaders {
  void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};
using CurlHandle = std::unique_ptr<CURL, FreeCurlHandle>;
using CurlHeaders = std::unique_ptr<curl_slist, FreeCurlHeaders>;

/// Initialises libcurl, and makes the headers of every request. Throws Error(usage) for options that cannot
/// be used.
CurlHeaders make_curl_headers(const HttpOptions& options);
/// Initialises libcurl, and makes these headers; "Name:" leaves out one that libcurl would add.
CurlHeaders make_curl_headers(std::span<const std::string> lines);
/// A handle for one request at a time; it keeps its connection for the next.
CurlHandle make_curl_handle();

/// One request, and what it left behind. libcurl points into it: it stays where it is while it is under way.
struct HttpAttempt {
  CURLcode code = CURLE_OK;
  long status = 0;                           ///< of the answer; 0: there is none
  std::chrono::milliseconds asked_pause{0};  ///< by Retry-After
  std::string reason;                        ///< in a line, if the answer is not complete
  std::string body;
  bool too_long = false;
  std::size_t longest = 0;
  std::array<char, CURL_ERROR_SIZE> details{};

  bool succeeded() const { return code == CURLE_OK && status >= 200 && status < 300; }
};

/// Makes the handle ready. body: null for GET. All that is passed outlives the request.
void prepare_attempt(CURL* handle, HttpAttempt& attempt, const HttpOptions& options, curl_slist* headers,
                     const std::string& url, const std::string* body);
/// Enters how the request ended. Throws Error(interrupted) if it was stopped.
void conclude_attempt(CURL* handle, CURLcode code, HttpAttempt& attempt, const HttpOptions& options);

/// When a request is tried again, as HttpClient promises.
class HttpRetries {
 public:
  explicit HttpRetries(const HttpOptions& options);
  /// Enters a try that ended. The pause before the next one; none: there is none. unusable: it succeeded, and
  /// says what cannot be used, which counts as an error of the server.
  std::optional<std::chrono::milliseconds> enter(const HttpAttempt& attempt, bool unusable = false);
  /// How many were entered.
  int tries() const { return tries_; }
  /// Whether the try that is under way is the last in any case.
  bool last() const { return tries_ >= most_; }

 private:
  int most_, tries_ = 0;
  bool timed_out_ = false;
  std::chrono::milliseconds pause_, longest_pause_;
};

}  // namespace harmonia
