#include "connections.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace harmonia {
namespace {

constexpr std::size_t kMostConnections = 512;

// One end of a connection: address and port. None if the number is of no such socket.
std::optional<std::pair<std::string, int>> end_of(int socket, int (*name_of)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const generic = static_cast<sockaddr*>(static_cast<void*>(&address));
  if (name_of(socket, generic, &size) != 0) return std::nullopt;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return std::nullopt;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(generic, size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return std::nullopt;
  return std::pair(std::string(host.data()), std::atoi(port.data()));
}

}  // namespace

void ConnectionThreads::enqueue(std::function<void()> connection) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(connection));
  if (waiting_.size() > idle_ && threads_.size() < kMostConnections)
    threads_.emplace_back([this] { work(); });
  entered_.notify_one();
}

void ConnectionThreads::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  entered_.notify_all();
  threads_.clear();  // joins
}

void ConnectionThreads::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    entered_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
  }
}

CallsUnderWay::CallsUnderWay(httplib::Server& server) {
  server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response&) {
    const std::lock_guard lock(mutex_);
    busy_.emplace(request.remote_addr, request.remote_port);
    return httplib::Server::HandlerResponse::Unhandled;
  });
  // Called when the answer has been written.
  server.set_logger([this](const httplib::Request& request, const httplib::Response&) {
    const std::lock_guard lock(mutex_);
    busy_.erase({request.remote_addr, request.remote_port});
  });
}

// httplib tells nobody its sockets: they are found among the open files of the process, by their port.
void CallsUnderWay::shut_idle(int port) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int socket = std::atoi(entry.path().filename().c_str());
    const auto own = end_of(socket, getsockname), client = end_of(socket, getpeername);
    if (!own || !client || own->second != port) continue;
    const std::lock_guard lock(mutex_);
    // Reading alone: a call that has come this moment is still answered.
    if (!busy_.contains(*client)) ::shutdown(socket, SHUT_RD);
  }
}

}  // namespace harmonia
