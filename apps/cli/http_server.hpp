#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harmonia {

/// A header of a request or a reply.
using HttpField = std::pair<std::string, std::string>;

/// A request to a server of this program.
struct HttpRequest {
  std::string method, path;       ///< path: decoded, without the query
  std::string target;             ///< path and query as they were sent
  std::string rest;               ///< of the path, what the last '*' of its route stands for
  std::vector<HttpField> fields;  ///< all headers as they were sent, in their order
  std::map<std::string, std::string> headers, query;  ///< names of headers in lower case; the first of a name
  std::string body;
  std::string client;  ///< address

  /// Empty if it was not sent.
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

/// The answer to it.
struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<HttpField> headers;
  bool passed_on = false;  ///< it is another server's: nothing is added to its headers
  /// Instead of a body: the next piece, again and again. Waits itself, about half a second at most. Empty:
  /// nothing new; none: that was all. Throws Error to break the answer off.
  std::function<std::optional<std::string>()> next;
};

/// A reply {"error": {"message": …}}.
HttpReply http_error(int status, std::string_view message);

/// Who answers what. Called by many threads at once.
struct HttpRoute {
  std::string method, path;  ///< a part of the path that is * stands for any one
  /// Looks at a request before its body is read. A reply: that is the answer.
  std::function<std::optional<HttpReply>(const HttpRequest&)> admit;
  std::function<HttpReply(const HttpRequest&)> answer;
  std::size_t body = 0;  ///< bytes of a body, at most; 0: HttpLimits::body
  bool packed = false;   ///< bodies with a Content-Encoding are taken, and handed over as they are
  /// What a client is told whose body is not taken.
  std::function<HttpReply(int status, std::string_view message)> refuse = http_error;
};

/// What one client, or many at once, may take.
struct HttpLimits {
  std::size_t body = std::size_t{16} << 20;    ///< bytes of a request's body
  std::size_t head = std::size_t{32} << 10;    ///< bytes of its head
  std::size_t connections = 256;               ///< at the same time, a thread each; as many may wait
  double head_seconds = 5, body_seconds = 60;  ///< in which all of it has to come
  double idle_seconds = 10;                    ///< between two requests
};

/// How it listens.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0: one that is free
  HttpLimits limits;
  std::vector<HttpField> headers;  ///< of every reply that is not passed on
  /// Told of every reply, those to requests that could not be read included. Called by many threads at once.
  std::function<void(const HttpRequest&, int status)> replied = [](const HttpRequest&, int) {};
};

/// HOST:PORT, [IPv6]:PORT, or the port alone.
struct ListenAddress {
  std::string host = "127.0.0.1";
  int port = 0;
};
/// Throws Error(usage) if it is none.
ListenAddress read_listen_address(const std::string& text);
/// Whether only this machine reaches it.
bool is_loopback(const std::string& host);

/// Whether the header Authorization has this bearer token. The time it takes says nothing about the key.
bool has_bearer(const HttpRequest& request, const std::string& key);
/// The same of any text.
bool is_same_secret(const std::string& text, const std::string& key);

/// An HTTP/1.1 server on threads of its own, from when it is made until it is destroyed. Nothing is served
/// from files.
class HttpServer {
 public:
  /// Throws Error(usage) if it cannot listen.
  HttpServer(const HttpOptions& options, std::vector<HttpRoute> routes);
  /// Waits for answers under way.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// http://HOST:PORT
  const std::string& address() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace harmonia
