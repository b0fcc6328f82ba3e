#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace harmonia {

/// Cores that this process may use.
std::size_t hardware_threads();

/// Workers that stay for many short loops.
class ThreadPool {
 public:
  /// Throws Error(usage) if the system has not that many threads to give.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  /// Calls task(worker, i) once for every i < count, on all workers and the calling thread, and waits.
  /// Indices are taken in ascending order. The first exception stops the loop and is thrown here.
  void run(std::size_t count, const std::function<void(std::size_t worker, std::size_t i)>& task);

 private:
  void close();
  void work(std::size_t worker);
  void take(std::size_t worker);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t, std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0, next_ = 0, running_ = 0;
  std::exception_ptr failure_;
  bool closing_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace harmonia
