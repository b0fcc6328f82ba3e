#include "csv_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

// Line ends in `text`: LF, CR LF or CR.
std::size_t line_ends(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    count += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  }
  return count;
}

}  // namespace

CsvRecords::CsvRecords(const std::string& path, std::size_t buffer) : file_(path), buffer_(buffer) {
  start();
}

void CsvRecords::rewind() {
  file_.rewind();
  begin_ = end_ = 0;
  at_end_ = held_ = false;
  next_line_ = 1;
  start();
}

void CsvRecords::start() {
  fill();
  empty_file_ = end_ == 0;
  const std::string_view bytes(buffer_.data(), end_);
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    throw Error(ErrorCode::input, fmt::format("{} is UTF-16 text; expected UTF-8", file_.path()));
  }
  if (bytes.starts_with("\xef\xbb\xbf")) begin_ = 3;
  choose_delimiter();
  stops_.fill(false);
  for (const char c : {delimiter_, '\n', '\r'}) stops_[static_cast<unsigned char>(c)] = true;
}

void CsvRecords::choose_delimiter() {
  constexpr std::array kDelimiters{',', ';', '\t'};
  std::array<std::size_t, kDelimiters.size()> counts{};
  bool inside = false;
  bool line_has_text = false;
  for (std::size_t i = begin_; i < end_; ++i) {
    const char c = buffer_[i];
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '\n' || c == '\r') {
      if (line_has_text) break;
    } else {
      line_has_text = line_has_text || c != ' ';
      const auto found = std::find(kDelimiters.begin(), kDelimiters.end(), c);
      if (found != kDelimiters.end()) ++counts[static_cast<std::size_t>(found - kDelimiters.begin())];
    }
  }
  delimiter_ =
      kDelimiters[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

bool CsvRecords::next() {
  if (held_) {
    held_ = false;
    return true;
  }
  do {
    line_ = next_line_;
    if (begin_ == end_ && !fill()) return false;
    // A record that the buffer cuts is scanned again from its start once more of it is there.
    while (!scan()) fill();
  } while (blank_);
  return true;
}

// Reads on behind what is unread; false if nothing came.
bool CsvRecords::fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= kRecordLimit) fail(line_, fmt::format("is longer than {} MiB", kRecordLimit >> 20U));
    buffer_.resize(2 * end_);
  }
  const std::size_t count = file_.read({buffer_.data() + end_, buffer_.size() - end_});
  end_ += count;
  at_end_ = end_ < buffer_.size();
  return count > 0;
}

// Splits the record at begin_ and steps over it; false, with nothing changed, if the buffer ends before it
// does.
bool CsvRecords::scan() {
  fields_.clear();
  escaped_.clear();
  blank_ = false;
  char* const begin = buffer_.data() + begin_;
  char* const end = buffer_.data() + end_;
  char* at = begin;
  bool has_quotes = false;
  for (;;) {
    if (fields_.size() == kColumnLimit) fail(line_, fmt::format("has more than {} fields", kColumnLimit));
    while (at < end && is_blank(*at)) ++at;
    if (at < end && *at == '"') {
      has_quotes = true;
      if (!scan_quoted(at, end)) return false;
    } else {
      char* const first = at;
      while (at < end && !is_stop(*at)) ++at;
      char* last = at;
      while (last > first && is_blank(last[-1])) --last;
      fields_.emplace_back(first, static_cast<std::size_t>(last - first));
    }
    if (at == end || *at != delimiter_) break;
    ++at;
  }
  // Without more of the file, what looks like the end of a record may be the middle of a field or of CR LF.
  if (!at_end_ && (at == end || (*at == '\r' && at + 1 == end))) return false;
  blank_ = fields_.size() == 1 && fields_[0].empty() && !has_quotes;
  next_line_ = line_ + 1;
  if (has_quotes) next_line_ += line_ends({begin, static_cast<std::size_t>(at - begin)});
  if (at < end) at += at + 1 < end && at[0] == '\r' && at[1] == '\n' ? 2 : 1;
  begin_ = static_cast<std::size_t>(at - buffer_.data());
  for (const std::size_t field : escaped_) unescape(field);
  return true;
}

// Adds the quoted field at `at` and goes to the delimiter or line end behind it; false if the buffer ends
// first.
bool CsvRecords::scan_quoted(char*& at, char* end) {
  char* const first = at + 1;
  char* last = first;
  bool doubled = false;
  const auto line_here = [&] {
    const char* begin = buffer_.data() + begin_;
    return line_ + line_ends({begin, static_cast<std::size_t>(first - begin)});
  };
  for (;;) {
    last = static_cast<char*>(std::memchr(last, '"', static_cast<std::size_t>(end - last)));
    if (last == nullptr) {
      if (!at_end_) return false;
      fail(line_here(), "opens a quote that is never closed");
    }
    if (last + 1 == end && !at_end_) return false;
    if (last + 1 == end || last[1] != '"') break;
    doubled = true;
    last += 2;
  }
  if (doubled) escaped_.push_back(fields_.size());
  fields_.emplace_back(first, static_cast<std::size_t>(last - first));
  at = last + 1;
  while (at < end && is_blank(*at)) ++at;
  if (at < end && !is_stop(*at))
    fail(line_here(), fmt::format("has text after the closing quote of field {}", fields_.size() - 1));
  return true;
}

void CsvRecords::unescape(std::size_t field) {
  char* to = buffer_.data() + (fields_[field].data() - buffer_.data());
  char* const first = to;
  const char* const end = first + fields_[field].size();
  for (const char* from = first; from < end; ++from) {
    *to++ = *from;
    if (*from == '"') ++from;
  }
  fields_[field] = {first, static_cast<std::size_t>(to - first)};
}

void CsvRecords::fail(std::size_t line, const std::string& message) const {
  throw Error(ErrorCode::input, fmt::format("{} line {} {}", file_.path(), line, message));
}

}  // namespace harmonia
