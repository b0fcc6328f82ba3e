#include "device_threads.hpp"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace harmonia {

DeviceThread::DeviceThread(c10::Device device)
    : stream_(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device)),
      thread_([this] { work(); }) {}

DeviceThread::~DeviceThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void DeviceThread::run(const std::function<void()>& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  wake_.notify_one();
  done_.wait(lock, [this] { return task_ == nullptr; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void DeviceThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return closing_ || task_ != nullptr; });
    if (closing_) return;
    try {
      const c10::StreamGuard own(stream_);
      (*task_)();
    } catch (...) {
      failure_ = std::current_exception();
    }
    task_ = nullptr;
    done_.notify_one();
  }
}

std::unique_ptr<DeviceThread> DeviceThreads::taken() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !idle_.empty() || count_ < most_; });
  if (idle_.empty()) {
    auto made = std::make_unique<DeviceThread>(device_);
    ++count_;
    return made;
  }
  std::unique_ptr<DeviceThread> thread = std::move(idle_.back());
  idle_.pop_back();
  return thread;
}

void DeviceThreads::run(const std::function<void()>& task) {
  std::unique_ptr<DeviceThread> thread = taken();
  std::exception_ptr failure;
  try {
    thread->run(task);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thread));
  }
  returned_.notify_one();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace harmonia
