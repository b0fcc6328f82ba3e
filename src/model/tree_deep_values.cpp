#include "tree_deep_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace harmonia {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max() / 4;  // no point is infinite

bool any_large(std::span<const float> values) {
  unsigned found = 0;
  for (const float value : values) found |= std::abs(value) > kLargest ? 1U : 0U;
  return found != 0;
}

}  // namespace

DeepValues::DeepValues(const TreeRowsMaker& rows, const TurnInputs& inputs, bool plain)
    : maker_(rows), inputs_(inputs), plain_(plain), size_(rows.inputs() * inputs.block) {
  for (std::size_t i = 0; i < rows.inputs(); ++i) {
    const auto place = static_cast<std::size_t>(inputs.place[i]);
    if (columns_.size() <= place) columns_.resize(place + 1);
    columns_[place] = inputs.column[i];
    nan_is_zero_ |= rows.rule(i) == TreeInput::Rule::nan_is_zero;
  }
  coordinates_.resize(columns_.size() * inputs.block);
  same_.resize(columns_.size());
}

void DeepValues::make(std::span<const RowBall* const> rows, const TreeBallPoints& points,
                      const TurnSteps* steps) {
  balls_.assign(rows.begin(), rows.end());
  points_ = &points;
  steps_ = plain_ ? steps : nullptr;
  const std::size_t own = points.own.size();
  bases_ = 1 + (points.shifted ? own : 0) + points.last.size();
  numbers_ = bases_ + own + (points.shifted ? own : 1);
  for (auto& side : side_) side.clear();
  for (std::uint32_t p = 0; p < own; ++p) {
    const bool above = points.own[p].extra > 0;
    if (above || steps_ == nullptr) side_[0].push_back(p);
    if (!above || steps_ == nullptr) side_[1].push_back(p);
  }
  const std::size_t block = inputs_.block, blocks = (rows.size() + block - 1) / block;
  values_.resize(blocks * numbers_ * size_);
  alone_.assign(blocks, false);
  missing_ = false;
  for (std::size_t b = 0; b < blocks; ++b) {
    if (steps_ == nullptr || !make_plain(b)) make_each(b);
    find_reach(b);
  }
}

std::span<const RowBall* const> DeepValues::rows_of(std::size_t block) const {
  const std::size_t first = block * inputs_.block;
  return std::span(balls_).subspan(first, std::min(inputs_.block, balls_.size() - first));
}

RowBall::Place DeepValues::place_of_base(std::size_t base) const {
  if (base == 0) return {};
  const std::size_t shifted = points_->shifted ? points_->own.size() : 0;
  return base <= shifted ? points_->own[base - 1] : points_->last[base - 1 - shifted];
}

// Where steps are the same and inputs columns; false: it is not so for these rows.
bool DeepValues::make_plain(std::size_t block) {
  x_.clear();
  for (const RowBall* row : rows_of(block)) x_.push_back(row->x().data());
  const std::size_t inputs = maker_.inputs(), points = points_->own.size();
  float* to = values_.data() + block * numbers_ * size_;
  const bool missing = maker_.make_block(x_, nullptr, nullptr, seen_, to);
  if (missing && nan_is_zero_) return false;
  missing_ |= missing;
  alone_[block] = any_large(seen_);
  to += size_;
  const double* to_base = steps_->to_base.data() + (points_->shifted ? 0 : points * inputs);
  for (std::size_t base = 1; base < bases_; ++base, to += size_, to_base += inputs)
    maker_.make_block(x_, to_base, nullptr, seen_, to);
  for (std::size_t p = 0; p < points; ++p, to += size_)
    maker_.make_block(x_, points_->shifted ? steps_->to_base.data() + p * inputs : nullptr,
                      steps_->to_own.data() + p * inputs, seen_, to);
  return true;
}

