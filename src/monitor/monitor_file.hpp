#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../core/sqlite_file.hpp"
#include "harmonia/monitor/alert.hpp"
#include "harmonia/monitor/row_stream.hpp"
#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// The tables of a monitor. What is put between a SqliteTransaction and its commit() is there together or not
/// at all.
class MonitorFile {
 public:
  enum class Use {
    own,   ///< by one process at a time; made if it is not there
    read,  ///< beside others
  };
  /// identity: of what the numbers in it depend on; of no interest to who reads. Throws Error(input) if the
  /// file cannot be used, Error(usage) if another process owns it or it is of another identity.
  MonitorFile(const std::string& path, const std::string& identity, Use use = Use::own);
  /// Throws Error(usage) if the file's identity does not begin so.
  void check(const std::string& identity);

  const SqliteFile& file() const { return file_; }

  /// What was put under a name; empty: nothing.
  std::string value(const std::string& name);
  void put_value(const std::string& name, const std::string& value);

  StreamPositions positions();
  void put_position(const std::string& partition, std::uint64_t next);
  StreamMarks marks();
  void put_mark(const std::string& partition, const std::string& mark);
  /// Forgets position and mark of the partition whose position was put the longest ago, and names it.
  std::string forget_position();

  /// The last `count` windows, or all, in the order in which they began.
  std::vector<std::string> windows(std::uint64_t count);
  /// The window of a partition that begins at a position; empty: there is none.
  std::string window(const std::string& partition, std::uint64_t first);
  void put_window(const Window& window);

  std::vector<std::string> alerts(std::uint64_t count);
  void put_alert(std::uint64_t id, const std::string& text);

  /// Whether a batch of this id was put. The last kKeptBatches ids are known.
  bool has_batch(const std::string& id);
  void put_batch(const std::string& id);

  /// The last `count` rows by number, ascending.
  std::vector<std::string> rows(std::uint64_t count);
  void put_row(std::uint64_t number, const std::string& text);
  /// Forgets rows of smaller numbers.
  void forget_rows(std::uint64_t number);

  static constexpr std::uint64_t kAll = std::uint64_t{1} << 62;
  static constexpr std::uint64_t kKeptBatches = 1000000;
  /// Partitions whose positions are kept: files that were read, say.
  static constexpr std::size_t kKeptPartitions = 10000;

 private:
  [[noreturn]] void refuse_identity() const;
  std::vector<std::string> texts(SqliteStatement& statement);

  // Of the lock file beside it, which is held as long as it is open.
  struct Lock {
    Lock(const std::string& path, Use use);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    int descriptor = -1;
  };

  Lock lock_;
  SqliteFile file_;
  SqliteStatement find_value_, put_value_, put_position_, find_window_, put_window_, put_alert_, find_batch_,
      put_batch_, forget_batches_, put_row_, forget_rows_;
};

}  // namespace harmonia
