#include "pipe_signal.hpp"

#include <cerrno>

namespace harmonia {

PipeSignalGuard::PipeSignalGuard() {
  sigset_t pending;
  ::sigemptyset(&pipe_signal_);
  ::sigaddset(&pipe_signal_, SIGPIPE);
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal_, &before_);
}

PipeSignalGuard::~PipeSignalGuard() {
  const int error = errno;
  // One that was raised meanwhile is taken back; it would be delivered when the mask is.
  const timespec at_once{};
  while (!was_pending_ && ::sigtimedwait(&pipe_signal_, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace harmonia
