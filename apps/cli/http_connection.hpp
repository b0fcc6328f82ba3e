#pragma once

#include <httplib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>

#include "http_server.hpp"

namespace harmonia {

/// Tells a client that too many others are there, hardly waiting for it, and closes the socket.
void refuse_connection(socket_t socket);

/// A client's connection that gives every request so long, and so many bytes, and no more: a client that
/// sends a byte now and then does not keep a thread.
class HttpConnection final : public httplib::Stream {
 public:
  /// stopping: nothing more is read once it is true.
  HttpConnection(socket_t socket, const HttpLimits& limits, const std::atomic<bool>& stopping);
  /// Says that nothing more is sent, takes for a moment what still comes, so that the client reads the
  /// answer, and closes the socket.
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Waits for the first byte of a request. False: none came in time.
  bool wait();
  /// A request begins: its time runs from now.
  void begin();
  /// The head of the request, as far as it was read.
  const std::string& head() const { return head_; }

  bool is_readable() const override;
  /// Whether something can be sent, and the client is still there.
  bool is_writable() const override;
  ssize_t read(char* data, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool wait_until(Clock::time_point end) const;
  bool fill();
  void follow_head(char c);

  const socket_t socket_;
  const HttpLimits& limits_;
  const std::atomic<bool>& stopping_;
  std::array<char, 16384> buffer_{};
  std::size_t at_ = 0, end_ = 0;
  Clock::time_point deadline_;
  bool in_head_ = true;
  std::string head_;
  std::size_t line_ = 0;   // bytes of the line so far
  std::size_t taken_ = 0;  // bytes of the head, then of the body
};

}  // namespace harmonia
