#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace harmonia::test {

/// What the stand-in answers, and how it misbehaves.
struct Reply {
  int status = 200;
  std::string body;
  std::string headers;                    ///< more of them, each with its end of line
  bool hang = false;                      ///< never answers
  std::size_t bytes = std::string::npos;  ///< closes after so many bytes of the body
};

struct Request {
  std::string method, path, headers, body;
};

/// An HTTP/1.1 server on a free port of the loopback interface that answers as it is told and keeps
/// connections open. Everything it started ends with it.
class StandInServer {
 public:
  using Handler = std::function<Reply(const Request&)>;

  explicit StandInServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, as_generic(address), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, as_generic(address), &size) != 0) {
      throw std::runtime_error("no port for the stand-in server");
    }
    port_ = ::ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }

  ~StandInServer() {
    closing_ = true;
    acceptor_.join();
    connections_.clear();  // joins
    ::close(listener_);
  }
  StandInServer(const StandInServer&) = delete;
  StandInServer& operator=(const StandInServer&) = delete;

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  int connections() const { return connection_count_; }
  int requests() const { return request_count_; }

 private:
  static sockaddr* as_generic(sockaddr_in& address) {
    return static_cast<sockaddr*>(static_cast<void*>(&address));
  }

  // False when the server closes.
  bool readable(int socket) const {
    while (!closing_) {
      pollfd end{socket, POLLIN, 0};
      if (::poll(&end, 1, 20) > 0) return true;
    }
    return false;
  }

  void accept_all() {
    while (readable(listener_)) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      ++connection_count_;
      connections_.emplace_back([this, socket] {
        while (serve_one(socket)) {
        }
        ::close(socket);
      });
    }
  }

  // Reads until `text` holds `size` bytes. False: the other side closed.
  bool fill(int socket, std::string& text, std::size_t size) const {
    while (text.size() < size) {
      if (!readable(socket)) return false;
      std::string chunk(1 << 16, '\0');
      const ssize_t count = ::recv(socket, chunk.data(), chunk.size(), 0);
      if (count <= 0) return false;
      text.append(chunk, 0, static_cast<std::size_t>(count));
    }
    return true;
  }

  bool serve_one(int socket) {
    std::string text;
    std::size_t end = 0;
    while ((end = text.find("\r\n\r\n")) == std::string::npos) {
      if (!fill(socket, text, text.size() + 1)) return false;
    }
    Request request;
    request.headers = text.substr(0, end + 2);
    request.method = text.substr(0, text.find(' '));
    const std::size_t path = request.method.size() + 1;
    request.path = text.substr(path, text.find(' ', path) - path);
    const std::size_t length = request.headers.find("Content-Length: ");
    const std::size_t body =
        length == std::string::npos ? 0 : std::stoul(request.headers.substr(length + 16));
    if (!fill(socket, text, end + 4 + body)) return false;
    request.body = text.substr(end + 4, body);
    ++request_count_;

    const Reply reply = handler_(request);
    if (reply.hang) {
      while (readable(socket)) {
        std::string rest(1, '\0');
        if (::recv(socket, rest.data(), 1, 0) <= 0) return false;
      }
      return false;
    }
    const std::string answer =
        fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
                    reply.status, reply.body.size(), reply.headers, reply.body.substr(0, reply.bytes));
    for (std::size_t sent = 0; sent < answer.size();) {
      const ssize_t count = ::send(socket, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return reply.bytes == std::string::npos;
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> closing_ = false;
  std::atomic<int> connection_count_ = 0, request_count_ = 0;
  std::vector<std::jthread> connections_;  // touched by the acceptor alone until it is joined
  std::jthread acceptor_;
};

}  // namespace harmonia::test
