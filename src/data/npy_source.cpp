#include "harmonia/data/npy_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "input_file.hpp"
#include "npy_header.hpp"
#include "npy_number.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

// Rows are read in pieces of about this size, whatever the block.
constexpr std::size_t kPiece = std::size_t{1} << 20;

class NpySource final : public RowSource {
 public:
  NpySource(const std::string& path, const DataOptions& options) : file_(path) {
    if (!file_.size()) fail("is not a plain file");
    header_ = read_npy_header(file_);
    number_ = npy_number(header_.descr);
    if (number_.size == 0) {
      fail(fmt::format("holds numbers of type {}; expected f2, f4, f8, i1 to i8, u1 to u8 or b1",
                       in_quotes(header_.descr)));
    }
    check_shape();
    info_.source = path;
    info_.rows = rows_;
    const std::vector<std::string> names = numbered_names(columns_);
    choice_ = choose_columns(path, names, options);
    info_.inputs = choice_.features.size();
    info_.by = options.by;
    for (const std::size_t column : choice_.features) info_.features.push_back(names[column]);
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    assert(limit > 0);
    const std::size_t count = std::min(limit, rows_ - row_);
    block.reset(row_, count, choice_.features.size());
    block.ids.resize(choice_.id ? count : 0);
    block.labels.resize(choice_.label ? count : 0);
    block.segments.resize(choice_.segment ? count : 0);
    if (header_.fortran_order) {
      read_columns(block);
    } else {
      read_rows(block);
    }
    row_ += count;
    return count > 0;
  }

  void rewind() override { row_ = 0; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::input, fmt::format("{} {}", file_.path(), what));
  }

  void check_shape() {
    const std::vector<std::uint64_t>& shape = header_.shape;
    const std::string text = shape_text(shape);
    if (shape.empty()) fail("holds a single number, of shape (); expected rows");
    if (shape.size() > 2 && header_.fortran_order) {
      fail(fmt::format("has shape {} in Fortran order; expected C order for more than two dimensions", text));
    }
    if (shape[0] == 0) fail(fmt::format("has no rows: its shape is {}", text));
    // Before the product is taken: a zero would hide that it overflows.
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
      fail(fmt::format("has no columns: its shape is {}", text));
    }
    std::uint64_t bytes = number_.size;
    bool overflow = false;
    for (const std::uint64_t size : shape) overflow = overflow || __builtin_mul_overflow(bytes, size, &bytes);
    if (overflow || bytes > std::numeric_limits<std::int64_t>::max()) {
      fail(fmt::format("has shape {}, which is too large", text));
    }
    const std::uint64_t columns = bytes / number_.size / shape[0];
    const std::uint64_t held = *file_.size() - std::min(*file_.size(), header_.offset);
    if (bytes != held) {
      fail(fmt::format("holds {} of data; its shape {} of type {} takes {}", counted(held, "byte"), text,
                       in_quotes(header_.descr), bytes));
    }
    if (columns > kColumnLimit)
      fail(fmt::format("has {} columns; expected at most {}", columns, kColumnLimit));
    rows_ = shape[0];
    columns_ = columns;
  }

  // Where a number is that no double equals; the first one in order of rows is reported.
  struct Fault {
    std::size_t row = std::numeric_limits<std::size_t>::max();
    std::size_t column = 0;
    std::string text;
  };

  // Takes from `raw` what `column` is used for in rows `from` … `from + count − 1` of the block; the numbers
  // lie `stride` bytes apart. `feature` is its place among the features, if it is one.
  void convert(RowBlock& block, const char* raw, std::size_t stride, std::size_t from, std::size_t count,
               std::size_t feature, Fault& fault) const {
    double* const out = block.values.row(from) + feature;
    const std::size_t good = number_.convert(raw, stride, count, out, block.values.columns());
    if (good < count && from + good < fault.row) {
      fault = {from + good, choice_.features[feature], number_.text(raw + good * stride)};
    }
  }

  void texts(std::vector<std::string>& out, const char* raw, std::size_t stride, std::size_t from,
             std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) out[from + i] = number_.text(raw + i * stride);
  }

  // C order: whole rows lie together.
  void read_rows(RowBlock& block) {
    const std::size_t count = block.values.rows();
    const std::size_t row_bytes = columns_ * number_.size;
    const std::size_t piece = std::max<std::size_t>(1, kPiece / row_bytes);
    for (std::size_t from = 0; from < count; from += piece) {
      const std::size_t rows = std::min(piece, count - from);
      fetch((row_ + from) * row_bytes, rows * row_bytes);
      Fault fault;
      for (std::size_t j = 0; j < choice_.features.size(); ++j) {
        convert(block, raw_.data() + choice_.features[j] * number_.size, row_bytes, from, rows, j, fault);
      }
      report(fault);
      if (choice_.id) texts(block.ids, raw_.data() + *choice_.id * number_.size, row_bytes, from, rows);
      if (choice_.label)
        texts(block.labels, raw_.data() + *choice_.label * number_.size, row_bytes, from, rows);
      if (choice_.segment)
        texts(block.segments, raw_.data() + *choice_.segment * number_.size, row_bytes, from, rows);
    }
  }

  // Fortran order: whole columns lie together, of which the block is a piece each.
  void read_columns(RowBlock& block) {
    const std::size_t count = block.values.rows();
    const auto each_piece = [&](std::size_t column, auto use) {
      const std::size_t piece = kPiece / number_.size;
      for (std::size_t from = 0; from < count; from += piece) {
        const std::size_t rows = std::min(piece, count - from);
        fetch((column * rows_ + row_ + from) * number_.size, rows * number_.size);
        use(from, rows);
      }
    };
    Fault fault;
    for (std::size_t j = 0; j < choice_.features.size(); ++j) {
      each_piece(choice_.features[j], [&](std::size_t from, std::size_t rows) {
        convert(block, raw_.data(), number_.size, from, rows, j, fault);
      });
    }
    report(fault);
    const auto carry = [&](std::size_t column, std::vector<std::string>& out) {
      each_piece(column, [&](std::size_t from, std::size_t rows) {
        texts(out, raw_.data(), number_.size, from, rows);
      });
    };
    if (choice_.id) carry(*choice_.id, block.ids);
    if (choice_.label) carry(*choice_.label, block.labels);
    if (choice_.segment) carry(*choice_.segment, block.segments);
  }

  void fetch(std::uint64_t offset, std::size_t bytes) {
    raw_.resize(bytes);
    if (file_.read_at(header_.offset + offset, raw_) < bytes) fail("became shorter while it was read");
  }

  void report(const Fault& fault) const {
    if (fault.text.empty()) return;
    const std::string where = fmt::format("row {}, column {}", row_ + fault.row, fault.column);
    if (!number_.whole) fail(where + " is infinite");
    fail(fmt::format("{}: {} has more digits than a double keeps", where, fault.text));
  }

  InputFile file_;
  NpyHeader header_;
  NpyNumber number_;
  DataInfo info_;
  ColumnChoice choice_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t row_ = 0;
  std::vector<char> raw_;
};

}  // namespace

std::unique_ptr<RowSource> open_npy(const std::string& path, const DataOptions& options) {
  return std::make_unique<NpySource>(path, options);
}

}  // namespace harmonia
