#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "fingerprint.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// A block of rows that are under way.
struct HeldBlock {
  RowBlock block;
  std::size_t next = 0;                         ///< the first row that is not started
  std::size_t emitted = 0;                      ///< rows that were passed on
  std::vector<std::vector<GammaRow>> finished;  ///< entries by row, until passed on
  std::vector<std::uint64_t> fingerprints;      ///< by row; 0: not made yet

  std::size_t rows() const { return block.values.rows(); }
  std::span<const double> row(std::size_t i) const { return {block.values.row(i), block.values.columns()}; }
  /// Makes those of so many rows.
  void make_fingerprints(std::size_t first, std::size_t count) {
    harmonia::fingerprints(std::as_const(block.values).view().slice(first, count),
                           std::span(fingerprints).subspan(first, count));
  }
};

/// Blocks in the data's order, from the first one that has a row under way. They stay where they are, since
/// balls refer to their rows; memory of those that are done is used again.
class HeldBlocks {
 public:
  /// Reads another block, of `most` rows at most; null if there is none. One that cannot be read is none of
  /// the blocks.
  HeldBlock* read(RowSource& data, std::size_t most) {
    if (spare_.empty()) spare_.emplace_back();
    HeldBlock& held = spare_.back();
    if (!data.read(held.block, std::min(most, rows_per_block(data.info().inputs)))) return nullptr;
    held.finished.assign(held.rows(), {});
    held.fingerprints.assign(held.rows(), 0);
    held.next = held.emitted = 0;
    blocks_.push_back(std::move(held));
    spare_.pop_back();
    return &blocks_.back();
  }

  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }
  HeldBlock& first() { return blocks_.front(); }
  HeldBlock& last() { return blocks_.back(); }
  void drop_first() {
    spare_.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
  }

 private:
  std::deque<HeldBlock> blocks_;
  std::vector<HeldBlock> spare_;
};

/// A block that another thread may read, beside what is done with the one before.
class NextBlock {
 public:
  /// `read_one`: gives a block, or null.
  template <class Read>
  void read(const Read& read_one) {
    was_read_ = true;
    try {
      held_ = read_one();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  bool was_read() const { return was_read_; }
  /// What was read. Throws what kept it from being read: the rows before it come first.
  HeldBlock* take() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return held_;
  }

 private:
  bool was_read_ = false;
  HeldBlock* held_ = nullptr;
  std::exception_ptr failure_;
};

}  // namespace harmonia
