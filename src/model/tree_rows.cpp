#include "tree_rows.hpp"

#include <cmath>
#include <limits>

namespace harmonia {
namespace {

constexpr double kLightGbmZero = 1e-35F;  // in float32, as LightGBM has it

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
T seen(const TreeInput& input, const std::vector<CategorySet>& sets, T value) {
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

bool any_missing(const float* x, std::size_t count) {
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) found |= x[i] != x[i];
  return found;
}

}  // namespace

TreeRowsMaker::TreeRowsMaker(const TreeEnsemble& ensemble)
    : inputs_(ensemble.inputs), sets_(ensemble.sets), direct_(ensemble.inputs.size() == ensemble.columns) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    direct_ = direct_ && inputs_[i].column == i && inputs_[i].rule == TreeInput::Rule::plain;
  }
}

template <class T>
void TreeRowsMaker::fill(const MatrixView<const T>& x, std::vector<T>& out) const {
  out.resize(x.rows * inputs_.size());
  T* to = out.data();
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (const TreeInput& input : inputs_) *to++ = seen(input, sets_, x.row(row)[input.column]);
  }
}

TreeRows TreeRowsMaker::make(const RowsView& x, std::size_t first, std::size_t count, Buffer& buffer) const {
  TreeRows rows{.count = count};
  if (x.scalar() == Scalar::float32) {
    const auto part = x.as<float>().slice(first, count);
    rows.stride = direct_ ? part.columns : inputs_.size();
    rows.x = part.data;
    if (!direct_) {
      fill(part, buffer.rounded);
      rows.x = buffer.rounded.data();
    }
  } else {
    const auto part = x.as<double>().slice(first, count);
    rows.stride = direct_ ? part.columns : inputs_.size();
    rows.exact = part.data;
    if (!direct_) {
      fill(part, buffer.exact);
      rows.exact = buffer.exact.data();
    }
    buffer.rounded.assign(rows.exact, rows.exact + count * rows.stride);
    rows.x = buffer.rounded.data();
  }
  rows.missing = any_missing(rows.x, count * rows.stride);
  return rows;
}

}  // namespace harmonia
