#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/image_source.hpp"
#include "image_rows.hpp"
#include "input_file.hpp"

namespace harmonia {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{} {}", path, what));
}

// A file of bytes in `dimensions` dimensions: two zeros, the type 8, the dimensions' number and sizes.
class IdxFile {
 public:
  IdxFile(const std::string& path, std::size_t dimensions) : file_(path) {
    std::array<char, 16> head{};
    const std::size_t length = 4 + 4 * dimensions;
    const std::string expected = fmt::format("expected an IDX file of bytes in {}",
                                             dimensions == 1 ? "one dimension" : "three dimensions");
    if (file_.read_at(0, {head.data(), length}) < length) fail(path, "is too short; " + expected);
    if (head[0] != 0 || head[1] != 0 || head[2] != 8 || static_cast<std::size_t>(head[3]) != dimensions) {
      const bool packed = head[0] == '\x1f' && head[1] == '\x8b';
      fail(path, (packed ? "is compressed by gzip; unpack it first: " : "is of another kind; ") + expected);
    }
    std::uint64_t bytes = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::uint64_t size = 0;
      for (std::size_t b = 0; b < 4; ++b) size = size << 8U | static_cast<unsigned char>(head[4 + 4 * d + b]);
      sizes[d] = static_cast<std::size_t>(size);
      bytes = size != 0 && bytes > kMostBytes / size ? kMostBytes : bytes * size;
    }
    const std::uint64_t held =
        file_.size().value_or(0) - std::min(file_.size().value_or(0), std::uint64_t{length});
    if (bytes == 0) fail(path, "has no entries");
    if (bytes != held) fail(path, fmt::format("holds {}; its header says {}", counted(held, "byte"), bytes));
    start_ = length;
  }

  void read(std::uint64_t offset, std::vector<char>& out) const {
    if (file_.read_at(start_ + offset, out) < out.size())
      fail(file_.path(), "became shorter while it was read");
  }

  std::array<std::size_t, 3> sizes{};

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;
  InputFile file_;
  std::uint64_t start_ = 0;
};

class IdxSource final : public RowSource {
 public:
  IdxSource(const std::string& path, const DataOptions& options) : images_(path, 3), options_(options) {
    check_image_options(path, options);
    own_ = {images_.sizes[1], images_.sizes[2], 1};
    info_.source = path;
    info_.image = options.image;
    if (info_.image.height == 0 || info_.image.width == 0) {
      info_.image.height = own_.height;
      info_.image.width = own_.width;
    }
    if (info_.image.channels == 0) info_.image.channels = 1;
    info_.inputs = info_.image.values();
    if (own_.values() > kColumnLimit)
      fail(path, fmt::format("has images of {} values; expected at most {}", own_.values(), kColumnLimit));
    check_image_size(path, info_.image);
    info_.rows = images_.sizes[0];
    info_.by = options.by;
    if (options.labels.empty()) {
      if (!info_.by.empty())
        throw Error(ErrorCode::usage, fmt::format("--by label: {} has no labels without --labels", path));
      return;
    }
    labels_.emplace(options.labels, 1);
    if (labels_->sizes[0] != *info_.rows) {
      throw Error(ErrorCode::input,
                  fmt::format("{} has {}; {} has {}", options.labels, counted(labels_->sizes[0], "label"),
                              path, counted(*info_.rows, "image")));
    }
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    // Images may be much larger than what they are brought to.
    const std::size_t count = std::min({limit, rows_per_block(own_.values()), *info_.rows - next_});
    block.reset(next_, count, info_.inputs);
    if (count == 0) return false;
    Image image{own_, std::vector<float>(own_.values())};
    raw_.resize(count * own_.values());
    images_.read(next_ * own_.values(), raw_);
    for (std::size_t i = 0; i < count; ++i) {
      const char* const pixels = raw_.data() + i * own_.values();
      std::transform(pixels, pixels + own_.values(), image.values.begin(),
                     [](char byte) { return static_cast<float>(static_cast<unsigned char>(byte)); });
      write_image_row(image, info_.image, options_, block.values.row(i));
    }
    if (labels_) {
      raw_.resize(count);
      labels_->read(next_, raw_);
      for (const char label : raw_) block.labels.push_back(std::to_string(static_cast<unsigned char>(label)));
      if (!info_.by.empty()) block.segments = block.labels;
    }
    next_ += count;
    return true;
  }

  void rewind() override { next_ = 0; }

 private:
  IdxFile images_;
  std::optional<IdxFile> labels_;
  DataOptions options_;
  DataInfo info_;
  ImageShape own_;
  std::size_t next_ = 0;
  std::vector<char> raw_;
};

}  // namespace

std::unique_ptr<RowSource> open_idx(const std::string& path, const DataOptions& options) {
  return std::make_unique<IdxSource>(path, options);
}

}  // namespace harmonia
