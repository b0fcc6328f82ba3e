#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// How a server of httplib holds its connections. The one file that includes httplib's header.
namespace harmonia {

/// A thread for every connection, made when there is none to spare: a connection has its thread while it is
/// open, and an answer of the upstream may take minutes.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> connection) override;
  void shutdown() override;

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable entered_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

/// Knows which clients have a call under way, so that a server that ends does not wait until the others, who
/// only keep their connections open, have been silent long enough.
class CallsUnderWay {
 public:
  /// Takes the server's pre-routing handler and its logger.
  explicit CallsUnderWay(httplib::Server& server);
  /// Shuts the connections of clients without a call; the server then closes them. port: the server's.
  void shut_idle(int port);

 private:
  using Client = std::pair<std::string, int>;  // address and port

  std::mutex mutex_;
  std::set<Client> busy_;
};

}  // namespace harmonia
