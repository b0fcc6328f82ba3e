#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// A block of rows that are under way.
struct HeldBlock {
  RowBlock block;
  std::size_t next = 0;                         ///< the first row that is not started
  std::size_t emitted = 0;                      ///< rows that were passed on
  std::vector<std::vector<GammaRow>> finished;  ///< entries by row, until passed on

  std::size_t rows() const { return block.values.rows(); }
};

/// Blocks in the data's order, from the first one that has a row under way. They stay where they are, since
/// balls refer to their rows; memory of those that are done is used again.
class HeldBlocks {
 public:
  /// Reads another block; null if there is none.
  HeldBlock* read(RowSource& data) {
    HeldBlock& held = blocks_.emplace_back(std::move(spare_));
    if (!data.read(held.block, rows_per_block(data.info().inputs))) {
      spare_ = std::move(blocks_.back());
      blocks_.pop_back();
      return nullptr;
    }
    held.finished.assign(held.rows(), {});
    held.next = held.emitted = 0;
    return &held;
  }

  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }
  HeldBlock& first() { return blocks_.front(); }
  HeldBlock& last() { return blocks_.back(); }
  void drop_first() {
    spare_ = std::move(blocks_.front());
    blocks_.pop_front();
  }

 private:
  std::deque<HeldBlock> blocks_;
  HeldBlock spare_;
};

}  // namespace harmonia
