#include "row_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

// A source may give fewer rows than asked before its end.
void fill(RowSource& source, std::size_t limit, PairSide& side) {
  const std::size_t width = source.info().inputs;
  std::vector<double> values;
  side.numbers.clear();
  side.ids.clear();
  RowBlock block;
  while (side.numbers.size() < limit && source.read(block, limit - side.numbers.size())) {
    const std::size_t rows = block.values.rows();
    values.insert(values.end(), block.values.view().data, block.values.view().data + rows * width);
    for (std::size_t i = 0; i < rows; ++i) side.numbers.push_back(block.number(i));
    side.ids.insert(side.ids.end(), block.ids.begin(), block.ids.end());
  }
  side.values.resize(side.numbers.size(), width);
  std::copy(values.begin(), values.end(), side.values.view().data);
}

bool one_row(RowSource& source) {
  PairSide side;
  fill(source, 2, side);
  source.rewind();
  return side.numbers.size() == 1;
}

std::size_t all_rows(RowSource& source) {
  std::size_t rows = 0;
  RowBlock block;
  source.rewind();
  while (source.read(block, rows_per_block(source.info().inputs))) rows += block.values.rows();
  return rows;
}

}  // namespace

RowPairs::RowPairs(RowSource& a, RowSource& b) : source_a_(a), source_b_(b) {
  if (a.info().inputs != b.info().inputs) {
    throw Error(ErrorCode::input,
                fmt::format("{} has {} columns and {} has {}; expected the same", a.info().source,
                            a.info().inputs, b.info().source, b.info().inputs));
  }
  const std::vector<std::string>&names_a = a.info().features, &names_b = b.info().features;
  for (std::size_t j = 0; j < std::min(names_a.size(), names_b.size()); ++j) {
    if (names_a[j] == names_b[j]) continue;
    throw Error(ErrorCode::input,
                fmt::format("column {} is {} in {} and {} in {}; expected the same columns", j,
                            in_quotes(names_a[j]), a.info().source, in_quotes(names_b[j]), b.info().source));
  }
  rewind();
  one_a_ = one_row(a);
  one_b_ = one_row(b);
}

void RowPairs::rewind() {
  source_a_.rewind();
  source_b_.rewind();
  begun_ = false;
}

bool RowPairs::read(std::size_t limit) {
  if (one_a_ && one_b_ && begun_) return false;
  if (!one_a_ || !begun_) fill(source_a_, one_a_ ? 1 : limit, a_);
  if (!one_b_ || !begun_) fill(source_b_, one_b_ ? 1 : limit, b_);
  begun_ = true;
  size_ = one_a_ ? b_.numbers.size() : a_.numbers.size();
  if (!one_a_ && !one_b_ && a_.numbers.size() != b_.numbers.size()) {
    throw Error(ErrorCode::input,
                fmt::format("{} has {} and {} has {}; expected as many, or one row on one side",
                            source_a_.info().source, counted(all_rows(source_a_), "row"),
                            source_b_.info().source, all_rows(source_b_)));
  }
  return size_ > 0;
}

}  // namespace harmonia
