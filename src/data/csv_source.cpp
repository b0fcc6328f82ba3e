#include "harmonia/data/csv_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string_view>

#include "column_choice.hpp"
#include "csv_records.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/suggestion.hpp"
#include "harmonia/core/text.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

using Record = std::vector<std::string_view>;

bool names_a_field(const DataOptions& options, const Record& record) {
  const auto is_named = [&](const std::string& column) {
    return !column.empty() && !is_column_number(column) &&
           std::find(record.begin(), record.end(), column) != record.end();
  };
  return std::any_of(options.columns.begin(), options.columns.end(), is_named) ||
         std::any_of(options.drop.begin(), options.drop.end(), is_named) || is_named(options.id) ||
         is_named(options.label) || is_named(options.by);
}

bool is_text(std::string_view field) { return parse_number(field).kind == NumberKind::not_a_number; }

bool is_header(const std::string& path, const Record& record, const DataOptions& options) {
  if (names_a_field(options, record)) return true;
  try {
    const auto features = choose_columns(path, numbered_names(record.size()), options).features;
    return std::any_of(features.begin(), features.end(), [&](std::size_t i) { return is_text(record[i]); });
  } catch (const Error&) {
    // The options fit neither kind of file; the choice with the final names says what is wrong.
    return std::any_of(record.begin(), record.end(), is_text);
  }
}

class CsvSource final : public RowSource {
 public:
  CsvSource(const std::string& path, const DataOptions& options) : records_(path) {
    info_.source = path;
    if (!records_.next()) {
      throw Error(ErrorCode::input,
                  fmt::format("{} {}", path, records_.empty_file() ? "is empty" : "has no rows"));
    }
    width_ = records_.fields().size();
    first_line_ = records_.line();
    has_header_ = is_header(path, records_.fields(), options);
    names_ = numbered_names(width_);
    if (has_header_) {
      for (std::size_t i = 0; i < width_; ++i) {
        if (!records_.fields()[i].empty()) names_[i] = records_.fields()[i];
      }
    }
    choice_ = choose_columns(path, names_, options);
    info_.inputs = choice_.features.size();
    info_.by = options.by;
    for (const std::size_t i : choice_.features) info_.features.push_back(names_[i]);
    if (has_header_ && !records_.next()) {
      throw Error(ErrorCode::input, fmt::format("{} has a header and no rows", path));
    }
    records_.put_back();
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    assert(limit > 0);
    block.reset(row_, 0, choice_.features.size());
    values_.clear();
    std::size_t count = 0;
    for (; count < limit && records_.next(); ++count) add_row(block);
    row_ += count;
    // The values are gathered first: how many rows there are is known only now, and `limit` may be "all".
    block.values.resize(count, choice_.features.size());
    std::copy(values_.begin(), values_.end(), block.values.view().data);
    return count > 0;
  }

  void rewind() override {
    records_.rewind();
    row_ = 0;
    if (has_header_) records_.next();
  }

 private:
  void add_row(RowBlock& block) {
    const Record& fields = records_.fields();
    if (fields.size() != width_) {
      throw Error(ErrorCode::input,
                  fmt::format("{} line {} has {}; line {} has {}", info_.source, records_.line(),
                              counted(fields.size(), "field"), first_line_, width_));
    }
    for (const std::size_t column : choice_.features) {
      const ParsedNumber parsed = parse_number(fields[column]);
      if (parsed.kind == NumberKind::not_a_number) fail_text(column);
      if (parsed.kind == NumberKind::infinite) fail(column, "is infinite");
      values_.push_back(parsed.value);
    }
    if (choice_.id) block.ids.emplace_back(fields[*choice_.id]);
    if (choice_.label) block.labels.emplace_back(fields[*choice_.label]);
    if (choice_.segment) block.segments.emplace_back(fields[*choice_.segment]);
  }

  [[noreturn]] void fail(std::size_t column, std::string_view what) const {
    throw Error(ErrorCode::input,
                fmt::format("{} line {}, column {} ({}): {} {}", info_.source, records_.line(), column,
                            printable(names_[column]), in_quotes(records_.fields()[column]), what));
  }

  // A column that begins with a text is mostly no feature: says what leaves all such columns out.
  [[noreturn]] void fail_text(std::size_t column) const {
    if (row_ > 0 || values_.size() >= choice_.features.size() || !has_header_)
      fail(column, "is not a number");
    std::vector<std::string> texts;
    for (const std::size_t i : choice_.features) {
      if (parse_number(records_.fields()[i]).kind != NumberKind::not_a_number) continue;
      // A name that would not arrive as one is given by its number.
      const bool sayable = names_[i].find(',') == std::string::npos && printable(names_[i]) == names_[i];
      texts.push_back(sayable ? names_[i] : std::to_string(i));
    }
    if (texts.size() == choice_.features.size()) fail(column, "is not a number");
    fail(column,
         fmt::format("is not a number; columns of text are left out by --drop {}", shell_list(texts)));
  }

  CsvRecords records_;
  DataInfo info_;
  std::vector<std::string> names_;  // of all columns
  ColumnChoice choice_;
  std::size_t width_ = 0;
  std::size_t first_line_ = 0;
  bool has_header_ = false;
  std::size_t row_ = 0;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<RowSource> open_csv(const std::string& path, const DataOptions& options) {
  return std::make_unique<CsvSource>(path, options);
}

}  // namespace harmonia
