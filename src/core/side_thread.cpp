#include "harmonia/core/side_thread.hpp"

#include <fmt/format.h>

#include <cassert>
#include <system_error>
#include <utility>

#include "harmonia/core/error.hpp"

namespace harmonia {

SideThread::SideThread() try : thread_([this] { run(); }) {
} catch (const std::system_error& error) {
  throw Error(ErrorCode::usage, fmt::format("2 threads: the system gives no more than 1 ({}); ask for one",
                                            error.code().message()));
}

SideThread::~SideThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
}

void SideThread::start(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    assert(!work_ && !busy_);
    work_ = std::move(work);
  }
  wake_.notify_one();
}

void SideThread::finish() {
  std::unique_lock lock(mutex_);
  if (const std::function<void()> work = std::exchange(work_, nullptr)) {
    lock.unlock();
    work();
    return;
  }
  done_.wait(lock, [this] { return !busy_; });
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void SideThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return closing_ || work_; });
    if (closing_) return;
    const std::function<void()> work = std::exchange(work_, nullptr);
    busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    failure_ = failure;
    done_.notify_one();
  }
}

}  // namespace harmonia
