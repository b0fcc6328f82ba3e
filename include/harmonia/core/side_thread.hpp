#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace harmonia {

/// A thread that does one piece of work after another beside the one that owns it.
class SideThread {
 public:
  /// Throws Error(usage) if the system has no thread to give.
  SideThread();
  /// Waits for work that has begun.
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  /// Gives it work; what it was given before is finished.
  void start(std::function<void()> work);
  /// Has the work finished: waits for it if it has begun, and does it here if not, as on a machine that is
  /// busy. What it threw is thrown here.
  void finish();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::function<void()> work_;  // that has not begun
  bool busy_ = false, closing_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;
};

}  // namespace harmonia
