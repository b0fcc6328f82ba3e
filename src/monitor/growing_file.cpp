#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "batch_builder.hpp"
#include "file_history.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/monitor/text_stream.hpp"
#include "line_buffer.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{50};    // between looks at a file's end
constexpr milliseconds kGrace{500};  // for a writer that has not noticed that its file was moved away
constexpr std::size_t kNameLength = 16;

class GrowingFile final : public RowStream {
 public:
  GrowingFile(std::string path, const std::vector<std::string>& features, const TextStreamOptions& options)
      : path_(std::move(path)),
        follow_(options.follow),
        note_(options.note),
        reader_(features, {path_, options.form, true, options.id}),
        builder_(features.size()),
        marks_(options.marks) {}
  ~GrowingFile() override { close(); }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void start(const StreamPositions& kept) override { positions_ = kept; }

  Arrival next(StreamBatch& batch, milliseconds wait) override {
    const auto deadline = Clock::now() + wait;
    builder_.begin(partition_, position_);
    for (;;) {
      take_lines();
      // What is there comes along, and what is not is not waited for; but many lines may have to be skipped.
      const bool more = builder_.size() < BatchBuilder::kMost && read_on();
      if (more && (position_ >= skip_ || Clock::now() < deadline)) continue;
      if (builder_.size() > 0) {
        batch = builder_.end(position_);
        batch.mark = history_.text();
        positions_[partition_] = position_;
        marks_[partition_] = batch.mark;
        return Arrival::rows;
      }
      if (ended_) return Arrival::end;
      if (!more && descriptor_ >= 0) look_at_end();
      if (ended_ || rest_is_line_) continue;
      if (Clock::now() >= deadline) return Arrival::nothing;
      std::this_thread::sleep_for(std::min<Clock::duration>(kTick, deadline - Clock::now()));
    }
  }

  void kept(const StreamBatch& /*batch*/, bool /*fresh*/) override {}

 private:
  // Puts whole lines into the batch.
  void take_lines() {
    std::string_view line;
    while (builder_.size() < BatchBuilder::kMost && lines_.next(line)) take(line);
    if (builder_.size() < BatchBuilder::kMost && rest_is_line_) {
      take(lines_.rest(), false);
      lines_.clear();
      rest_is_line_ = false;
    }
  }

  // A line without its end may become another: it counts, and the file is not known by it.
  void take(std::string_view line, bool whole = true) {
    if (!partition_.empty() && position_ < skip_) {
      if (!trim(line).empty()) skip(line);
      return;
    }
    const LineKind kind = reader_.read(line, row_);
    if (kind == LineKind::blank) return;
    if (partition_.empty()) first_lines_.append(line).push_back('\n');
    if (kind == LineKind::header) return;
    if (partition_.empty()) {
      know_file();
      if (skip_ > 0) {
        skip(line);
        return;
      }
    }
    if (builder_.size() == 0) builder_.begin(partition_, position_);
    builder_.add(position_++, row_);
    if (whole) history_.add(line);
  }

  // A row that is kept, if this is the file that it was kept of.
  void skip(std::string_view line) {
    ++position_;
    history_.add(line);
    const bool is_marked = std::has_single_bit(position_) || position_ == skip_;
    if (is_marked && history_.differs_from(marks_[partition_])) read_as_another();
  }

  // It began like one that is kept, and went on otherwise.
  void read_as_another() {
    if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail(errno);
    others_.insert(partition_);
    forget_what_was_read();
    ended_ = false;
  }

  // Its header and first row are there: which file it is; of those that begin so, the last that it can be.
  void know_file() {
    const std::string name = sha256_hex(first_lines_).substr(0, kNameLength);
    first_lines_.clear();
    const auto numbered = [&](std::size_t number) {
      return number == 1 ? name : fmt::format("{}-{}", name, number);
    };
    std::size_t number = 1;
    while (positions_.contains(numbered(number))) ++number;
    partition_ = numbered(number);
    while (--number > 0 && others_.contains(numbered(number))) {
    }
    if (number > 0) partition_ = numbered(number);
    const auto found = positions_.find(partition_);
    skip_ = found == positions_.end() ? 0 : found->second;
    if (found == positions_.end() && !others_.empty())
      note(
          fmt::format("{} begins like a file that is kept, and is another one: all of it is counted", path_));
    if (others_.empty() && found == positions_.end() && !positions_.empty() && !followed_)
      note(fmt::format(
          "{} is none of the files that are kept: it is read from its beginning; what was added to "
          "the one before it, after it was read last, is not counted",
          path_));
    followed_ = true;
  }

