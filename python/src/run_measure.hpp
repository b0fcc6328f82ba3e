#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

#include "harmonia/core/run.hpp"
#include "subject.hpp"

namespace harmonia::python {

/// Takes word of how far a run is, on the run's thread.
using ProgressSink = std::function<void(const Progress&)>;

/// Runs `work`, which calls Python, on this thread without the GIL. `progress` is called with (rows done,
/// rows or None, evaluations) now and then, unless it is None. Ctrl-C raises KeyboardInterrupt. Call with the
/// GIL held.
void run_here(const nanobind::object& progress, const std::function<void(ProgressSink)>& work);

/// Runs `work` without the GIL: on this thread if one of the models is Python's, else on one of its own. The
/// rest is as for run_here().
void run_measure(const std::vector<const PythonModel*>& models, const nanobind::object& progress,
                 const std::function<void(ProgressSink)>& work);

}  // namespace harmonia::python
