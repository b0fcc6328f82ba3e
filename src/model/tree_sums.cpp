#include "tree_sums.hpp"

#include <algorithm>
#include <cassert>

namespace harmonia {

void BallSums::add(const BallSumsView& more) {
  if (sums_.empty()) {
    margins_ = more.margins;
    own_points_ = more.own_points;
    last_points_ = more.last_points;
    sums_.resize(own(0));
  }
  assert(margins_ == more.margins && own_points_ == more.own_points && last_points_ == more.last_points);
  std::int64_t* sum = sums_.data();
  for (std::size_t k = 0; k < margins_; ++k) *sum++ += more.centre[k * more.stride];
  for (std::size_t at = 0; at < own_points_ * margins_; ++at) *sum++ += more.base[at];
  for (std::size_t at = 0; at < last_points_ * margins_; ++at) *sum++ += more.last[at];

  // Columns that are new are put between the others, from the last on.
  const std::size_t each = own_points_ * margins_;
  std::size_t fresh = 0, old = columns_.size();
  for (std::size_t i = 0, at = 0; i < more.told.size(); ++i) {
    const std::uint32_t column = more.columns[more.told[i]];
    while (at < old && columns_[at] < column) ++at;
    fresh += at == old || columns_[at] != column ? 1 : 0;
  }
  std::size_t to = old + fresh;
  columns_.resize(to);
  sums_.resize(own(to));
  for (std::size_t i = more.told.size(); i-- > 0;) {
    const std::uint32_t column = more.columns[more.told[i]];
    const auto move_down = [&] {
      --old;
      if (--to == old) return;
      columns_[to] = columns_[old];
      std::copy_n(sums_.data() + own(old), each, sums_.data() + own(to));
    };
    while (old > 0 && columns_[old - 1] > column) move_down();
    std::int64_t* place = sums_.data() + own(to - 1);
    if (old > 0 && columns_[old - 1] == column) {
      move_down();
    } else {
      columns_[--to] = column;
      std::fill_n(place, each, 0);
    }
    const std::int64_t* const from = more.own + more.told[i] * each;
    for (std::size_t j = 0; j < each; ++j) place[j] += from[j];
  }
}

void BallSums::shift(std::span<const int> shifts) {
  for (std::size_t k = 0; k < margins_; ++k) {
    const int by = std::min(shifts[k], 63);  // a sum that is left after more is 0
    if (by <= 0) continue;
    for (std::size_t at = k; at < sums_.size(); at += margins_) sums_[at] >>= by;
  }
}

BallSumsView BallSums::view(std::vector<std::size_t>& numbers) const {
  for (std::size_t i = numbers.size(); i < columns_.size(); ++i) numbers.push_back(i);
  return {.margins = margins_,
          .own_points = own_points_,
          .last_points = last_points_,
          .centre = sums_.data(),
          .base = sums_.data() + margins_,
          .last = sums_.data() + (1 + own_points_) * margins_,
          .own = sums_.data() + own(0),
          .columns = columns_.data(),
          .told = std::span(numbers).first(columns_.size())};
}

std::size_t BallSums::bytes() const {
  return sizeof *this + sums_.capacity() * sizeof(std::int64_t) + columns_.capacity() * sizeof(std::uint32_t);
}

// Answers the sums in taken_, one point after another.
void BallAnswerer::answer_taken(std::span<double> out) {
  const std::size_t margins = answers_.margins();
  answers_.answer(taken_.data(), 1, margins, taken_.size() / margins, room_, out);
}

// The sums of so many points that have more than the row by `more`.
void BallAnswerer::add_centre(const BallSumsView& sums, const std::int64_t* more, std::size_t points,
                              std::vector<std::int64_t>& to) {
  to.resize(points * sums.margins);
  std::int64_t* place = to.data();
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t k = 0; k < sums.margins; ++k) *place++ = sums.centre[k * sums.stride] + *more++;
  }
}

void BallAnswerer::answer(const RowBall& ball, const BallSumsView& sums, BallAnswer& answer) {
  const std::size_t points = ball.shape().points(), each = sums.own_points * sums.margins;
  answer.refused = false;
  answer.centre.resize(outputs_);
  answers_.answer(sums.centre, sums.stride, 1, 1, room_, answer.centre);
  answer.units.clear();
  answer.changed.clear();
  answer.base.resize(points * outputs_);
  answer.last.resize(sums.last_points * outputs_);
  if (ball.moved() == 0) return;
  add_centre(sums, sums.base, points, taken_);
  answer_taken(answer.base);
  add_centre(sums, sums.last, sums.last_points, taken_);
  answer_taken(answer.last);
  const std::size_t units = sums.own_points / points;  // of one feature: one or (one-hot) two
  answer.units.reserve(sums.told.size() * units);
  add_centre(sums, sums.base, sums.own_points, base_);
  taken_.resize(sums.told.size() * each);
  std::int64_t* taken = taken_.data();
  const bool moves_all = ball.moved() == ball.x().size();
  std::uint64_t feature = 0;
  for (const std::size_t told : sums.told) {
    const std::size_t column = sums.columns[told];
    if (moves_all) {
      feature = column;
    } else {
      while (ball.column(feature) != column) ++feature;
    }
    for (std::size_t u = 0; u < units; ++u) answer.units.push_back(feature * units + u);
    const std::int64_t* const own = sums.own + told * each;
    for (std::size_t at = 0; at < each; ++at) *taken++ = base_[at] + own[at];
  }
  answer.changed.resize(sums.told.size() * sums.own_points * outputs_);
  answer_taken(answer.changed);
}

}  // namespace harmonia
