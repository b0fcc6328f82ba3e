#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "../model/pipe_signal.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/monitor/alert_sink.hpp"
#include "queued_sink.hpp"

namespace harmonia {
namespace {

constexpr int kTick = 100;  // milliseconds between looks whether to stop

/// Appends lines to a descriptor, whole ones alone.
class LineWriter {
 public:
  LineWriter(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {}
  ~LineWriter() {
    if (owned_) ::close(descriptor_);
  }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  Delivery write(const std::string& line, const std::stop_token& stop) {
    const PipeSignalGuard guard;
    // What the disk had no room for is left behind as a line of its own.
    const std::string bytes = (torn_ ? "\n" : "") + line + "\n";
    std::size_t done = 0;
    while (done < bytes.size()) {
      pollfd state{descriptor_, POLLOUT, 0};
      if (::poll(&state, 1, kTick) == 0) {
        if (!stop.stop_requested()) continue;
        torn_ = torn_ || done > 0;
        return {"nobody reads it", true};
      }
      // A pipe that can be written to has room for so much.
      const ssize_t count =
          ::write(descriptor_, bytes.data() + done, std::min<std::size_t>(bytes.size() - done, PIPE_BUF));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        const int reason = errno;
        torn_ = torn_ || done > 0;
        return {std::generic_category().message(reason), reason != EPIPE && reason != EBADF};
      }
      done += static_cast<std::size_t>(count);
    }
    torn_ = false;
    return {};
  }

 private:
  int descriptor_;
  bool owned_;
  bool torn_ = false;  // the last line has no end
};

}  // namespace

std::unique_ptr<AlertSink> open_line_sink(const std::string& path, const AlertSinkOptions& options) {
  const bool standard = path == "-";
  const int descriptor =
      standard ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0)
    throw Error(ErrorCode::input,
                fmt::format("{} cannot be written: {}", path, std::generic_category().message(errno)));
  const auto writer = std::make_shared<LineWriter>(descriptor, !standard);
  return std::make_unique<QueuedSink>(
      standard ? "standard output" : path, "file", options,
      [writer](const std::string& line, const std::stop_token& stop) { return writer->write(line, stop); });
}

}  // namespace harmonia
