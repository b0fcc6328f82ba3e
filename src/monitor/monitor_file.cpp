#include "monitor_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kMark = "mark/";  // of facts that are marks, before the partition's name

constexpr SqliteFile::Kind kFile{"the file of a monitor", 0x4861724d, 1, R"(
  CREATE TABLE facts (name BLOB PRIMARY KEY, value BLOB NOT NULL);
  CREATE TABLE positions (partition BLOB PRIMARY KEY, next INTEGER NOT NULL);
  CREATE TABLE windows (partition BLOB NOT NULL, first INTEGER NOT NULL, content BLOB NOT NULL,
    id INTEGER PRIMARY KEY, UNIQUE (partition, first));
  CREATE TABLE alerts (id INTEGER PRIMARY KEY, content BLOB NOT NULL);
  CREATE TABLE batches (name BLOB NOT NULL UNIQUE, id INTEGER PRIMARY KEY);
  CREATE TABLE rows (number INTEGER PRIMARY KEY, content BLOB NOT NULL);)"};

}  // namespace

MonitorFile::Lock::Lock(const std::string& path, Use use) {
  if (use == Use::read) {
    std::error_code unknown;
    // SQLite would make one of an empty file.
    if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::file_size(path, unknown) == 0)
      throw Error(ErrorCode::input, fmt::format("{}: is not there; expected the file of a monitor", path));
    return;
  }
  const std::string name = path + ".lock";
  descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Error(ErrorCode::input, fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    throw Error(ErrorCode::usage, fmt::format("{}: another monitor has it; expected a file for each", path));
  }
}

MonitorFile::Lock::~Lock() {
  if (descriptor >= 0) close(descriptor);
}

MonitorFile::MonitorFile(const std::string& path, const std::string& identity, Use use)
    : lock_(path, use),
      file_(path, kFile),
      find_value_(file_.prepare("SELECT value FROM facts WHERE name = ?")),
      put_value_(file_.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)")),
      put_position_(file_.prepare("INSERT OR REPLACE INTO positions (partition, next) VALUES (?, ?)")),
      find_window_(file_.prepare("SELECT content FROM windows WHERE partition = ? AND first = ?")),
      put_window_(file_.prepare("INSERT INTO windows (partition, first, content) VALUES (?, ?, ?) "
                                "ON CONFLICT (partition, first) DO UPDATE SET content = excluded.content")),
      put_alert_(file_.prepare("INSERT OR REPLACE INTO alerts (id, content) VALUES (?, ?)")),
      find_batch_(file_.prepare("SELECT id FROM batches WHERE name = ?")),
      put_batch_(file_.prepare("INSERT OR IGNORE INTO batches (name) VALUES (?)")),
      forget_batches_(file_.prepare("DELETE FROM batches WHERE id <= (SELECT max(id) FROM batches) - ?")),
      put_row_(file_.prepare("INSERT OR REPLACE INTO rows (number, content) VALUES (?, ?)")),
      forget_rows_(file_.prepare("DELETE FROM rows WHERE number < ?")) {
  SqliteTransaction transaction(file_);
  if (use == Use::own && value("identity").empty()) put_value("identity", identity);
  transaction.commit();
  if (use == Use::own && value("identity") != identity) refuse_identity();
}

void MonitorFile::check(const std::string& identity) {
  if (!value("identity").starts_with(identity + " ")) refuse_identity();
}

void MonitorFile::refuse_identity() const {
  throw Error(
      ErrorCode::usage,
      fmt::format("{}: is of another baseline, map, window or seed; expected the same, or another file",
                  file_.path()));
}

std::string MonitorFile::value(const std::string& name) {
  find_value_.bind(name);
  if (!find_value_.next()) return {};
  std::string text(find_value_.bytes(0));
  find_value_.end();
  return text;
}

void MonitorFile::put_value(const std::string& name, const std::string& value) {
  put_value_.bind(name).bind(value).run();
}

StreamPositions MonitorFile::positions() {
  StreamPositions positions;
  SqliteStatement all = file_.prepare("SELECT partition, next FROM positions");
  while (all.next()) positions[std::string(all.bytes(0))] = all.number(1);
  return positions;
}

void MonitorFile::put_position(const std::string& partition, std::uint64_t next) {
  put_position_.bind(partition).bind(next).run();
}

StreamMarks MonitorFile::marks() {
  StreamMarks marks;
  SqliteStatement all = file_.prepare("SELECT name, value FROM facts");
  while (all.next()) {
    const std::string_view name = all.bytes(0);
    if (name.starts_with(kMark)) marks[std::string(name.substr(kMark.size()))] = all.bytes(1);
  }
  return marks;
}

void MonitorFile::put_mark(const std::string& partition, const std::string& mark) {
  put_value(std::string(kMark) + partition, mark);
}

// What is put again gets a new rowid, larger than all.
std::string MonitorFile::forget_position() {
  SqliteStatement oldest = file_.prepare("SELECT partition FROM positions ORDER BY rowid LIMIT 1");
  if (!oldest.next()) return {};
  std::string partition(oldest.bytes(0));
  oldest.end();
  file_.prepare("DELETE FROM positions WHERE partition = ?").bind(partition).run();
  const std::string mark = std::string(kMark) + partition;
  file_.prepare("DELETE FROM facts WHERE name = ?").bind(mark).run();
  return partition;
}

std::vector<std::string> MonitorFile::texts(SqliteStatement& statement) {
  std::vector<std::string> found;
  while (statement.next()) found.emplace_back(statement.bytes(0));
  return found;
}

std::vector<std::string> MonitorFile::windows(std::uint64_t count) {
  SqliteStatement last = file_.prepare("SELECT content FROM windows ORDER BY id DESC LIMIT ?");
  last.bind(count);
  std::vector<std::string> found = texts(last);
  std::ranges::reverse(found);
  return found;
}

std::string MonitorFile::window(const std::string& partition, std::uint64_t first) {
  find_window_.bind(partition).bind(first);
  if (!find_window_.next()) return {};
  std::string text(find_window_.bytes(0));
  find_window_.end();
  return text;
}

void MonitorFile::put_window(const Window& window) {
  const std::string text = window_text(window);
  put_window_.bind(window.partition).bind(window.first).bind(text).run();
}

std::vector<std::string> MonitorFile::alerts(std::uint64_t count) {
  SqliteStatement last = file_.prepare("SELECT content FROM alerts ORDER BY id DESC LIMIT ?");
  last.bind(count);
  std::vector<std::string> found = texts(last);
  std::ranges::reverse(found);
  return found;
}

void MonitorFile::put_alert(std::uint64_t id, const std::string& text) {
  put_alert_.bind(id).bind(text).run();
}

bool MonitorFile::has_batch(const std::string& id) {
  find_batch_.bind(id);
  const bool found = find_batch_.next();
  if (found) find_batch_.end();
  return found;
}

void MonitorFile::put_batch(const std::string& id) {
  put_batch_.bind(id).run();
  forget_batches_.bind(kKeptBatches).run();
}

std::vector<std::string> MonitorFile::rows(std::uint64_t count) {
  SqliteStatement last = file_.prepare("SELECT content FROM rows ORDER BY number DESC LIMIT ?");
  last.bind(count);
  std::vector<std::string> found = texts(last);
  std::ranges::reverse(found);
  return found;
}

void MonitorFile::put_row(std::uint64_t number, const std::string& text) {
  put_row_.bind(number).bind(text).run();
}

void MonitorFile::forget_rows(std::uint64_t number) { forget_rows_.bind(number).run(); }

}  // namespace harmonia
