#include "interrupt.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace nb = nanobind;

namespace harmonia::python {
namespace {

constexpr std::chrono::milliseconds kBetween{50};  // two looks at what is pending

}  // namespace

void run_interruptibly(const std::stop_source& stop, const std::function<void()>& work,
                       const std::function<void()>& between) {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure, raised;
  {
    const nb::gil_scoped_release released;
    std::jthread worker([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_all();
    });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kBetween, [&] { return done; })) {
      if (raised) continue;
      lock.unlock();
      try {
        const nb::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (between) between();
      } catch (...) {
        raised = std::current_exception();
        stop.request_stop();
      }
      lock.lock();
    }
  }
  if (raised) std::rethrow_exception(raised);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace harmonia::python
