#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace harmonia {

/// A statement that is prepared once and run many times. Values are bound in the order of its question marks.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&&) = default;
  SqliteStatement& operator=(SqliteStatement&&) = default;

  /// The view must live until the statement has run.
  SqliteStatement& bind(std::string_view bytes);
  SqliteStatement& bind(std::uint64_t number);

  /// The next row of what is bound. False: there is no further one, and other values may be bound.
  bool next();
  /// Runs what has no rows.
  void run() {
    while (next()) {
    }
  }
  /// Ends before the last row.
  void end();
  /// A column of the row; valid until the next call of next() or end().
  std::string_view bytes(int column) const;
  std::uint64_t number(int column) const;

 private:
  friend class SqliteFile;
  struct Free {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(const class SqliteFile& file, std::unique_ptr<sqlite3_stmt, Free> statement)
      : file_(&file), statement_(std::move(statement)) {}

  const SqliteFile* file_;
  std::unique_ptr<sqlite3_stmt, Free> statement_;
  int bound_ = 0;
};

/// An SQLite file of one kind that may be written to, shared with other processes. What a transaction wrote
/// is there after the process is killed. Every error is an Error(input) whose line names the file.
class SqliteFile {
 public:
  /// What tells files of a kind from others.
  struct Kind {
    std::string_view name;    ///< in messages: "a store of answers"
    std::uint32_t number;     ///< in the file's header
    std::uint32_t version;    ///< of the tables
    std::string_view tables;  ///< SQL that makes them
  };

  /// Opens the file, or makes one with the tables.
  SqliteFile(std::string path, const Kind& kind);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  /// The statement must not outlive the file.
  SqliteStatement prepare(std::string_view sql) const;
  /// Runs statements without values.
  void execute(const std::string& sql) const;
  const std::string& path() const { return path_; }
  /// Throws Error(input) that the file is damaged.
  [[noreturn]] void damaged(const std::string& what) const;
  /// Throws what SQLite last said of the file.
  [[noreturn]] void fail(int code) const;

 private:
  friend class SqliteTransaction;
  struct Close {
    void operator()(sqlite3* file) const;
  };

  void use_log() const;
  void check(const Kind& kind) const;
  std::uint64_t ask_number(const std::string& sql) const;

  std::string path_;
  std::unique_ptr<sqlite3, Close> file_;
};

/// From now until commit(), all or nothing is written, and what is read is of one moment.
class SqliteTransaction {
 public:
  /// writes: waits now for another process that writes.
  explicit SqliteTransaction(const SqliteFile& file, bool writes = true);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  void commit();

 private:
  const SqliteFile& file_;
  bool open_ = true;
};

}  // namespace harmonia
