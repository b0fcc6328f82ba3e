// Whatever is sent as rows: every position is a row of finite or missing numbers or refused in a line, and
// lines are the same however the bytes of a stream are cut.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../src/monitor/line_buffer.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/monitor/row_reader.hpp"
#include "memory_file.hpp"

using harmonia::fuzz::require;

namespace {

const std::vector<std::string> kFeatures{"a", "b", "c"};

bool one_line(const std::string& text) {
  return text.find('\n') == std::string::npos && harmonia::is_utf8(text);
}

void check(const harmonia::StreamBatch& batch) {
  const std::size_t rows = batch.rows.values.rows();
  require(batch.first == 0 && batch.next == rows + batch.refused.size());
  require(batch.rows.ids.empty() || batch.rows.ids.size() == rows);
  for (const std::string& id : batch.rows.ids) require(harmonia::is_utf8(id));
  for (std::size_t i = 0; i < rows; ++i) {
    require(batch.rows.number(i) < batch.next && (i == 0 || batch.rows.number(i) > batch.rows.number(i - 1)));
    for (std::size_t j = 0; j < kFeatures.size(); ++j) require(!std::isinf(batch.rows.values.row(i)[j]));
  }
  for (const harmonia::RefusedRow& refused : batch.refused)
    require(refused.position < batch.next && !refused.reason.empty() && one_line(refused.reason));
}

// The lines of a text that comes in pieces of this size.
std::vector<std::string> lines_of(std::string_view text, std::size_t piece, std::size_t longest) {
  harmonia::LineBuffer buffer(longest);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size(); begin += piece) {
    const std::string_view part = text.substr(begin, piece);
    std::copy(part.begin(), part.end(), buffer.room().data());
    buffer.add(part.size());
    for (std::string_view line; buffer.next(line);) lines.emplace_back(line.substr(0, longest + 1));
  }
  lines.emplace_back(buffer.rest().substr(0, longest + 1));
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text = harmonia::fuzz::text_of(data + 2, size - 2);
  harmonia::RowReader reader(kFeatures, {.form = static_cast<harmonia::RowForm>(data[0] % 3)});
  try {
    check(reader.read_all(text));
  } catch (const harmonia::Error& error) {
    require(one_line(error.what()));
  }
  require(lines_of(text, 1 + data[1], 20) == lines_of(text, text.size() + 1, 20));
  return 0;
}
