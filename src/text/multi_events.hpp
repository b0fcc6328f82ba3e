#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "../model/http_attempt.hpp"

namespace harmonia {

/// Drives the transfers of a multi handle by what happens on their sockets: what one wake-up costs does not
/// grow with the number of connections, as it does with curl_multi_perform. From one thread.
class MultiEvents {
 public:
  /// Throws Error(model) if the system has no event queue to give.
  MultiEvents();
  ~MultiEvents();
  MultiEvents(const MultiEvents&) = delete;
  MultiEvents& operator=(const MultiEvents&) = delete;

  CURLM* multi() const { return multi_.get(); }
  /// Begins what was added, and does what is due by now.
  void advance();
  /// Waits until something comes, at most so long, and does what it takes.
  void wait(std::chrono::milliseconds longest);

 private:
  using Clock = std::chrono::steady_clock;
  struct FreeMulti {
    void operator()(CURLM* multi) const;
  };

  static int watch(CURL* handle, curl_socket_t socket, int what, void* events, void* known);
  static int set_timer(CURLM* multi, long milliseconds, void* events);
  void act(curl_socket_t socket, int events) const;

  int queue_ = -1;                           // of epoll
  std::optional<Clock::time_point> due_;     // of the next thing to do without an event
  std::unique_ptr<CURLM, FreeMulti> multi_;  // last: says goodbye to its sockets
};

/// Throws Error(model) for a failure of libcurl itself.
void require(CURLMcode code);

}  // namespace harmonia
