#include "tree_deep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace harmonia {
namespace {

constexpr std::size_t kTreeBytes = 512 * 1024;  // of trees that rows and their points walk in turn
constexpr std::size_t kNear = 64 * 1024;        // of splits that are listed at most, or those of one tree
constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr double kLeastFloat = std::numeric_limits<float>::denorm_min();

}  // namespace

bool fits_deep(const TreePack& pack) {
  constexpr std::size_t kMostSlots = std::size_t{1} << 28;  // four numbers each are counted in 31 bits
  return pack.view.child != nullptr && pack.child.size() < kMostSlots;
}

DeepPack deep_pack(const TreePack& pack, const TurnInputs& inputs) {
  const std::size_t count = pack.child.size();
  DeepPack deep;
  deep.slots.resize(count);
  deep.turns.resize(count);
  if (pack.view.exact != nullptr) deep.exact_bounds.resize(2 * count);
  std::vector<std::size_t> above(count, count);  // the split above; none: `count`
  const auto threshold = [&](std::size_t slot) {
    return pack.view.exact != nullptr ? pack.exact[slot] : static_cast<double>(pack.threshold[slot]);
  };
  for (std::size_t slot = 0; slot < count; ++slot) {
    DeepSlot& to = deep.slots[slot];
    if (pack.child[slot] < 0) {
      to = {std::numeric_limits<float>::quiet_NaN(), 0, static_cast<std::int32_t>(slot) - 1,
            ~pack.child[slot]};
    } else {
      to = {pack.threshold[slot], pack.input[slot], pack.child[slot], pack.missing_left[slot]};
      const auto left = static_cast<std::size_t>(pack.child[slot]);
      above[left] = above[left + 1] = slot;
    }
  }
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (above[slot] == count) continue;
    const std::int32_t input = pack.input[above[slot]];
    double bound[2] = {-kFar, kFar};
    for (std::size_t at = slot; above[at] != count; at = above[at]) {
      const std::size_t split = above[at];
      if (pack.input[split] != input) continue;
      if (at == static_cast<std::size_t>(pack.child[split])) {
        bound[1] = std::min(bound[1], threshold(split));
      } else {
        bound[0] = std::max(bound[0], threshold(split));
      }
    }
    deep.turns[slot] = {{static_cast<float>(bound[0]), static_cast<float>(bound[1])},
                        input,
                        inputs.place[static_cast<std::size_t>(input) / inputs.block]};
    if (pack.view.exact != nullptr) std::copy_n(bound, 2, deep.exact_bounds.begin() + 2 * slot);
  }
  deep.view = {.slots = deep.slots.data(),
               .turns = deep.turns.data(),
               .exact = pack.view.exact,
               .exact_bounds = pack.view.exact != nullptr ? deep.exact_bounds.data() : nullptr,
               .first = pack.view.first,
               .leaf = pack.view.leaf,
               .leaf_width = pack.view.leaf_width,
               .output = pack.view.output};
  return deep;
}

void TreeDeep::begin(const DeepBlocks& blocks) {
  blocks_ = &blocks;
  const std::size_t inputs = rows_.inputs(), block = kernel_.block, size = inputs * block;
  const std::size_t points = steps().points, shifted = steps().shifted ? points : 0;
  bases_ = 1 + shifted + steps().last;
  values_.resize(blocks.alone.size() * (bases_ + points) * size);
  reach_.assign(inputs, 0.0F);
  nowhere_.assign(inputs, -std::numeric_limits<float>::infinity());
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t i = 0; i < inputs; ++i) {
      const double way = std::abs(steps().to_own[p * inputs + i]);
      reach_[i] = std::max(reach_[i], static_cast<float>(way * (1 + 2.0 * kDeepRounding) + 2 * kLeastFloat));
    }
  }
  float* to = values_.data();
  for (std::size_t b = 0; b < blocks.alone.size(); ++b) {
    const std::span<const double* const> x(blocks.x.data() + b * block,
                                           std::min(block, blocks.x.size() - b * block));
    const double* const to_base = steps().to_base.data() + (steps().shifted ? 0 : points * inputs);
    rows_.make_block(x, nullptr, nullptr, seen_, to);
    to += size;
    for (std::size_t base = 0; base + 1 < bases_; ++base, to += size)
      rows_.make_block(x, to_base + base * inputs, nullptr, seen_, to);
    for (std::size_t p = 0; p < points; ++p, to += size)
      rows_.make_block(x, steps().shifted ? to_base + p * inputs : nullptr,
                       steps().to_own.data() + p * inputs, seen_, to);
  }
  begin_.resize(DeepNear::kMostRows);
  own_.resize(2 * DeepNear::kMostRows);
}

