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
    busy_ = workers_.size();
    failure_ = nullptr;
    ++round_;
  }
  wake_.notify_all();
  take(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::work(std::size_t worker) {
  std::size_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || round_ != seen; });
      if (closing_) return;
      seen = round_;
    }
    take(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::take(std::size_t worker) {
  for (;;) {
    std::size_t i = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= count_) return;
      i = next_++;
    }
    try {
      (*task_)(worker, i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }
}

}  // namespace harmonia
