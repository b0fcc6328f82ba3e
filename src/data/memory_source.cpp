#include "harmonia/data/memory_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/core/value_checks.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

class MemorySource final : public RowSource {
 public:
  MemorySource(MatrixView<const double> rows, std::vector<std::string> names, std::vector<std::string> ids,
               std::vector<std::string> labels)
      : rows_(rows), ids_(std::move(ids)), labels_(std::move(labels)) {
    if (rows.rows == 0 || rows.columns == 0) {
      throw Error(ErrorCode::usage, fmt::format("rows in memory are {} × {}; expected at least 1 × 1",
                                                rows.rows, rows.columns));
    }
    if (!names.empty() && names.size() != rows.columns) {
      throw Error(ErrorCode::usage, fmt::format("rows in memory: {} for {}", counted(names.size(), "name"),
                                                counted(rows.columns, "column")));
    }
    for (const auto* texts : {&ids_, &labels_}) {
      if (!texts->empty() && texts->size() != rows.rows) {
        throw Error(ErrorCode::usage, fmt::format("rows in memory: {} for {}",
                                                  counted(texts->size(), texts == &ids_ ? "id" : "label"),
                                                  counted(rows.rows, "row")));
      }
    }
    info_.source = "memory";
    info_.inputs = rows.columns;
    info_.features = std::move(names);
    info_.rows = rows.rows;
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    assert(limit > 0);
    const MatrixView<const double> rows = rows_.slice(row_, std::min(limit, rows_.rows - row_));
    block.reset(row_, rows.rows, rows.columns);
    carry(ids_, rows.rows, block.ids);
    carry(labels_, rows.rows, block.labels);
    // A piece is copied while the nearest cache has it.
    const std::size_t size = rows.rows * rows.columns;
    for (std::size_t first = 0; first < size; first += kPiece) {
      const std::span<const double> piece(rows.data + first, std::min(kPiece, size - first));
      check_finite(piece, first);
      std::copy(piece.begin(), piece.end(), block.values.view().data + first);
    }
    row_ += rows.rows;
    return rows.rows > 0;
  }

  void rewind() override { row_ = 0; }

 private:
  static constexpr std::size_t kPiece = 2048;  // numbers

  // Of numbers from this one on, counted from the next row's first.
  void check_finite(std::span<const double> numbers, std::size_t first) const {
    if (count_above(numbers, std::numeric_limits<double>::max()) == 0) return;  // nor is one missing
    const auto infinite =
        std::find_if(numbers.begin(), numbers.end(), [](double value) { return std::isinf(value); });
    if (infinite == numbers.end()) return;
    const std::size_t at = first + static_cast<std::size_t>(infinite - numbers.begin());
    throw Error(ErrorCode::input,
                fmt::format("memory row {}, column {} ({}) is infinite", row_ + at / info_.inputs,
                            at % info_.inputs, printable(feature_name(info_, at % info_.inputs))));
  }

  // Those of the next `count` rows, if there are any.
  void carry(const std::vector<std::string>& texts, std::size_t count, std::vector<std::string>& out) const {
    out.clear();
    if (texts.empty()) return;
    const auto first = texts.begin() + static_cast<std::ptrdiff_t>(row_);
    out.assign(first, first + static_cast<std::ptrdiff_t>(count));
  }

  MatrixView<const double> rows_;
  std::vector<std::string> ids_, labels_;
  DataInfo info_;
  std::size_t row_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> make_memory_source(MatrixView<const double> rows, std::vector<std::string> names,
                                              std::vector<std::string> ids, std::vector<std::string> labels) {
  return std::make_unique<MemorySource>(rows, std::move(names), std::move(ids), std::move(labels));
}

}  // namespace harmonia
