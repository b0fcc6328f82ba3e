#pragma once

#include <c10/core/Stream.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace harmonia {

/// A thread with a stream of a GPU.
class DeviceThread {
 public:
  explicit DeviceThread(c10::Device device);
  ~DeviceThread();
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  /// Does the task on the thread, with its stream as the current one, and waits; throws what the task throws.
  void run(const std::function<void()>& task);

 private:
  void work();

  c10::Stream stream_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void()>* task_ = nullptr;
  std::exception_ptr failure_;
  bool closing_ = false;
  std::thread thread_;
};

/// As many such threads as tasks were ever under way at once, up to a limit; further tasks wait. What one
/// call sends and fetches does not wait for another's work, as it would on one stream; and the threads stay,
/// and are few, because cuDNN's plans, which take long to make, are kept for each thread.
class DeviceThreads {
 public:
  DeviceThreads(c10::Device device, std::size_t most) : device_(device), most_(most) {}
  /// Another limit; before the first task that it is for.
  void allow(std::size_t most) { most_ = most; }
  /// Does the task on one of them. Safe to call from several threads.
  void run(const std::function<void()>& task);

 private:
  std::unique_ptr<DeviceThread> taken();

  c10::Device device_;
  std::size_t most_, count_ = 0;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<DeviceThread>> idle_;
};

}  // namespace harmonia
