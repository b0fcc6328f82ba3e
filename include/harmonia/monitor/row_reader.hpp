#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// How rows are written.
enum class RowForm {
  any,   ///< a line that begins with { or [ is JSON, every other one CSV
  csv,   ///< a line of numbers between commas, semicolons or tabs
  json,  ///< {"alcohol": 12.3, …} by name, or [12.3, …] in the features' order; null is a missing value
};

/// What is to be known of foreign text before it is read.
struct RowReaderOptions {
  std::string name = "the rows";  ///< what messages call it
  RowForm form = RowForm::any;
  bool header = true;     ///< the first line of CSV may name the columns
  std::string id = "id";  ///< column or member that is carried as the row's id
};

/// What a line turned out to be.
enum class LineKind { row, refused, header, blank };

/// A row that was read, or why it is none.
struct ReadRow {
  std::vector<double> values;  ///< one a feature; NaN is a missing value
  std::string id;              ///< empty: it has none
  std::string reason;          ///< one line; empty: it is a row
};

/// Reads foreign text into rows of the features. A header may name the columns in any order and further ones,
/// which are left out; without one they are the features in their order.
class RowReader {
 public:
  /// The longest line; what is longer is no row.
  static constexpr std::size_t kLongestLine = std::size_t{16} << 20;
  /// Of one text, each with its reason; text that is nothing else would take many times its own memory.
  static constexpr std::size_t kMostRefused = 10000;

  explicit RowReader(std::vector<std::string> features, RowReaderOptions options = {});
  ~RowReader();
  RowReader(RowReader&&) noexcept;
  RowReader& operator=(RowReader&&) noexcept;

  /// Reads a line, without its end. Throws Error(input) for a header that leaves out a feature.
  LineKind read(std::string_view line, ReadRow& row);
  /// What is read next may begin with a header, as a new file does.
  void start_over();
  /// Reads a whole text: {"rows": [row, …], "ids": [id, …]} with rows as in JSON lines, or lines of JSON or
  /// CSV. Its positions are from 0. Throws Error(input) for what is nothing of the kind, for one without
  /// rows, and for one of which more than kMostRefused are no rows.
  StreamBatch read_all(std::string_view text);

  const std::vector<std::string>& features() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace harmonia
