#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// The last rows that were measured, with their values: some thousand, fewer if they are long.
class RecentRows {
 public:
  explicit RecentRows(const Baseline& baseline);

  void add(KeptRow row);
  /// By number, ascending.
  const std::deque<KeptRow>& rows() const { return rows_; }
  /// The number of the first that is kept; that of the next one if none is.
  std::uint64_t first() const { return rows_.empty() ? next_ : rows_.front().number; }
  /// One more than the largest number so far.
  std::uint64_t next() const { return next_; }
  /// Counts of those from a number on.
  RowCounts counts_from(std::uint64_t number) const;
  /// Those from a number on that are in one of the regions (all, if none is named): of the largest gamma, the
  /// largest first, or of the smallest.
  std::vector<KeptRow> worst(std::uint64_t from, const std::vector<std::size_t>& regions, std::size_t count,
                             bool largest) const;

 private:
  const Baseline& baseline_;
  std::size_t most_;
  std::uint64_t next_ = 0;
  std::deque<KeptRow> rows_;
};

}  // namespace harmonia