// Whatever they are.
void DeepValues::make_each(std::size_t block) {
  const auto put_base = [&](std::size_t base) {
    const RowBall::Place place = place_of_base(base);
    look(block, [&](const RowBall& ball, std::size_t column) { return ball.base_coordinate(place, column); });
    put(block, base, nullptr);
  };
  const auto put_point = [&](std::size_t p) {
    RowBall::Place place = points_->own[p];
    look(block, [&](const RowBall& ball, std::size_t column) {
      place.own = column;
      return ball.moves(column) ? ball.own_coordinate(place) : ball.base_coordinate(place, column);
    });
    put(block, bases_ + p, values_.data() + (block * numbers_ + base_of(p)) * size_);
  };
  const std::size_t points = points_->own.size();
  put_base(0);
  base_coordinates_ = coordinates_;
  for (std::size_t p = 0; p < points; ++p) {
    if (points_->shifted) {
      put_base(base_of(p));
      base_coordinates_ = coordinates_;
    }
    put_point(p);
  }
  for (std::size_t p = 0; p < points_->last.size(); ++p) put_base(base_of_last(p));
}

// Of the rows of a block, in the columns that are moved.
template <class At>
void DeepValues::look(std::size_t block, const At& at) {
  const auto rows = rows_of(block);
  for (std::size_t place = 0; place < columns_.size(); ++place)
    for (std::size_t lane = 0; lane < rows.size(); ++lane)
      coordinates_[place * inputs_.block + lane] = maker_.coordinate(at(*rows[lane], columns_[place]));
}

// `like`: the base's values, which those are that look at the same categories. Null: there is none.
void DeepValues::put(std::size_t block, std::size_t number, const float* like) {
  float* to = values_.data() + (block * numbers_ + number) * size_;
  const std::size_t lanes = inputs_.block, rows = rows_of(block).size();
  for (std::size_t place = 0; like != nullptr && place < columns_.size(); ++place) {
    const auto first = coordinates_.begin() + static_cast<std::ptrdiff_t>(place * lanes);
    same_[place] = std::equal(first, first + static_cast<std::ptrdiff_t>(rows),
                              base_coordinates_.begin() + static_cast<std::ptrdiff_t>(place * lanes),
                              [](const auto& a, const auto& b) { return a.category == b.category; });
  }
  for (std::size_t i = 0; i < maker_.inputs(); ++i, to += lanes) {
    const auto place = static_cast<std::size_t>(inputs_.place[i]);
    const bool category = maker_.rule(i) == TreeInput::Rule::category;
    if (category && like != nullptr && same_[place]) {
      std::copy_n(like + i * lanes, lanes, to);
      continue;
    }
    const auto at = std::span(coordinates_).subspan(place * lanes, rows);
    maker_.see(i, at, to);
    std::fill(to + rows, to + lanes, to[rows - 1]);
    for (std::size_t lane = 0; lane < rows; ++lane) {
      missing_ |= std::isnan(to[lane]);
      if (category) continue;
      if (std::abs(to[lane]) > kLargest || (std::isnan(to[lane]) && !std::isnan(at[lane].value)))
        alone_[block] = true;
    }
  }
}

// If a point is on the other side of a threshold than its base, the base is no further from it than this, in
// float32 too: rounding keeps the order.
void DeepValues::find_reach(std::size_t block) {
  const float* const first = values_.data() + block * numbers_ * size_;
  const std::size_t points = points_->own.size(), reaches = points_->shifted ? points : 1;
  float* const to = values_.data() + (block * numbers_ + bases_ + points) * size_;
  std::fill_n(to, reaches * size_, 0.0F);
  for (std::size_t p = 0; p < points; ++p) {
    const float* const base = first + base_of(p) * size_;
    const float* const own = first + (bases_ + p) * size_;
    float* const reach = to + (points_->shifted ? p : 0) * size_;
    for (std::size_t i = 0; i < size_; ++i) {
      const float way = std::abs(own[i] - base[i]);
      reach[i] = way > reach[i] ? way : reach[i];
    }
  }
}

double DeepValues::exact_base(std::size_t row, std::size_t base, std::size_t input) const {
  return maker_.seen(input, balls_[row]->base_coordinate(place_of_base(base), maker_.column(input)));
}

double DeepValues::exact_point(std::size_t row, std::size_t point, std::size_t input) const {
  RowBall::Place place = points_->own[point];
  place.own = maker_.column(input);
  const RowBall& ball = *balls_[row];
  return maker_.seen(
      input, ball.moves(place.own) ? ball.own_coordinate(place) : ball.base_coordinate(place, place.own));
}

}  // namespace harmonia
