#include "json_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A value that is no container, as the parser found it.
struct Plain {
  enum class Kind { null, number, text, other } kind = Kind::null;
  double number = kMissing;
  std::string text;  // as written, for messages and as an id
};

std::string described(const Plain& value) {
  switch (value.kind) {
    case Plain::Kind::null:
      return "null";
    case Plain::Kind::number:
      return "the number " + value.text;
    case Plain::Kind::text:
      return "the text " + in_quotes(value.text);
    case Plain::Kind::other:
      break;
  }
  return value.text;
}

/// Puts a row together from what is found in it one after another.
class RowParts {
 public:
  explicit RowParts(const RowColumns& columns) : columns_(columns), seen_(columns.features().size() + 1) {}

  void begin(ReadRow& row, bool by_name) {
    row_ = &row;
    by_name_ = by_name;
    row.values.assign(columns_.features().size(), kMissing);
    row.id.clear();
    row.reason.clear();
    std::fill(seen_.begin(), seen_.end(), false);
    count_ = 0;
    place_ = RowColumns::kNone;
  }

  void name(const std::string& name) {
    place_ = columns_.find(name, place_ + 1);
    if (place_ == RowColumns::kNone) return;
    if (seen_[place_]) refuse(fmt::format("{} is given twice", in_quotes(name)));
    count_ += place_ < columns_.features().size() && !seen_[place_] ? 1 : 0;
    seen_[place_] = true;
  }

  void value(const Plain& value) {
    const std::size_t place = next_place();
    if (place == RowColumns::kNone) return;
    if (place == columns_.features().size()) {
      if (value.kind == Plain::Kind::other || value.text.size() > kLongestId)
        refuse(fmt::format("the id is {}; expected a text of at most {} bytes or a number", described(value),
                           kLongestId));
      else
        row_->id = value.text;
    } else if (value.kind == Plain::Kind::number || value.kind == Plain::Kind::null) {
      row_->values[place] = value.number;
    } else {
      no_number(place, described(value));
    }
  }

  // A list or an object where a value is due.
  void container(std::string_view what) {
    const std::size_t place = next_place();
    if (place == RowColumns::kNone) return;
    if (place == columns_.features().size())
      refuse(fmt::format("the id is {}; expected a text or a number", what));
    else
      no_number(place, what);
  }

  void end() {
    const std::size_t expected = columns_.features().size();
    if (by_name_ && count_ < expected) {
      const auto absent = std::find(seen_.begin(), seen_.end(), false) - seen_.begin();
      refuse(fmt::format("it has no {}; a missing value is null",
                         in_quotes(columns_.features()[static_cast<std::size_t>(absent)])));
    } else if (count_ != expected) {
      refuse(fmt::format("it has {}; expected {}", counted(count_, "value"), expected));
    }
  }

 private:
  std::size_t next_place() {
    if (by_name_) return place_;
    const std::size_t place = count_++;
    return place < columns_.features().size() ? place : RowColumns::kNone;
  }
  void no_number(std::size_t place, std::string_view found) {
    refuse(fmt::format("{} is {}; expected a number or null", in_quotes(columns_.features()[place]), found));
  }
  void refuse(const std::string& reason) {
    if (row_->reason.empty()) row_->reason = reason;
  }

  const RowColumns& columns_;
  ReadRow* row_ = nullptr;
  bool by_name_ = false;
  std::size_t place_ = RowColumns::kNone;  // of the next value of a row by name
  std::size_t count_ = 0;                  // features named so far, or values of a list
  std::vector<bool> seen_;
};

/// What the parser calls: rows are taken out while it reads, so that nothing is built that is thrown away.
class RowEvents {
 public:
  virtual ~RowEvents() = default;
  virtual bool plain(const Plain& value) = 0;
  virtual bool name(const std::string& name) = 0;
  virtual bool open(bool object) = 0;
  virtual bool close() = 0;

  // The parser's own names.
  bool null() { return plain({Plain::Kind::null, kMissing, ""}); }
  bool boolean(bool value) { return plain({Plain::Kind::other, kMissing, value ? "true" : "false"}); }
  bool number_integer(std::int64_t value) { return whole(value); }
  bool number_unsigned(std::uint64_t value) { return whole(value); }
  bool number_float(double value, const std::string& text) {
    return plain({Plain::Kind::number, value, text});
  }
  bool string(std::string& value) { return plain({Plain::Kind::text, kMissing, std::move(value)}); }
  bool binary(Json::binary_t& /*value*/) { return false; }
  bool key(std::string& value) { return name(value); }
  bool start_object(std::size_t /*size*/) { return open(true); }
  bool start_array(std::size_t /*size*/) { return open(false); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t at, const std::string& /*token*/, const Json::exception& error) {
    error_ = dynamic_cast<const Json::out_of_range*>(&error) != nullptr
                 ? "it holds a number that is too large for a double"
                 : fmt::format("byte {}: not valid JSON", at);
    return false;
  }

  /// Why reading ended early; empty: it did not.
  const std::string& error() const { return error_; }

 protected:
  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

 private:
  template <class Integer>
  bool whole(Integer value) {
    return plain({Plain::Kind::number, static_cast<double>(value), fmt::format("{}", value)});
  }

  std::string error_;
};

/// A document that is one row.
class OneRow final : public RowEvents {
 public:
  OneRow(const RowColumns& columns, ReadRow& row) : parts_(columns), row_(row) {}

