#include "interrupt.hpp"

#include <pthread.h>

#include <csignal>
#include <thread>

namespace harmonia {

std::stop_token stop_on_interrupt() {
  // A thread that waits for the signals: request_stop() may not be called from a signal handler. It is
  // started before any other thread, so that all of them leave the signals to it.
  static std::stop_source source;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int number = 0;
    sigwait(&signals, &number);
    source.request_stop();
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }).detach();
  return source.get_token();
}

}  // namespace harmonia
