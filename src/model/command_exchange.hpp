#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "child_process.hpp"
#include "harmonia/core/rows.hpp"

namespace harmonia {

/// How one batch is put to a program.
struct ExchangeOptions {
  std::stop_token stop;                   ///< when asked, the process is ended and Error(interrupted) thrown
  std::string name;                       ///< the model, as errors call it
  std::chrono::milliseconds timeout{0};   ///< longest wait for one line, or for the pipe to take more rows
  std::chrono::milliseconds patience{0};  ///< silence after which the input is closed to make it answer
  std::chrono::milliseconds linger{0};    ///< time to watch for lines that nobody asked for
  bool kept = false;                      ///< it has answered a batch before
  bool close_input = false;               ///< close the input after the last row
};

/// What a program was found to be while it answered a batch.
enum class AfterExchange {
  ready,           ///< all rows answered, waiting for more
  ended,           ///< all rows answered, then it ended
  ended_by_input,  ///< as ended, and it answered only once its input was closed
  gone,            ///< it had ended without fault before it could answer any row of this batch
};

/// Sends the rows of x to the program and gives every line that comes back, in order, to
/// answer(row, line). Sends and receives at once, so that neither side ever waits for the other with a full
/// pipe. Throws Error(model) if it ends, stops answering or writes more or fewer lines than rows; what
/// answer() throws passes through.
AfterExchange exchange(ChildProcess& process, const ExchangeOptions& options, RowsView x,
                       const std::function<void(std::size_t row, std::string_view line)>& answer);

/// Error(model) about the program: what happened, and the last line that it wrote to standard error.
[[noreturn]] void fail_command(const std::string& name, const std::string& what,
                               const std::string& error_line);

}  // namespace harmonia
