#include "sqlite_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr int kBusyMilliseconds = 30000;  // how long another process may hold the file

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}: {}", path, what));
}

}  // namespace

void SqliteStatement::Free::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void SqliteFile::Close::operator()(sqlite3* file) const { sqlite3_close(file); }

SqliteStatement& SqliteStatement::bind(std::string_view bytes) {
  // A null pointer would be NULL and not an empty value.
  const char* const data = bytes.empty() ? "" : bytes.data();
  const int code = sqlite3_bind_blob64(statement_.get(), ++bound_, data, bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) file_->fail(code);
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::uint64_t number) {
  const int code = sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(number));
  if (code != SQLITE_OK) file_->fail(code);
  return *this;
}

bool SqliteStatement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  end();
  if (code != SQLITE_DONE) file_->fail(code);
  return false;
}

void SqliteStatement::end() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
}

std::string_view SqliteStatement::bytes(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return size == 0 ? std::string_view() : std::string_view(data, size);
}

std::uint64_t SqliteStatement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

SqliteFile::SqliteFile(std::string path, const Kind& kind) : path_(std::move(path)) {
  sqlite3* file = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  // As a path, whatever it looks like: "file:" would be an address.
  const std::string place = path_.starts_with('/') ? path_ : "./" + path_;
  const int code = sqlite3_open_v2(place.c_str(), &file, flags, nullptr);
  file_.reset(file);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(file, 1);
  sqlite3_busy_timeout(file, kBusyMilliseconds);
  if (sqlite3_db_readonly(file, "main") == 1) refuse(path_, "cannot be written to");
  check(kind);
}

void SqliteFile::check(const Kind& kind) const {
  ask_number("PRAGMA schema_version");  // reads the file: what is none is found here
  const auto refuse_other = [&] {
    refuse(path_, fmt::format("is an SQLite file of another program; expected {}", kind.name));
  };
  // Before anything of it is changed. In this order: whoever makes it now commits tables and number together.
  const bool empty = ask_number("SELECT count(*) FROM sqlite_master") == 0;
  const std::uint64_t known = ask_number("PRAGMA application_id");
  if (known != kind.number && (known != 0 || !empty)) refuse_other();
  use_log();
  // Two that make it at once: the second waits, and finds the tables.
  SqliteTransaction transaction(*this);
  const std::uint64_t number = ask_number("PRAGMA application_id");
  const std::uint64_t version = ask_number("PRAGMA user_version");
  if (number == 0 && version == 0 && ask_number("SELECT count(*) FROM sqlite_master") == 0) {
    execute(std::string(kind.tables));
    execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kind.number, kind.version));
  } else if (number != kind.number) {
    refuse_other();
  } else if (version != kind.version) {
    refuse(path_, fmt::format("is {} of version {}; expected {}", kind.name, version, kind.version));
  }
  transaction.commit();
}

// A log beside the file: readers and a writer do not wait for each other, and a transaction costs no wait for
// the disk; that comes when the log of some 40 MB is full, or the file is closed. After a kill nothing is
// lost; after a loss of power the last ones may be.
void SqliteFile::use_log() const {
  int code = SQLITE_BUSY;
  // SQLite does not wait for others here by itself.
  for (int waited = 0; waited < kBusyMilliseconds; waited += 10) {
    code = sqlite3_exec(
        file_.get(),
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 10000", nullptr,
        nullptr, nullptr);
    if ((code & 0xff) != SQLITE_BUSY) break;
    sqlite3_sleep(10);
  }
  if (code != SQLITE_OK) fail(code);
}

SqliteStatement SqliteFile::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(file_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return {*this, std::unique_ptr<sqlite3_stmt, SqliteStatement::Free>(statement)};
}

void SqliteFile::execute(const std::string& sql) const {
  const int code = sqlite3_exec(file_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::uint64_t SqliteFile::ask_number(const std::string& sql) const {
  SqliteStatement statement = prepare(sql);
  if (!statement.next()) damaged("no answer to " + sql);
  return statement.number(0);
}

void SqliteFile::damaged(const std::string& what) const {
  refuse(path_, fmt::format("is damaged: {}; expected a file that may be removed and made again", what));
}

void SqliteFile::fail(int code) const {
  const std::string words = sentence(file_ ? sqlite3_errmsg(file_.get()) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      refuse(path_, "is no SQLite file");
    case SQLITE_CORRUPT:
      damaged(words);
    case SQLITE_CANTOPEN: {
      std::error_code unknown;
      const auto folder = std::filesystem::path(path_).parent_path();
      if (std::filesystem::is_directory(path_, unknown)) refuse(path_, "is a folder; expected a file");
      if (!folder.empty() && !std::filesystem::is_directory(folder, unknown))
        refuse(path_, fmt::format("cannot be made: there is no folder {}", folder.string()));
      refuse(path_, "cannot be opened or made");
    }
    case SQLITE_READONLY:
    case SQLITE_PERM:
      refuse(path_, fmt::format("cannot be written to ({})", words));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      refuse(path_, fmt::format("another process has held it for {} s", kBusyMilliseconds / 1000));
    default:
      refuse(path_, words);
  }
}

SqliteTransaction::SqliteTransaction(const SqliteFile& file, bool writes) : file_(file) {
  file_.execute(writes ? "BEGIN IMMEDIATE" : "BEGIN");
}

SqliteTransaction::~SqliteTransaction() {
  if (open_) sqlite3_exec(file_.file_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteTransaction::commit() {
  file_.execute("COMMIT");
  open_ = false;
}

}  // namespace harmonia
