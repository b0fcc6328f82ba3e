#include "tree_sums.hpp"

#include <algorithm>
#include <cassert>

namespace harmonia {
namespace {

void add_all(const std::int64_t* from, std::vector<std::int64_t>& to) {
  for (std::int64_t& sum : to) sum += *from++;
}

template <class T>
std::size_t bytes_of(const std::vector<T>& part) {
  return part.capacity() * sizeof(T);
}

}  // namespace

void BallSums::add(const BallSumsView& more) {
  if (centre_.empty()) {
    margins_ = more.margins;
    own_points_ = more.own_points;
    last_points_ = more.last_points;
    centre_.resize(margins_);
    base_.resize(own_points_ * margins_);
    last_.resize(last_points_ * margins_);
  }
  assert(margins_ == more.margins && own_points_ == more.own_points && last_points_ == more.last_points);
  for (std::size_t k = 0; k < margins_; ++k) centre_[k] += more.centre[k * more.stride];
  add_all(more.base, base_);
  add_all(more.last, last_);

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
  own_.resize(to * each);
  for (std::size_t i = more.told.size(); i-- > 0;) {
    const std::uint32_t column = more.columns[more.told[i]];
    const auto move_down = [&] {
      --old;
      if (--to == old) return;
      columns_[to] = columns_[old];
      std::copy_n(own_.begin() + static_cast<std::ptrdiff_t>(old * each), each,
                  own_.begin() + static_cast<std::ptrdiff_t>(to * each));
    };
    while (old > 0 && columns_[old - 1] > column) move_down();
    if (old > 0 && columns_[old - 1] == column) {
      move_down();
    } else {
      columns_[--to] = column;
      std::fill_n(own_.begin() + static_cast<std::ptrdiff_t>(to * each), each, 0);
    }
    const std::int64_t* const from = more.own + more.told[i] * each;
    for (std::size_t j = 0; j < each; ++j) own_[to * each + j] += from[j];
  }
  for (std::size_t i = told_.size(); i < columns_.size(); ++i) told_.push_back(i);
}

void BallSums::shift(std::span<const int> shifts) {
  for (auto* part : {&centre_, &base_, &last_, &own_}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      const int by = std::min(shifts[i % margins_], 63);  // a sum that is left after more is 0
      if (by > 0) (*part)[i] >>= by;
    }
  }
}

BallSumsView BallSums::view() const {
  return {.margins = margins_,
          .own_points = own_points_,
          .last_points = last_points_,
          .centre = centre_.data(),
          .base = base_.data(),
          .last = last_.data(),
          .own = own_.data(),
          .columns = columns_.data(),
          .told = told_};
}

std::size_t BallSums::bytes() const {
  return sizeof *this + bytes_of(centre_) + bytes_of(base_) + bytes_of(last_) + bytes_of(own_) +
         bytes_of(columns_) + bytes_of(told_);
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
