#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"

namespace harmonia {

/// A header of a request or an answer.
using HttpHeader = std::pair<std::string, std::string>;

/// Whether a proxy passes the header on: not what concerns one connection (Connection, Transfer-Encoding, …),
/// nor Host and Content-Length, which every connection has its own of. [RFC 9110, section 7.6.1]
bool is_passed_on(std::string_view header);

/// Of the headers of a request or an answer those that a proxy passes on: neither what is_passed_on() leaves
/// out nor what Connection names.
std::vector<HttpHeader> passed_on(std::vector<HttpHeader> headers);

/// The upstream was silent for longer than it may be: Error(model).
struct UpstreamSilent final : Error {
  explicit UpstreamSilent(const std::string& message) : Error(ErrorCode::model, message) {}
};

/// Where requests are passed on to.
struct UpstreamOptions {
  std::string url;               ///< base, such as http://127.0.0.1:8080/v1
  std::string ca_file;           ///< PEM file of trusted authorities; empty: the system's
  double timeout_seconds = 600;  ///< longest silence
  std::stop_token stop{};        ///< when asked, answers that still come have five seconds left
};

/// A request to pass on.
struct UpstreamRequest {
  std::string method = "GET";
  std::string target;               ///< after the base, with its query: /chat/completions
  std::vector<HttpHeader> headers;  ///< all that are sent but for Host and Content-Length
  std::string body;
};

/// An answer that comes. It is read from one thread.
class UpstreamAnswer {
 public:
  ~UpstreamAnswer();
  UpstreamAnswer(const UpstreamAnswer&) = delete;
  UpstreamAnswer& operator=(const UpstreamAnswer&) = delete;

  int status() const;
  /// In their order.
  const std::vector<HttpHeader>& headers() const;
  /// Appends what has come since, at the latest after a tenth of a second: then it may be nothing. False: all
  /// has come. Throws Error(model) if the answer breaks off, UpstreamSilent if no more of it comes.
  bool read(std::string& bytes);

 private:
  friend class Upstream;
  class Line;
  struct Lines;
  explicit UpstreamAnswer(std::unique_ptr<Line> line, std::shared_ptr<Lines> lines);
  std::unique_ptr<Line> line_;
  std::shared_ptr<Lines> lines_;
};

/// A server that requests are passed on to as they are: no status is an error, nothing is tried again,
/// redirects are not followed. Connections are kept. Safe to call from several threads.
class Upstream {
 public:
  /// Throws Error(usage) for an address that cannot be used.
  explicit Upstream(const UpstreamOptions& options);
  ~Upstream();

  /// What errors call it.
  const std::string& name() const;
  /// Sends the request and waits for the head of the answer. Throws Error(model) if none comes,
  /// UpstreamSilent if that is for want of time.
  std::unique_ptr<UpstreamAnswer> send(const UpstreamRequest& request);

 private:
  std::shared_ptr<UpstreamAnswer::Lines> lines_;
};

}  // namespace harmonia