  bool plain(const Plain& value) override {
    if (depth_ == 0) return fail(fmt::format("it is {}; expected an object or a list", described(value)));
    if (depth_ == 1) parts_.value(value);
    return true;
  }
  bool name(const std::string& name) override {
    if (depth_ == 1) parts_.name(name);
    return true;
  }
  bool open(bool object) override {
    if (depth_ == 0) parts_.begin(row_, object);
    if (depth_ == 1) parts_.container(object ? "an object" : "a list");
    ++depth_;
    return true;
  }
  bool close() override {
    if (--depth_ == 0) parts_.end();
    return true;
  }

 private:
  RowParts parts_;
  ReadRow& row_;
  std::size_t depth_ = 0;
};

/// {"rows": [row, …], "ids": [id, …]}.
class Body final : public RowEvents {
 public:
  Body(const RowColumns& columns, const std::function<void(ReadRow&)>& take) : parts_(columns), take_(take) {}

  bool plain(const Plain& value) override {
    if (depth_ == 0) return fail(fmt::format("it is {}; expected an object with 'rows'", described(value)));
    if (depth_ == 1 && member_ != Member::other) return no_list(described(value));
    if (depth_ == 2 && member_ == Member::rows) no_row(described(value));
    if (depth_ == 2 && member_ == Member::ids) {
      if (value.kind == Plain::Kind::other || value.text.size() > kLongestId)
        return fail(fmt::format("id {} is {}; expected a text of at most {} bytes or a number", ids_.size(),
                                described(value), kLongestId));
      ids_.push_back(value.text);
    }
    if (depth_ == 3 && member_ == Member::rows) parts_.value(value);
    return true;
  }
  bool name(const std::string& name) override {
    if (depth_ == 1) {
      member_ = name == "rows" ? Member::rows : name == "ids" ? Member::ids : Member::other;
      bool& seen = member_ == Member::rows ? has_rows_ : has_ids_;
      if (member_ != Member::other && std::exchange(seen, true))
        return fail(fmt::format("{} is given twice", in_quotes(name)));
    } else if (depth_ == 3 && member_ == Member::rows) {
      parts_.name(name);
    }
    return true;
  }
  bool open(bool object) override {
    const std::string_view what = object ? "an object" : "a list";
    if (depth_ == 0 && !object) return fail("it is a list; expected an object with 'rows'");
    if (depth_ == 1 && member_ != Member::other && object) return no_list(what);
    if (depth_ == 2 && member_ == Member::ids)
      return fail(fmt::format("id {} is {}; expected a text or a number", ids_.size(), what));
    if (depth_ == 2 && member_ == Member::rows) parts_.begin(row_, object);
    if (depth_ == 3 && member_ == Member::rows) parts_.container(what);
    ++depth_;
    return true;
  }
  bool close() override {
    --depth_;
    if (depth_ == 0 && !has_rows_) return fail("it has no 'rows'");
    if (depth_ == 2 && member_ == Member::rows) {
      parts_.end();
      take_(row_);
    }
    return true;
  }

  std::vector<std::string> ids() && { return std::move(ids_); }

 private:
  enum class Member { rows, ids, other };

  bool no_list(std::string_view found) {
    return fail(fmt::format("'{}' is {}; expected a list", member_ == Member::rows ? "rows" : "ids", found));
  }
  void no_row(const std::string& found) {
    row_.reason = fmt::format("it is {}; expected an object or a list", found);
    take_(row_);
  }

  RowParts parts_;
  const std::function<void(ReadRow&)>& take_;
  ReadRow row_;
  std::size_t depth_ = 0;
  Member member_ = Member::other;
  bool has_rows_ = false, has_ids_ = false;
  std::vector<std::string> ids_;
};

/// Looks for a list under "rows", and no further.
class RowsMember final : public RowEvents {
 public:
  bool plain(const Plain& /*value*/) override { return depth_ > 0; }
  bool name(const std::string& name) override {
    at_rows_ = depth_ == 1 && name == "rows";
    return true;
  }
  bool open(bool object) override {
    found_ = depth_ == 1 && at_rows_ && !object;
    at_rows_ = false;
    ++depth_;
    return !found_;
  }
  bool close() override { return --depth_ > 0; }
  bool found() const { return found_; }

 private:
  std::size_t depth_ = 0;
  bool at_rows_ = false, found_ = false;
};

std::string parse(std::string_view text, RowEvents& events) {
  Json::sax_parse(text.begin(), text.end(), &events);
  return events.error();
}

}  // namespace

RowColumns::RowColumns(std::vector<std::string> features, std::string id)
    : features_(std::move(features)), id_(std::move(id)) {
  for (std::size_t i = 0; i < features_.size(); ++i) places_.emplace(features_[i], i);
  if (!id_.empty()) places_.emplace(id_, features_.size());  // a feature of this name comes first
}

std::size_t RowColumns::find(const std::string& name, std::size_t hint) const {
  if (hint < features_.size() && features_[hint] == name) return hint;
  const auto found = places_.find(name);
  return found == places_.end() ? kNone : found->second;
}

void read_json_row(const RowColumns& columns, std::string_view text, ReadRow& row) {
  OneRow events(columns, row);
  row.reason.clear();
  std::string error = parse(text, events);
  if (!error.empty()) row.reason = std::move(error);
}

bool is_json_body(std::string_view text) {
  if (!text.starts_with('{')) return false;
  RowsMember events;
  Json::sax_parse(text.begin(), text.end(), &events, Json::input_format_t::json, false);
  return events.found();
}

std::vector<std::string> read_json_body(const RowColumns& columns, const std::string& name,
                                        std::string_view text, const std::function<void(ReadRow&)>& take) {
  Body events(columns, take);
  if (const std::string error = parse(text, events); !error.empty())
    throw Error(ErrorCode::input, fmt::format("{}: {}", name, error));
  return std::move(events).ids();
}

}  // namespace harmonia