// Where the values of a row, or of what comes with it, begin.
std::int32_t TreeDeep::values_of(std::size_t row, std::size_t number) const {
  const std::size_t block = kernel_.block;
  const std::size_t each = (bases_ + steps().points) * rows_.inputs() * block;
  return static_cast<std::int32_t>(row / block * each + number * rows_.inputs() * block + row % block);
}

double TreeDeep::coordinate(std::size_t row, std::size_t base, std::size_t input) const {
  const double x = blocks_->x[row][inputs_.column[input]];
  if (base == 0) return x;
  const std::size_t step = base - 1 + (steps().shifted ? 0 : steps().points);
  return x + steps().to_base[step * rows_.inputs() + input];
}

void TreeDeep::walk(const PackedTrees& trees, const DeepPack& pack, TreeBallSums& sums) {
  const std::size_t block = kernel_.block, rows = (blocks_->x.size() + block - 1) / block * block;
  const std::size_t each =
      pack.slots.size() / trees.count * (sizeof(DeepSlot) + sizeof(DeepTurn) + sizeof(std::int64_t)) + 1;
  const std::size_t step =
      std::clamp<std::size_t>(std::min(kTreeBytes / each, kNear / (rows * trees.depth)), 1, trees.count);
  const std::size_t room = step * rows * trees.depth + block;
  if (near_slot_.size() < room)
    for (auto* part : {&near_slot_, &near_who_, &slot_, &who_}) part->resize(room);
  leaf_.resize(near_slot_.size());
  for (auto* part : {&row_leaf_, &base_leaf_})
    part->resize(std::max(part->size(), step * DeepNear::kMostRows));
  for (std::size_t first = 0; first < trees.count; first += step) {
    const Part part{trees, pack, first, std::min(first + step, trees.count)};
    find_near(part, 0, steps().shifted ? nowhere_.data() : reach_.data(), row_leaf_.data(), &sums);
    const auto& side = steps().side;
    if (!steps().shifted) {
      const auto point = [&](std::size_t of, std::size_t i) {
        return i < side[of].size() ? side[of][i] : kNone;
      };
      for (std::size_t i = 0; i < std::max(side[0].size(), side[1].size()); ++i)
        turn_off(part, 0, {{point(0, i), point(1, i)}}, row_leaf_.data(), sums);
    }
    for (std::uint32_t p = 0; steps().shifted && p < steps().points; ++p) {
      find_near(part, base_of(p), reach_.data(), base_leaf_.data(), nullptr);
      add_bases(
          part, [&](std::size_t row) { return sums.base(row, p); }, sums);
      const bool above = std::ranges::find(side[0], p) != side[0].end();
      turn_off(part, base_of(p), {{above ? p : kNone, above ? kNone : p}}, base_leaf_.data(), sums);
    }
    for (std::size_t p = 0; p < steps().last; ++p) {
      find_near(part, bases_ - steps().last + p, nowhere_.data(), base_leaf_.data(), nullptr);
      add_bases(
          part, [&](std::size_t row) { return sums.last(row, p); }, sums);
    }
  }
}

