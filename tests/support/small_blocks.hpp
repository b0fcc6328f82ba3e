#pragma once

#include <algorithm>
#include <functional>

#include "harmonia/data/memory_source.hpp"

namespace harmonia::test {

/// Rows in memory, a few at a time.
class SmallBlocks final : public RowSource {
 public:
  SmallBlocks(MatrixView<const double> rows, std::size_t most)
      : rows_(make_memory_source(rows)), most_(most) {}

  std::function<void(std::size_t first)> before_reading;  ///< called with the number of the next row

  const DataInfo& info() const override { return rows_->info(); }
  bool read(RowBlock& block, std::size_t limit) override {
    if (before_reading) before_reading(next_);
    if (!rows_->read(block, std::min(limit, most_))) return false;
    next_ += block.values.rows();
    return true;
  }
  void rewind() override {
    rows_->rewind();
    next_ = 0;
  }

 private:
  std::unique_ptr<RowSource> rows_;
  std::size_t most_, next_ = 0;
};

}  // namespace harmonia::test
