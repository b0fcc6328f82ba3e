#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "harmonia/monitor/monitor.hpp"
#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// Who is told what while a stream is watched; notes come from several threads.
struct WatchListener {
  std::function<void(const Alert&)> alert;       ///< one began, ended, or is complete
  std::function<void(const std::string&)> note;  ///< a sentence that a user should know
};

/// Takes the stream's rows into the monitor until it ends or is stopped. A model that does not answer is
/// asked again, at longer and longer intervals: nothing is lost meanwhile. A file that cannot be written is
/// said, and rows are measured on; who sent them is told when they are kept.
void watch(Monitor& monitor, RowStream& stream, const WatchListener& listener, const std::stop_token& stop);

}  // namespace harmonia
