#include "http_connection.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace harmonia {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kFraming = std::size_t{1} << 20;  // bytes that chunks may add to a body

std::chrono::steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(value));
}

bool wait_for(socket_t socket, short events, milliseconds longest) {
  pollfd waiting{socket, events, 0};
  int found = 0;
  do found = poll(&waiting, 1, static_cast<int>(std::max<long long>(longest.count(), 0)));
  while (found < 0 && errno == EINTR);
  return found > 0 && (waiting.revents & (events | POLLHUP)) != 0;
}

void read_address(const sockaddr_storage& from, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (from.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (from.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &from, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

template <class Name>
void read_end(Name name, socket_t socket, std::string& ip, int& port) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  // The sockets' interface knows addresses of all kinds by one type.
  if (name(socket, reinterpret_cast<sockaddr*>(&storage), &size) == 0) read_address(storage, ip, port);
}

}  // namespace

void refuse_connection(socket_t socket) {
  constexpr std::string_view kBusy =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  constexpr milliseconds kMoment{5};
  std::array<char, 4096> asked{};
  // A socket that is closed before what came was read takes back what was sent.
  if (wait_for(socket, POLLIN, kMoment)) recv(socket, asked.data(), asked.size(), MSG_DONTWAIT);
  send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  close(socket);
}

HttpConnection::HttpConnection(socket_t socket, const HttpLimits& limits, const std::atomic<bool>& stopping)
    : socket_(socket), limits_(limits), stopping_(stopping) {
  begin();
}

HttpConnection::~HttpConnection() {
  constexpr milliseconds kLinger{500};
  constexpr std::size_t kMost = std::size_t{4} << 20;
  shutdown(socket_, SHUT_WR);
  const Clock::time_point end = Clock::now() + kLinger;
  for (std::size_t taken = 0; taken < kMost;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (left.count() <= 0 || !wait_for(socket_, POLLIN, left)) break;
    const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count <= 0) break;
    taken += static_cast<std::size_t>(count);
  }
  close(socket_);
}

bool HttpConnection::wait_until(Clock::time_point end) const {
  constexpr milliseconds kTick{100};
  while (!stopping_) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    if (wait_for(socket_, POLLIN, std::min(left, kTick))) return true;
  }
  return false;
}

bool HttpConnection::wait() { return at_ < end_ || wait_until(Clock::now() + seconds(limits_.idle_seconds)); }

void HttpConnection::begin() {
  deadline_ = Clock::now() + seconds(limits_.head_seconds);
  in_head_ = true;
  head_.clear();
  line_ = taken_ = 0;
}

bool HttpConnection::is_readable() const { return at_ < end_ || wait_for(socket_, POLLIN, milliseconds{0}); }

bool HttpConnection::is_writable() const {
  char c = 0;
  const ssize_t ahead = recv(socket_, &c, 1, MSG_PEEK | MSG_DONTWAIT);
  return ahead != 0 && wait_for(socket_, POLLOUT, milliseconds{0});
}

bool HttpConnection::fill() {
  if (!wait_until(deadline_)) return false;
  const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), 0);
  if (count <= 0) return false;
  at_ = 0;
  end_ = static_cast<std::size_t>(count);
  return true;
}

// A blank line ends the head.
void HttpConnection::follow_head(char c) {
  head_ += c;
  if (c == '\r') return;
  if (c != '\n') {
    ++line_;
  } else if (line_ > 0) {
    line_ = 0;
  } else {
    in_head_ = false;
    taken_ = 0;
    deadline_ = Clock::now() + seconds(limits_.body_seconds);
  }
}

ssize_t HttpConnection::read(char* data, std::size_t size) {
  if (taken_ >= (in_head_ ? limits_.head : limits_.body + kFraming)) return -1;
  if (at_ == end_ && !fill()) return -1;
  const std::size_t count = std::min(size, in_head_ ? 1 : end_ - at_);
  std::memcpy(data, buffer_.data() + at_, count);
  at_ += count;
  taken_ += count;
  if (in_head_ && count > 0) follow_head(*data);
  return static_cast<ssize_t>(count);
}

ssize_t HttpConnection::write(const char* data, std::size_t size) {
  constexpr milliseconds kLongest{5000};  // without a byte being taken
  if (!wait_for(socket_, POLLOUT, kLongest)) return -1;
  return send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void HttpConnection::get_remote_ip_and_port(std::string& ip, int& port) const {
  read_end(getpeername, socket_, ip, port);
}

void HttpConnection::get_local_ip_and_port(std::string& ip, int& port) const {
  read_end(getsockname, socket_, ip, port);
}

}  // namespace harmonia
