#include "harmonia/monitor/text_stream.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "batch_builder.hpp"
#include "harmonia/core/error.hpp"
#include "line_buffer.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kPartition = "0";

class InputStream final : public RowStream {
 public:
  InputStream(int descriptor, std::string name, const std::vector<std::string>& features,
              const TextStreamOptions& options)
      : descriptor_(descriptor),
        name_(std::move(name)),
        note_(options.note),
        reader_(features, {name_, options.form, true, options.id}),
        builder_(features.size()) {}

  void start(const StreamPositions& kept) override {
    const auto found = kept.find(kPartition);
    if (found == kept.end()) return;
    position_ = found->second;
    if (note_)
      note_(
          fmt::format("{} cannot be read again: its rows are numbered from {} on, and rows that were read "
                      "before and not kept are lost; how many is not known",
                      name_, position_));
  }

  Arrival next(StreamBatch& batch, milliseconds wait) override {
    const auto deadline = Clock::now() + wait;
    builder_.begin(kPartition, position_);
    for (;;) {
      std::string_view line;
      while (builder_.size() < BatchBuilder::kMost && lines_.next(line)) take(line);
      if (builder_.size() == BatchBuilder::kMost || at_end_) break;
      // Rows that are there do not wait for others.
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
      if (!readable(builder_.size() > 0 ? milliseconds(0) : std::max(left, milliseconds(0)))) break;
      if (!fill()) break;
    }
    if (builder_.size() > 0) {
      batch = builder_.end(position_);
      return Arrival::rows;
    }
    return at_end_ ? Arrival::end : Arrival::nothing;
  }

  void kept(const StreamBatch& /*batch*/, bool /*fresh*/) override {}

 private:
  bool readable(milliseconds wait) const {
    pollfd state{descriptor_, POLLIN, 0};
    return ::poll(&state, 1, static_cast<int>(std::min<milliseconds::rep>(wait.count(), 60000))) > 0;
  }

  // False: nothing is there at the moment.
  bool fill() {
    const std::span<char> room = lines_.room();
    const ssize_t count = ::read(descriptor_, room.data(), room.size());
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      throw Error(ErrorCode::input, fmt::format("{}: {}", name_, std::generic_category().message(errno)));
    if (count < 0) return false;
    if (count > 0) {
      lines_.add(static_cast<std::size_t>(count));
      return true;
    }
    at_end_ = true;
    take(lines_.rest());
    lines_.clear();
    return true;
  }

  void take(std::string_view line) {
    const LineKind kind = reader_.read(line, row_);
    if (kind == LineKind::row || kind == LineKind::refused) builder_.add(position_++, row_);
  }

  int descriptor_;
  std::string name_;
  Note note_;
  RowReader reader_;
  BatchBuilder builder_;
  LineBuffer lines_{RowReader::kLongestLine};
  ReadRow row_;
  std::uint64_t position_ = 0;
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<RowStream> open_input_stream(int descriptor, const std::string& name,
                                             const std::vector<std::string>& features,
                                             const TextStreamOptions& options) {
  return std::make_unique<InputStream>(descriptor, name, features, options);
}

}  // namespace harmonia
