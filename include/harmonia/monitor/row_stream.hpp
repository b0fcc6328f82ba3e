#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Seconds since the first of January 1970.
using Time = double;
/// The present one.
Time time_now();

/// The next row to take, by partition of the stream. Most streams have one partition, "0".
using StreamPositions = std::map<std::string, std::uint64_t>;

/// By which a stream knows partitions again, beside their names: what StreamBatch::mark was last. A partition
/// that is not there has none.
using StreamMarks = std::map<std::string, std::string>;

/// Something in a stream that is no row of the data.
struct RefusedRow {
  std::uint64_t position = 0;
  std::string reason;  ///< one line
};

/// Rows of one partition that came one after another.
struct StreamBatch {
  std::string partition = "0";
  std::uint64_t first = 0, next = 0;  ///< the positions [first, next) are in it, as rows or refused
  RowBlock rows;                      ///< their numbers are their positions
  std::vector<RefusedRow> refused;
  std::string id;    ///< by which a sender knows it again when it is sent twice; empty: none
  Time time = 0;     ///< when it came
  std::string mark;  ///< kept with the position `next`, as it is; empty: none
};

/// What waiting for rows came to.
enum class Arrival { rows, nothing, end };

/// Rows that come one after another, without an end or with one. Used by one thread; what other threads give
/// it is its own affair.
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Called once, before next(): which positions are already kept; a partition that is not there is new. A
  /// stream that cannot be read again goes on with numbers from there.
  virtual void start(const StreamPositions& kept) = 0;
  /// Waits at most so long for rows and puts them into `batch`, some thousand at most, of one partition.
  virtual Arrival next(StreamBatch& batch, std::chrono::milliseconds wait) = 0;
  /// The batch is kept for good, counted once: its sender may be told. fresh: false if a batch of its id was
  /// kept before, so that it was not counted again.
  virtual void kept(const StreamBatch& batch, bool fresh) = 0;
};

}  // namespace harmonia
