#include "harmonia/data/generated_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

// A draw is keyed by 32 bits of row.
constexpr std::size_t kMostKeyed = std::size_t{1} << 32U;

[[noreturn]] void fail(const std::string& spec, const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", printable(spec), what));
}

// Rows that are computed from their number.
class GeneratedSource : public RowSource {
 public:
  GeneratedSource(const std::string& spec, const DataOptions& options, std::size_t rows, std::size_t columns)
      : rows_(rows) {
    if (!options.columns.empty() || !options.drop.empty() || !options.id.empty() || !options.label.empty()) {
      fail(spec,
           "generated data has no columns to choose; --columns, --drop, --id and --label are for files");
    }
    if (!options.by.empty()) fail(spec, "generated data has no columns; --by is for files");
    if (columns > kColumnLimit)
      fail(spec, fmt::format("{} columns; expected at most {}", columns, kColumnLimit));
    info_.source = spec;
    info_.inputs = columns;
    info_.rows = rows;
  }

  const DataInfo& info() const override { return info_; }
  void set_grid(std::vector<double> spacing, bool jittered) {
    info_.spacing = std::move(spacing);
    info_.jittered = jittered;
  }

  bool read(RowBlock& block, std::size_t limit) override {
    assert(limit > 0);
    const std::size_t count = std::min(limit, rows_ - row_);
    block.reset(row_, count, info_.inputs);
    for (std::size_t i = 0; i < count; ++i) fill(row_ + i, block.values.row(i));
    row_ += count;
    return count > 0;
  }

  void rewind() override { row_ = 0; }

 private:
  virtual void fill(std::size_t row, double* out) const = 0;

  DataInfo info_;
  std::size_t rows_;
  std::size_t row_ = 0;
};

struct Axis {
  double low;
  double high;
  std::size_t count;

  double value(std::size_t i) const {
    if (i == 0) return low;
    if (i == count - 1) return high;
    // Multiplied first: 0..5x101 then has the doubles nearest to 0.05, 0.1, 0.15, ….
    return low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
  }
  /// A point of cell i of `count` equal cells that tile the axis; value(i) lies in it too. A single value
  /// stays.
  double within(std::size_t i, double share) const {
    if (count < 2) return low;
    return std::min(high, low + (high - low) * (static_cast<double>(i) + share) / static_cast<double>(count));
  }
  double spacing() const { return count < 2 ? 0 : (high - low) / static_cast<double>(count - 1); }
};

class Grid final : public GeneratedSource {
 public:
  Grid(const std::string& spec, const DataOptions& options, std::size_t rows, std::vector<Axis> axes)
      : GeneratedSource(spec, options, rows, axes.size()),
        axes_(std::move(axes)),
        jitter_(options.jitter),
        seed_(options.seed) {
    std::vector<double> spacing;
    for (const Axis& axis : axes_) spacing.push_back(axis.spacing());
    set_grid(std::move(spacing), options.jitter);
  }

 private:
  void fill(std::size_t row, double* out) const override {
    const DrawKey key{.seed = seed_, .stream = Stream::jitter, .row = row};
    for (std::size_t j = axes_.size(); j-- > 0;) {
      const std::size_t i = row % axes_[j].count;
      out[j] = jitter_ ? axes_[j].within(i, draw_uniform(key, j)) : axes_[j].value(i);
      row /= axes_[j].count;
    }
  }

  std::vector<Axis> axes_;
  bool jitter_;
  std::uint64_t seed_;
};

class Uniform final : public GeneratedSource {
 public:
  Uniform(const std::string& spec, const DataOptions& options, std::size_t rows, std::size_t columns)
      : GeneratedSource(spec, options, rows, columns), seed_(options.seed), columns_(columns) {}

 private:
  void fill(std::size_t row, double* out) const override {
    const DrawKey key{.seed = seed_, .stream = Stream::uniform_data, .row = row};
    for (std::size_t j = 0; j < columns_; ++j) out[j] = draw_uniform(key, j);
  }

  std::uint64_t seed_;
  std::size_t columns_;
};

bool parse_count(std::string_view text, std::size_t& count) {
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, count) == std::from_chars_result{end, std::errc{}};
}

Axis parse_axis(const std::string& spec, std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    fail(spec, fmt::format("axis {} {}", in_quotes(text), what));
  };
  const std::size_t dots = text.find("..");
  const std::size_t times = text.rfind('x');
  if (dots == std::string_view::npos || times == std::string_view::npos || times < dots + 2) {
    wrong("is not LOW..HIGHxCOUNT");
  }
  const ParsedNumber low = parse_number(text.substr(0, dots));
  const ParsedNumber high = parse_number(text.substr(dots + 2, times - dots - 2));
  Axis axis{low.value, high.value, 0};
  if (low.kind != NumberKind::number || high.kind != NumberKind::number ||
      !parse_count(text.substr(times + 1), axis.count)) {
    wrong("is not LOW..HIGHxCOUNT");
  }
  if (axis.count == 0) wrong("has count 0; expected at least 1");
  if (axis.high < axis.low) wrong(fmt::format("goes down; expected {} <= {}", axis.low, axis.high));
  if (!std::isfinite((axis.high - axis.low) * static_cast<double>(axis.count)))
    wrong("is too long for doubles");
  return axis;
}

}  // namespace

std::unique_ptr<RowSource> open_grid(const std::string& spec, const DataOptions& options) {
  std::string_view rest = std::string_view(spec).substr(spec.find(':') + 1);
  std::vector<Axis> axes;
  std::size_t rows = 1;
  for (bool last = false; !last;) {
    const std::size_t comma = rest.find(',');
    axes.push_back(parse_axis(spec, rest.substr(0, comma)));
    if (__builtin_mul_overflow(rows, axes.back().count, &rows))
      fail(spec, "the grid has more rows than can be counted");
    last = comma == std::string_view::npos;
    if (!last) rest.remove_prefix(comma + 1);
  }
  if (options.jitter && rows > kMostKeyed) {
    fail(spec, fmt::format("--jitter draws for {} rows; expected at most {}", rows, kMostKeyed));
  }
  return std::make_unique<Grid>(spec, options, rows, std::move(axes));
}

std::unique_ptr<RowSource> open_uniform(const std::string& spec, const DataOptions& options) {
  const std::string_view text = std::string_view(spec).substr(spec.find(':') + 1);
  std::size_t rows = 0;
  if (!parse_count(text, rows) || rows == 0 || rows > kMostKeyed) {
    fail(spec, fmt::format("{} is not a number of rows; expected 1 to {}", in_quotes(text), kMostKeyed));
  }
  return std::make_unique<Uniform>(spec, options, rows, options.inputs == 0 ? 2 : options.inputs);
}

}  // namespace harmonia
