#include "harmonia/data/path_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

std::vector<double> only_row(RowSource& data) {
  RowBlock block;
  std::vector<double> row;
  std::size_t rows = 0;
  while (data.read(block, 2)) {
    if (rows == 0) row.assign(block.values.row(0), block.values.row(0) + block.values.columns());
    rows += block.values.rows();
    if (rows > 1) break;
  }
  data.rewind();
  if (rows != 1) {
    throw Error(ErrorCode::input, fmt::format("{} has {}; a path needs one row at each end, such as FILE#ROW",
                                              printable(data.info().source, std::string::npos),
                                              rows == 0 ? "no row" : "more rows than one"));
  }
  return row;
}

class PathSource final : public RowSource {
 public:
  PathSource(RowSource& a, RowSource& b, std::size_t steps)
      : a_(only_row(a)), b_(only_row(b)), steps_(steps) {
    if (steps == 0) throw Error(ErrorCode::usage, "a path of 0 steps; expected 1 at least");
    if (a_.size() != b_.size()) {
      throw Error(ErrorCode::input, fmt::format("a path from {} columns to {}; expected as many at both ends",
                                                a_.size(), b_.size()));
    }
    info_.source = fmt::format("{} to {}", a.info().source, b.info().source);
    info_.inputs = a_.size();
    info_.features = a.info().features;
    info_.rows = steps + 1;
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    const std::size_t rows = std::min(limit, steps_ + 1 - row_);
    block.reset(row_, rows, a_.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const auto done = static_cast<double>(row_ + i), left = static_cast<double>(steps_ - row_ - i);
      for (std::size_t j = 0; j < a_.size(); ++j) {
        // The ends are themselves, to the bit.
        block.values.row(i)[j] = done == 0   ? a_[j]
                                 : left == 0 ? b_[j]
                                             : (a_[j] * left + b_[j] * done) / (left + done);
      }
    }
    row_ += rows;
    return rows > 0;
  }

  void rewind() override { row_ = 0; }

 private:
  std::vector<double> a_, b_;
  std::size_t steps_;
  DataInfo info_;
  std::size_t row_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> make_path_source(RowSource& a, RowSource& b, std::size_t steps) {
  return std::make_unique<PathSource>(a, b, steps);
}

}  // namespace harmonia
