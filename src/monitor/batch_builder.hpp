#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/monitor/row_reader.hpp"

namespace harmonia {

/// Puts a batch together, row by row.
class BatchBuilder {
 public:
  /// The most positions of a batch.
  static constexpr std::size_t kMost = 4096;

  explicit BatchBuilder(std::size_t features) : features_(features) {}

  /// Begins a batch of the partition at this position.
  void begin(const std::string& partition, std::uint64_t first);
  /// Takes what was read at a position, a row or why it is none.
  void add(std::uint64_t position, const ReadRow& row);
  /// Positions so far.
  std::size_t size() const { return numbers_.size() + batch_.refused.size(); }
  /// What was no row so far.
  const std::vector<RefusedRow>& refused() const { return batch_.refused; }
  /// The batch, which ends before `next`.
  StreamBatch end(std::uint64_t next);

 private:
  std::size_t features_;
  StreamBatch batch_;
  std::vector<double> values_;
  std::vector<std::size_t> numbers_;
};

}  // namespace harmonia
