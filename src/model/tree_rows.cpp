#include "tree_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace harmonia {
namespace {

template <class T>
T category_side(const CategorySet& set, T value) {
  if (std::isnan(value)) return value;
  const double last = 32.0 * static_cast<double>(set.words.size());
  bool member = false;
  const bool counts = value >= 0 || (set.cut_below_zero && value > -1);
  if (counts && value < last) {
    const auto category = static_cast<std::size_t>(value < 0 ? T{0} : value);
    member = ((set.words[category / 32] >> (category % 32)) & 1U) != 0;
  }
  return member == set.members_left ? T{-1} : T{1};
}

template <class T>
T seen_as(const TreeInput& input, const std::vector<CategorySet>& sets, T value) {
  switch (input.rule) {
    case TreeInput::Rule::plain:
      return value;
    case TreeInput::Rule::nan_is_zero:
      return std::isnan(value) ? T{0} : value;
    case TreeInput::Rule::zero_is_missing:
      return std::abs(value) <= static_cast<T>(kLightGbmZero) ? std::numeric_limits<T>::quiet_NaN() : value;
    case TreeInput::Rule::category:
      return category_side(sets[input.set], value);
  }
  return value;
}

}  // namespace

TreeRowsMaker::TreeRowsMaker(const TreeEnsemble& ensemble, const std::vector<std::uint32_t>& used,
                             const TreeKernel& kernel)
    : sets_(ensemble.sets), scalar_(ensemble.scalar), kernel_(kernel) {
  for (const std::uint32_t input : used) {
    inputs_.push_back(ensemble.inputs[input]);
    columns_.push_back(ensemble.inputs[input].column);
    // Kernels take eight columns at once, which they know by the first and the last.
    const bool ascending = columns_.size() < 2 || columns_[columns_.size() - 2] < columns_.back();
    plain_ = plain_ && ascending && ensemble.inputs[input].rule == TreeInput::Rule::plain;
  }
  in_order_.resize(used.size());
  std::iota(in_order_.begin(), in_order_.end(), 0U);
  all_columns_ = columns_ == in_order_;
}

template <class T>
void TreeRowsMaker::look(const MatrixView<const T>& x, std::vector<float>& out) const {
  out.resize(x.rows * inputs_.size());
  float* to = out.data();
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (const TreeInput& input : inputs_) {
      *to++ = static_cast<float>(seen_as(input, sets_, x.row(row)[input.column]));
    }
  }
}

double TreeRowsMaker::seen(std::size_t input, double value) const {
  const TreeInput& what = inputs_[input];
  return scalar_ == Scalar::float32 ? static_cast<double>(seen_as(what, sets_, static_cast<float>(value)))
                                    : seen_as(what, sets_, value);
}

TreeRowsMaker::Coordinate TreeRowsMaker::coordinate(double value) const {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  const double typed = scalar_ == Scalar::float32 ? static_cast<double>(static_cast<float>(value)) : value;
  if (std::isnan(typed)) return {value, Coordinate::kMissing};
  if (typed >= kMost || typed <= -1) return {value, Coordinate::kNone};
  return {value, typed < 0 ? Coordinate::kBelowZero : static_cast<std::int32_t>(typed)};
}

void TreeRowsMaker::see(std::size_t input, std::span<const Coordinate> values, float* out) const {
  if (rule(input) != TreeInput::Rule::category) {
    for (const Coordinate& each : values) *out++ = static_cast<float>(seen(input, each.value));
    return;
  }
  const CategorySet& set = sets_[inputs_[input].set];
  const std::uint32_t* const words = set.words.data();
  const std::size_t categories = 32 * set.words.size();
  for (const Coordinate& each : values) {
    std::int32_t category = each.category;
    if (category == Coordinate::kBelowZero) category = set.cut_below_zero ? 0 : Coordinate::kNone;
    const auto number = static_cast<std::uint32_t>(category);
    const bool member = number < categories && ((words[number / 32] >> (number % 32)) & 1U) != 0;
    *out = member == set.members_left ? -1.0F : 1.0F;
    if (category == Coordinate::kMissing) *out = std::numeric_limits<float>::quiet_NaN();
    ++out;
  }
}

// From a row to a point around it; the first steps may be null, and then the others.
void TreeRowsMaker::step(const double* x, const double* steps, const double* further, float* to) const {
  const std::size_t inputs = inputs_.size();
  if (steps == nullptr) std::swap(steps, further);
  if (further != nullptr) {
    for (std::size_t i = 0; i < inputs; ++i)
      to[i] = static_cast<float>((x[columns_[i]] + steps[i]) + further[i]);
  } else if (steps != nullptr) {
    for (std::size_t i = 0; i < inputs; ++i) to[i] = static_cast<float>(x[columns_[i]] + steps[i]);
  } else if (all_columns_) {
    for (std::size_t i = 0; i < inputs; ++i) to[i] = static_cast<float>(x[i]);
  } else {
    for (std::size_t i = 0; i < inputs; ++i) to[i] = static_cast<float>(x[columns_[i]]);
  }
}

bool TreeRowsMaker::make_block(std::span<const double* const> rows, const double* steps,
                               const double* further, std::vector<float>& seen, float* block) const {
  const std::size_t inputs = inputs_.size();
  seen.resize(rows.size() * inputs);
  for (std::size_t row = 0; row < rows.size(); ++row)
    step(rows[row], steps, further, seen.data() + row * inputs);
  return kernel_.gather_block(seen.data(), inputs, rows.size(), in_order_.data(), inputs, block);
}

bool TreeRowsMaker::make_block(std::span<const double* const> rows, std::span<const double* const> steps,
                               std::span<const double* const> further, std::vector<float>& seen,
                               float* block) const {
  const std::size_t inputs = inputs_.size();
  seen.resize(rows.size() * inputs);
  for (std::size_t row = 0; row < rows.size(); ++row)
    step(rows[row], steps[row], further[row], seen.data() + row * inputs);
  return kernel_.gather_block(seen.data(), inputs, rows.size(), in_order_.data(), inputs, block);
}

TreeRows TreeRowsMaker::make(const RowsView& x, std::size_t first, std::size_t count, Buffer& buffer) const {
  const std::size_t inputs = inputs_.size(), block = kernel_.block;
  TreeRows rows{.inputs = inputs, .count = count};
  buffer.blocks.resize((count + block - 1) / block * block * inputs);
  for (std::size_t row = 0; row < count; row += block) {
    const std::size_t part = std::min(block, count - row);
    float* to = buffer.blocks.data() + row * inputs;
    if (plain_ && x.scalar() == Scalar::float32) {
      const auto from = x.as<float>().slice(first + row, part);
      rows.missing |= kernel_.gather_block(from.data, from.columns, part, columns_.data(), inputs, to);
      continue;
    }
    if (x.scalar() == Scalar::float32) {
      look(x.as<float>().slice(first + row, part), buffer.seen);
    } else {
      look(x.as<double>().slice(first + row, part), buffer.seen);
    }
    rows.missing |= kernel_.gather_block(buffer.seen.data(), inputs, part, in_order_.data(), inputs, to);
  }
  rows.x = buffer.blocks.data();
  if (x.scalar() == Scalar::float64) {
    buffer.exact = x.as<double>().slice(first, count);
    buffer.maker = this;
    rows.source = &buffer;
    rows.exact = [](const void* source, std::size_t row, std::size_t input) {
      const auto& from = *static_cast<const Buffer*>(source);
      const TreeInput& what = from.maker->inputs_[input];
      return seen_as(what, from.maker->sets_, from.exact.row(row)[what.column]);
    };
  }
  return rows;
}

}  // namespace harmonia
