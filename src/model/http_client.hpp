#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace harmonia {

/// How a server is talked to.
struct HttpOptions {
  std::string name;                  ///< what errors call the server
  std::vector<std::string> headers;  ///< "Name: value"; values appear in no message
  std::string ca_file;               ///< PEM file of trusted authorities; empty: the system's
  double timeout_seconds = 60;       ///< longest wait for one answer
  int retries = 4;                   ///< further tries
  std::stop_token stop;              ///< when asked, waiting ends with Error(interrupted)
  std::size_t longest_answer = std::size_t{1} << 28;  ///< bytes
};

/// An answer of any status; `tries` requests were made to get it.
struct HttpAnswer {
  long status = 0;
  int tries = 1;
  std::string body;
};

/// Requests over connections that are kept open, as many as there are calls at once. Safe to call from
/// several threads.
///
/// Lost and refused connections and the statuses 429 and 5xx are tried again after 100 ms, 200 ms, 400 ms, …,
/// or what Retry-After asks for, never longer than timeout_seconds. A time-out is tried again once: the
/// server may still be busy with the first request. Certificates are always verified, redirects never
/// followed, proxies never used.
class HttpClient {
 public:
  /// Throws Error(usage) for options that cannot be used.
  explicit HttpClient(HttpOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Throws Error(model) if there is no answer.
  HttpAnswer get(const std::string& url) const;
  /// Sends a JSON body. Throws Error(model) if there is no answer.
  HttpAnswer post(const std::string& url, const std::string& body) const;

 private:
  class Connections;
  std::unique_ptr<Connections> connections_;
};

/// " after 3 tries", or nothing after one, for the end of a message.
std::string after_tries(int tries);

}  // namespace harmonia