// Walks the rows, or bases of them.
void TreeDeep::find_near(const Part& part, std::size_t base, const float* reach, std::int32_t* leaf,
                         TreeBallSums* sums) {
  const std::size_t block = kernel_.block;
  near_ = {.slot = near_slot_.data(), .who = near_who_.data()};
  for (std::size_t b = 0; b < blocks_->alone.size(); ++b) {
    if (blocks_->alone[b]) continue;
    const std::size_t first = b * block;
    const Source source{this, first, base, {}};
    kernel_.find_near_deep(part.pack.view, part.first, part.last,
                           {.x = values_.data() + values_of(first, base),
                            .count = std::min(block, blocks_->x.size() - first),
                            .first = static_cast<std::uint32_t>(first),
                            .missing = blocks_->missing,
                            .reach = reach,
                            .source = &source,
                            .exact =
                                [](const void* of, std::size_t row, std::size_t input) {
                                  const auto& from = *static_cast<const Source*>(of);
                                  return from.walker->coordinate(from.first + row, from.base, input);
                                },
                            .sums = sums != nullptr ? sums->centre(first) : nullptr,
                            .leaf = leaf},
                           near_);
  }
}

// Takes points of near rows to their leaves. `leaf`: of their bases.
void TreeDeep::turn_off(const Part& part, std::size_t base, const Sides& sides, const std::int32_t* leaf,
                        TreeBallSums& sums) {
  for (std::size_t row = 0; row < blocks_->x.size(); ++row) {
    begin_[row] = values_of(row, base);
    for (std::size_t side = 0; side < 2; ++side)
      own_[2 * row + side] =
          sides.point[side] == kNone ? begin_[row] : values_of(row, bases_ + sides.point[side]);
  }
  const Source source{this, 0, base, sides};
  DeepPoints points{.near = &near_,
                    .values = values_.data(),
                    .begin = begin_.data(),
                    .own = own_.data(),
                    .missing = blocks_->missing,
                    .source = &source,
                    .exact =
                        [](const void* of, std::uint32_t who, bool own, std::size_t input) {
                          const auto& from = *static_cast<const Source*>(of);
                          const std::size_t row = (who >> DeepNear::kRow) % DeepNear::kMostRows;
                          const std::uint32_t point = from.sides.point[who & 1U];
                          const double x = from.walker->coordinate(row, from.base, input);
                          if (!own || point == kNone) return x;
                          return x + from.walker->steps().to_own[point * from.walker->rows_.inputs() + input];
                        },
                    .slot = slot_.data(),
                    .who = who_.data(),
                    .leaf = leaf_.data()};
  kernel_.turn_off_deep(part.pack.view, points);
  const std::size_t width = part.trees.leaf_width;
  const std::int64_t* const leaves = part.trees.leaf;
  std::int64_t* const to = sums.at(width == 1 ? part.trees.output : 0);
  for (std::size_t i = 0; i < points.count; ++i) {
    const std::uint32_t who = points.who[i];
    const std::size_t row = (who >> DeepNear::kRow) % DeepNear::kMostRows;
    const auto place = static_cast<std::size_t>(part.pack.turns[points.slot[i]].place);
    const std::size_t than = static_cast<std::uint32_t>(leaf[who >> DeepNear::kRow]),
                      reached = static_cast<std::uint32_t>(points.leaf[i]);
    std::int64_t* const sum = to + sums.own(row, place, sides.point[who & 1U]);
    sums.marks(row)[place] = 1;
    for (std::size_t k = 0; k < width; ++k) sum[k] += leaves[reached * width + k] - leaves[than * width + k];
  }
}

// What bases come to, or last vertices.
template <class Place>
void TreeDeep::add_bases(const Part& part, const Place& place, TreeBallSums& sums) const {
  for (std::size_t row = 0; row < blocks_->x.size(); ++row) {
    if (blocks_->alone[row / kernel_.block]) continue;
    for (std::size_t tree = 0; tree < part.last - part.first; ++tree) {
      const std::size_t at = tree * DeepNear::kMostRows + row;
      if (base_leaf_[at] == row_leaf_[at]) continue;
      sums.add(part.trees, static_cast<std::size_t>(base_leaf_[at]), static_cast<std::size_t>(row_leaf_[at]),
               place(row));
    }
  }
}

}  // namespace harmonia
