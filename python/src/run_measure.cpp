#include "run_measure.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "interrupt.hpp"

namespace nb = nanobind;

namespace harmonia::python {
namespace {

constexpr std::chrono::milliseconds kBetween{100};  // two signs of progress

// Tells Python how far a run is, not too often, and hears of Ctrl-C.
class Teller {
 public:
  explicit Teller(const nb::object& function) : function_(function) {}

  bool due() const { return std::chrono::steady_clock::now() - last_ >= kBetween; }
  /// Call with the GIL held.
  void tell(const Progress& progress) {
    last_ = std::chrono::steady_clock::now();
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!function_.is_none()) function_(progress.rows_done, progress.rows, progress.evaluations);
  }

 private:
  const nb::object& function_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_here(const nb::object& progress, const std::function<void(ProgressSink)>& work) {
  Teller teller(progress);
  const nb::gil_scoped_release released;
  work([&](const Progress& now) {
    if (!teller.due()) return;
    const nb::gil_scoped_acquire held;
    teller.tell(now);
  });
}

void run_measure(const std::vector<const PythonModel*>& models, const nb::object& progress,
                 const std::function<void(ProgressSink)>& work) {
  if (std::any_of(models.begin(), models.end(), [](const PythonModel* model) { return model->callable; })) {
    // On this very thread, so that Ctrl-C, tracebacks and debuggers are as the function's author knows them.
    run_here(progress, work);
    return;
  }
  Teller teller(progress);
  std::mutex mutex;
  Progress latest;
  std::stop_source stop = models.front()->stop;
  const std::stop_callback forward(stop.get_token(), [&] {
    for (const PythonModel* model : models) model->stop.request_stop();
  });
  run_interruptibly(
      stop,
      [&] {
        work([&](const Progress& now) {
          const std::lock_guard lock(mutex);
          latest = now;
        });
      },
      [&] {
        if (!teller.due()) return;
        Progress now;
        {
          const std::lock_guard lock(mutex);
          now = latest;
        }
        teller.tell(now);
      });
}

}  // namespace harmonia::python