  // False: nothing came.
  bool read_on() {
    if (descriptor_ < 0 && !open()) return false;
    const std::span<char> room = lines_.room();
    const ssize_t count = ::read(descriptor_, room.data(), room.size());
    if (count < 0 && errno != EINTR) fail(errno);
    if (count <= 0) return false;
    lines_.add(static_cast<std::size_t>(count));
    read_ += static_cast<std::uint64_t>(count);
    return true;
  }

  // What became of the file, of which all was read.
  void look_at_end() {
    if (!follow_ || opened_ == 1) {
      check_length();
    } else if (!partition_.empty() && position_ < skip_ && !std::exchange(told_, true)) {
      note(fmt::format(
          "{} begins with rows of a file that is kept: unless others follow that differ, they are "
          "not counted again",
          path_));
    }
    struct stat here {};
    if (::fstat(descriptor_, &here) != 0) fail(errno);
    if (!follow_) {
      rest_is_line_ = ended_ = true;
    } else if (static_cast<std::uint64_t>(here.st_size) < read_) {
      note(fmt::format("{} was cut: it is read from its beginning", path_));
      close();
    } else if (!moved_at_ && was_moved(here)) {
      moved_at_ = Clock::now();
    } else if (moved_at_ && Clock::now() >= *moved_at_ + kGrace) {
      rest_is_line_ = !lines_.rest().empty();  // nobody will end it
      if (!rest_is_line_) close();
    }
  }

  // Whether another file is in its place.
  bool was_moved(const struct stat& here) const {
    struct stat there {};
    return ::stat(path_.c_str(), &there) == 0 && (there.st_ino != here.st_ino || there.st_dev != here.st_dev);
  }

  // All of the file was read: it has as many rows as are kept of it.
  void check_length() const {
    const std::uint64_t rows = position_ + (trim(lines_.rest()).empty() ? 0 : 1);
    if (!partition_.empty() && rows < skip_)
      throw Error(ErrorCode::input,
                  fmt::format("{} has {}, and {} of it are kept: it was cut; give the whole file, or start "
                              "with new state",
                              path_, counted(rows, "row"), skip_));
  }

  bool open() {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 && follow_ && errno == ENOENT) {
      if (!std::exchange(waiting_, true)) note(fmt::format("waiting for {}: there is no such file", path_));
      return false;
    }
    if (descriptor_ < 0) fail(errno);
    waiting_ = false;
    ++opened_;
    struct stat here {};
    if (::fstat(descriptor_, &here) != 0) fail(errno);
    if (!S_ISREG(here.st_mode))
      throw Error(ErrorCode::input, fmt::format("{} is no file; a pipe is read as standard input", path_));
    return true;
  }

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    others_.clear();
    told_ = false;
    forget_what_was_read();
    moved_at_.reset();
  }

  void forget_what_was_read() {
    lines_.clear();
    reader_.start_over();
    partition_.clear();
    first_lines_.clear();
    history_ = {};
    position_ = skip_ = read_ = 0;
  }

  [[noreturn]] void fail(int reason) const {
    if (reason == ENOENT) throw Error(ErrorCode::input, fmt::format("{}: no such file", path_));
    throw Error(ErrorCode::input, fmt::format("{}: {}", path_, std::generic_category().message(reason)));
  }
  void note(const std::string& text) const {
    if (note_) note_(text);
  }

  std::string path_;
  bool follow_;
  Note note_;
  RowReader reader_;
  BatchBuilder builder_;
  LineBuffer lines_{RowReader::kLongestLine};
  ReadRow row_;
  StreamPositions positions_;  // kept, and read since
  StreamMarks marks_;          // histories of these files
  int descriptor_ = -1;
  std::uint64_t read_ = 0;        // bytes
  std::string partition_;         // of the file; empty: its first row is not there yet
  std::string first_lines_;       // until then
  FileHistory history_;           // of its rows
  std::set<std::string> others_;  // partitions that begin like it, and are not it
  std::size_t opened_ = 0;        // files so far
  bool told_ = false;             // that all of its rows so far are kept
  std::uint64_t position_ = 0;    // of the next row
  std::uint64_t skip_ = 0;        // rows that are kept
  bool waiting_ = false;          // for the file to be there
  bool followed_ = false;         // a file was read
  bool rest_is_line_ = false;     // a line that has no end is whole
  bool ended_ = false;
  std::optional<Clock::time_point> moved_at_;
};

}  // namespace

std::unique_ptr<RowStream> open_growing_file(const std::string& path,
                                             const std::vector<std::string>& features,
                                             const TextStreamOptions& options) {
  return std::make_unique<GrowingFile>(path, features, options);
}

}  // namespace harmonia
