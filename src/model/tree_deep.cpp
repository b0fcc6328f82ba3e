#include "tree_deep.hpp"

#include <algorithm>
#include <cmath>

namespace harmonia {
namespace {

constexpr std::size_t kTreeBytes = 512 * 1024;  // of trees that rows and their points walk in turn
constexpr std::size_t kNear = 64 * 1024;        // of splits that are listed at most, or those of one tree

std::size_t row_of(std::uint32_t who) { return (who >> DeepNear::kRow) % DeepNear::kMostRows; }

}  // namespace

void TreeDeep::walk(const PackedTrees& trees, const DeepPack& pack, TreeBallSums& sums) {
  const std::size_t rows = values_.blocks() * kernel_.block;
  const std::size_t each =
      pack.slots.size() / trees.count * (sizeof(DeepSlot) + sizeof(DeepTurn) + sizeof(std::int64_t)) + 1;
  const std::size_t step = std::clamp<std::size_t>(
      std::min(kTreeBytes / each, kNear / (rows * std::max(1U, trees.depth))), 1, trees.count);
  make_room(trees, step);
  const TreeBallPoints& points = values_.points();
  for (std::size_t first = 0; first < trees.count; first += step) {
    const Part part{trees, pack, first, std::min(first + step, trees.count)};
    find_near(part, 0, !points.shifted, row_leaf_.data(), &sums);
    const std::size_t most = std::max(values_.side(0).size(), values_.side(1).size());
    for (std::size_t i = 0; i < most && !points.shifted; ++i) {
      const auto point = [&](std::size_t side) {
        return i < values_.side(side).size() ? values_.side(side)[i] : kNone;
      };
      turn_off(part, 0, {{point(0), point(1)}}, row_leaf_.data(), sums);
    }
    for (std::uint32_t p = 0; p < points.own.size() && points.shifted; ++p) {
      find_near(part, values_.base_of(p), true, base_leaf_.data(), nullptr);
      add_bases(
          part, [&](std::size_t row) { return sums.base(row, p); }, sums);
      turn_off(part, values_.base_of(p), {{p, p}}, base_leaf_.data(), sums);
    }
    for (std::size_t p = 0; p < points.last.size(); ++p) {
      find_near(part, values_.base_of_last(p), false, base_leaf_.data(), nullptr);
      add_bases(
          part, [&](std::size_t row) { return sums.last(row, p); }, sums);
    }
  }
}

// For so many trees at once.
void TreeDeep::make_room(const PackedTrees& trees, std::size_t count) {
  const std::size_t block = kernel_.block;
  const std::size_t room = count * values_.blocks() * block * trees.depth + block;
  if (near_slot_.size() < room) {
    for (auto* part : {&near_slot_, &near_who_, &slot_, &who_}) part->resize(room);
    leaf_.resize(room);
  }
  if (row_leaf_.size() < count * DeepNear::kMostRows)
    for (auto* part : {&row_leaf_, &base_leaf_}) part->resize(count * DeepNear::kMostRows);
  begin_.resize(DeepNear::kMostRows);
  own_.resize(2 * DeepNear::kMostRows);
  nowhere_.resize(values_.size(), -1.0F);
}

// Walks the rows, or bases of them; lists near splits or none.
void TreeDeep::find_near(const Part& part, std::size_t base, bool listed, std::int32_t* leaf,
                         TreeBallSums* sums) {
  const std::size_t block = kernel_.block;
  near_ = {.slot = near_slot_.data(), .who = near_who_.data()};
  for (std::size_t b = 0; b < values_.blocks(); ++b) {
    if (values_.alone(b)) continue;
    const std::size_t first = b * block;
    const Source source{&values_, first, base, {}};
    kernel_.find_near_deep(part.pack.view, part.first, part.last,
                           {.x = values_.values() + values_.base(first, base),
                            .count = std::min(block, values_.rows() - first),
                            .first = static_cast<std::uint32_t>(first),
                            .missing = values_.missing(),
                            .reach = listed ? values_.values() + values_.reach(first, base) : nowhere_.data(),
                            .source = &source,
                            .exact =
                                [](const void* of, std::size_t row, std::size_t input) {
                                  const auto& from = *static_cast<const Source*>(of);
                                  return from.values->exact_base(from.first + row, from.base, input);
                                },
                            .sums = sums != nullptr ? sums->centre(first) : nullptr,
                            .leaf = leaf},
                           near_);
  }
}

// Takes points of rows that are near to splits to their leaves. `leaf`: of their bases.
void TreeDeep::turn_off(const Part& part, std::size_t base, const Sides& sides, const std::int32_t* leaf,
                        TreeBallSums& sums) {
  for (std::size_t row = 0; row < values_.rows(); ++row) {
    begin_[row] = values_.base(row, base);
    for (std::size_t side = 0; side < 2; ++side)
      own_[2 * row + side] = sides.point[side] == kNone ? begin_[row] : values_.point(row, sides.point[side]);
  }
  const Source source{&values_, 0, base, sides};
  DeepPoints points{.near = &near_,
                    .values = values_.values(),
                    .begin = begin_.data(),
                    .own = own_.data(),
                    .missing = values_.missing(),
                    .source = &source,
                    .exact =
                        [](const void* of, std::uint32_t who, bool own, std::size_t input) {
                          const auto& from = *static_cast<const Source*>(of);
                          const std::uint32_t point = from.sides.point[who & 1U];
                          return own && point != kNone
                                     ? from.values->exact_point(row_of(who), point, input)
                                     : from.values->exact_base(row_of(who), from.base, input);
                        },
                    .slot = slot_.data(),
                    .who = who_.data(),
                    .leaf = leaf_.data()};
  kernel_.turn_off_deep(part.pack.view, points);
  const std::size_t width = part.trees.leaf_width;
  const std::int64_t* const leaves = part.trees.leaf;
  std::int64_t* const to = sums.at(width == 1 ? part.trees.output : 0);
  for (std::size_t i = 0; i < points.count; ++i) {
    const std::uint32_t who = points.who[i], point = sides.point[who & 1U];
    const std::size_t row = row_of(who), slot = points.slot[i];
    std::int32_t place = part.pack.turns[slot].place;
    if (place < 0) {
      if (!comes_to(part.pack, slot, row, point)) continue;
      place = ~place;
    }
    const std::size_t than = static_cast<std::uint32_t>(leaf[who >> DeepNear::kRow]),
                      reached = static_cast<std::uint32_t>(points.leaf[i]);
    const auto column = static_cast<std::size_t>(place);
    std::int64_t* const sum = to + sums.own(row, column, point);
    sums.marks(row)[column] = 1;
    for (std::size_t k = 0; k < width; ++k) sum[k] += leaves[reached * width + k] - leaves[than * width + k];
  }
}

// Whether all splits above a slot that look at its column send the point there.
bool TreeDeep::comes_to(const DeepPack& pack, std::size_t slot, std::size_t row, std::uint32_t point) const {
  const std::int32_t place = ~pack.turns[slot].place;
  for (std::size_t at = slot; pack.above[at] != at; at = pack.above[at]) {
    const std::size_t above = pack.above[at];
    const DeepSlot& split = pack.slots[above];
    const std::size_t input = static_cast<std::size_t>(split.input) / kernel_.block;
    if (pack.view.column[input] != place) continue;
    const double value = values_.exact_point(row, point, input);
    const double threshold = pack.exact.empty() ? static_cast<double>(split.threshold) : pack.exact[above];
    const bool right = std::isnan(value) ? split.missing == 0 : !(value < threshold);
    if (right != (at != static_cast<std::size_t>(split.child))) return false;
  }
  return true;
}

// What bases come to, or last vertices.
template <class Place>
void TreeDeep::add_bases(const Part& part, const Place& place, TreeBallSums& sums) const {
  for (std::size_t row = 0; row < values_.rows(); ++row) {
    if (values_.alone(row / kernel_.block)) continue;
    for (std::size_t tree = 0; tree < part.last - part.first; ++tree) {
      const std::size_t at = tree * DeepNear::kMostRows + row;
      if (base_leaf_[at] == row_leaf_[at]) continue;
      sums.add(part.trees, static_cast<std::size_t>(base_leaf_[at]), static_cast<std::size_t>(row_leaf_[at]),
               place(row));
    }
  }
}

}  // namespace harmonia
