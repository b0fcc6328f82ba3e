#pragma once

#include <signal.h>

namespace harmonia {

/// While it lives, writing to a pipe or socket that nobody reads fails with EPIPE and raises nothing. Only
/// this thread's mask changes: what the process does with SIGPIPE is not ours to decide.
class PipeSignalGuard {
 public:
  PipeSignalGuard();
  ~PipeSignalGuard();
  PipeSignalGuard(const PipeSignalGuard&) = delete;
  PipeSignalGuard& operator=(const PipeSignalGuard&) = delete;

 private:
  sigset_t pipe_signal_, before_;
  bool was_pending_;
};

}  // namespace harmonia
