#include "harmonia/core/parallel.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "harmonia/core/error.hpp"

namespace harmonia {

std::size_t hardware_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<std::size_t>(CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(std::size_t threads) {
  try {
    for (std::size_t worker = 1; worker < threads; ++worker) {
      workers_.emplace_back([this, worker] { work(worker); });
    }
  } catch (const std::system_error& error) {
    close();  // otherwise those that were started would be waited for, and would wait
    throw Error(ErrorCode::usage, fmt::format("{} threads: the system gives no more than {} ({})", threads,
                                              workers_.size() + 1, error.code().message()));
  }
}

ThreadPool::~ThreadPool() { close(); }

void ThreadPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    failure_ = nullptr;
  }
  for (std::size_t helper = 1; helper < std::min(count, threads()); ++helper) wake_.notify_one();
  take(0);
  // A worker that has not yet woken has nothing left to take, and is not waited for.
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::work(std::size_t worker) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || next_ < count_; });
      if (closing_) return;
    }
    take(worker);
  }
}

void ThreadPool::take(std::size_t worker) {
  std::unique_lock lock(mutex_);
  while (next_ < count_) {
    const std::size_t i = next_++;
    const auto& task = *task_;
    ++running_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      task(worker, i);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure) {
      if (!failure_) failure_ = failure;
      next_ = count_;
    }
  }
  if (running_ == 0) done_.notify_one();
}

}  // namespace harmonia
