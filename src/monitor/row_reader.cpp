#include "harmonia/monitor/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "../data/number_text.hpp"
#include "batch_builder.hpp"
#include "csv_line.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "json_rows.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";  // that some programs begin UTF-8 with

bool begins_json(std::string_view text) { return text.starts_with('{') || text.starts_with('['); }

}  // namespace

class RowReader::Parts {
 public:
  Parts(std::vector<std::string> features, RowReaderOptions options)
      : options_(std::move(options)), columns_(std::move(features), options_.id) {}

  const RowColumns& columns() const { return columns_; }
  const RowReaderOptions& options() const { return options_; }

  void start_over() {
    first_line_ = true;
    header_.reset();
  }

  LineKind read(std::string_view line, ReadRow& row) {
    row.reason.clear();
    if (first_line_ && line.starts_with(kMark)) line.remove_prefix(kMark.size());
    line = trim(line);
    if (line.empty()) return LineKind::blank;
    const bool first = std::exchange(first_line_, false);
    if (line.size() > kLongestLine) {
      row.reason = fmt::format("it is longer than {} MiB", kLongestLine >> 20U);
    } else if (options_.form == RowForm::json || (options_.form == RowForm::any && begins_json(line))) {
      read_json_row(columns_, line, row);
    } else {
      if (first && options_.header && take_header(line)) return LineKind::header;
      read_csv(line, row);
    }
    return row.reason.empty() ? LineKind::row : LineKind::refused;
  }

 private:
  struct Header {
    char delimiter;
    std::vector<std::size_t> places;  // by column, as of RowColumns::find
  };

  // Whether it names columns: a feature, or nothing but texts.
  bool is_header() const {
    const auto& fields = line_.fields();
    return std::any_of(
               fields.begin(), fields.end(),
               [&](auto field) { return columns_.find(std::string(field), 0) != RowColumns::kNone; }) ||
           std::all_of(fields.begin(), fields.end(),
                       [](auto field) { return parse_number(field).kind == NumberKind::not_a_number; });
  }

  bool take_header(std::string_view line) {
    const char delimiter = csv_delimiter(line);
    if (!line_.split(line, delimiter).empty() || !is_header()) return false;
    Header header{delimiter, {}};
    std::vector<bool> seen(columns_.features().size() + 1);
    for (const auto field : line_.fields()) {
      const std::size_t place = columns_.find(std::string(field), header.places.size());
      if (place != RowColumns::kNone && seen[place])
        throw Error(ErrorCode::input,
                    fmt::format("{}: the header names the column {} twice", options_.name, in_quotes(field)));
      if (place != RowColumns::kNone) seen[place] = true;
      header.places.push_back(place);
    }
    for (std::size_t i = 0; i < columns_.features().size(); ++i) {
      if (!seen[i])
        throw Error(ErrorCode::input, fmt::format("{}: the header {} names no column {}", options_.name,
                                                  in_quotes(line), in_quotes(columns_.features()[i])));
    }
    header_ = std::move(header);
    return true;
  }

  void read_csv(std::string_view line, ReadRow& row) {
    row.reason = line_.split(line, header_ ? header_->delimiter : csv_delimiter(line));
    if (!row.reason.empty()) return;
    const auto& fields = line_.fields();
    const std::size_t features = columns_.features().size();
    const std::size_t expected = header_ ? header_->places.size() : features;
    if (fields.size() != expected) {
      row.reason = fmt::format("it has {}; expected {}", counted(fields.size(), "field"), expected);
      return;
    }
    row.values.resize(features);
    row.id.clear();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::size_t place = header_ ? header_->places[i] : i;
      if (place < features) {
        const ParsedNumber parsed = parse_number(fields[i]);
        row.values[place] = parsed.value;
        if (parsed.kind == NumberKind::not_a_number || parsed.kind == NumberKind::infinite) {
          row.reason = fmt::format("{} is {}; expected a finite number",
                                   in_quotes(columns_.features()[place]), in_quotes(fields[i]));
          return;
        }
      } else if (place == features) {
        row.id = repair_utf8(fields[i].substr(0, kLongestId));
      }
    }
  }

  RowReaderOptions options_;
  RowColumns columns_;
  CsvLine line_;
  bool first_line_ = true;
  std::optional<Header> header_;
};

RowReader::RowReader(std::vector<std::string> features, RowReaderOptions options)
    : parts_(std::make_unique<Parts>(std::move(features), std::move(options))) {}
RowReader::~RowReader() = default;
RowReader::RowReader(RowReader&&) noexcept = default;
RowReader& RowReader::operator=(RowReader&&) noexcept = default;

const std::vector<std::string>& RowReader::features() const { return parts_->columns().features(); }
void RowReader::start_over() { parts_->start_over(); }
LineKind RowReader::read(std::string_view line, ReadRow& row) { return parts_->read(line, row); }

StreamBatch RowReader::read_all(std::string_view text) {
  const std::string& name = parts_->options().name;
  BatchBuilder builder(features().size());
  builder.begin("0", 0);
  std::uint64_t next = 0;
  std::vector<std::string> ids;
  const auto add = [&](const ReadRow& row) {
    builder.add(next++, row);
    if (builder.refused().size() > kMostRefused)
      throw Error(ErrorCode::input, fmt::format("{}: more than {} of them are none; number {}: {}", name,
                                                kMostRefused, next - 1, row.reason));
  };
  start_over();
  const std::string_view all = trim(text.starts_with(kMark) ? text.substr(kMark.size()) : text);
  if (parts_->options().form != RowForm::csv && is_json_body(all)) {
    ids = read_json_body(parts_->columns(), name, all, add);
  } else {
    ReadRow row;
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = std::min(all.find('\n', begin), all.size());
      const LineKind kind = read(all.substr(begin, end - begin), row);
      if (kind == LineKind::row || kind == LineKind::refused) add(row);
      begin = end + 1;
    }
  }
  if (next == 0) throw Error(ErrorCode::input, fmt::format("{}: there are none", name));
  if (!ids.empty() && ids.size() != next)
    throw Error(ErrorCode::input,
                fmt::format("{}: 'ids' has {}; expected {}, one a row", name, ids.size(), next));
  StreamBatch batch = builder.end(next);
  if (!ids.empty()) {
    batch.rows.ids.clear();
    for (std::size_t i = 0; i < batch.rows.values.rows(); ++i)
      batch.rows.ids.push_back(std::move(ids[batch.rows.number(i)]));
  }
  return batch;
}

}  // namespace harmonia
