#include "multi_events.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "../model/pipe_signal.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {

void require(CURLMcode code) {
  if (code != CURLM_OK)
    throw Error(ErrorCode::model, fmt::format("libcurl fails: {}", curl_multi_strerror(code)));
}

void MultiEvents::FreeMulti::operator()(CURLM* multi) const {
  const PipeSignalGuard guard;
  curl_multi_cleanup(multi);
}

MultiEvents::MultiEvents() : queue_(::epoll_create1(EPOLL_CLOEXEC)), multi_(curl_multi_init()) {
  if (queue_ < 0) throw Error(ErrorCode::model, "the system has no event queue to give");
  if (!multi_) throw std::bad_alloc();
  require(curl_multi_setopt(multi(), CURLMOPT_SOCKETFUNCTION, &watch));
  require(curl_multi_setopt(multi(), CURLMOPT_SOCKETDATA, this));
  require(curl_multi_setopt(multi(), CURLMOPT_TIMERFUNCTION, &set_timer));
  require(curl_multi_setopt(multi(), CURLMOPT_TIMERDATA, this));
}

MultiEvents::~MultiEvents() {
  multi_.reset();
  if (queue_ >= 0) ::close(queue_);
}

int MultiEvents::watch(CURL*, curl_socket_t socket, int what, void* events, void* known) {
  auto& self = *static_cast<MultiEvents*>(events);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(self.queue_, EPOLL_CTL_DEL, socket, nullptr);  // it may be closed already
    return 0;
  }
  epoll_event event{};
  event.data.fd = socket;
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  const int change = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(self.queue_, change, socket, &event) != 0) return -1;
  curl_multi_assign(self.multi(), socket, &self);  // from now on it is known
  return 0;
}

int MultiEvents::set_timer(CURLM*, long milliseconds, void* events) {
  auto& due = static_cast<MultiEvents*>(events)->due_;
  due.reset();
  if (milliseconds >= 0) due = Clock::now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

void MultiEvents::act(curl_socket_t socket, int events) const {
  const PipeSignalGuard guard;  // libcurl leaves the signal of a closed connection to us
  int running = 0;
  require(curl_multi_socket_action(multi(), socket, events, &running));
}

void MultiEvents::advance() {
  if (due_ && *due_ <= Clock::now()) {
    due_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  }
}

void MultiEvents::wait(std::chrono::milliseconds longest) {
  using std::chrono::milliseconds;
  if (due_) longest = std::min(longest, std::chrono::ceil<milliseconds>(*due_ - Clock::now()));
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(queue_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(std::max(longest, milliseconds(0)).count()));
  for (int i = 0; i < count; ++i) {
    const std::uint32_t seen = events.at(static_cast<std::size_t>(i)).events;
    const int what = ((seen & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((seen & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((seen & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    act(events.at(static_cast<std::size_t>(i)).data.fd, what);
  }
  advance();
}

}  // namespace harmonia
