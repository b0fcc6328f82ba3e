#pragma once

#include <functional>
#include <stop_token>

namespace harmonia::python {

/// Runs `work`, which does not touch Python, without the GIL on a thread of its own, and looks after Ctrl-C
/// and `between` (with the GIL) meanwhile. Ctrl-C asks `stop`, waits for the work to end, and raises
/// KeyboardInterrupt. What work throws is thrown here. Call with the GIL held.
void run_interruptibly(const std::stop_source& stop, const std::function<void()>& work,
                       const std::function<void()>& between = {});

}  // namespace harmonia::python
