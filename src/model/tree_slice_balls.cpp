#include "tree_slice_balls.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kSumBytes = 16 * 1024 * 1024;  // of kSliceRows rows, about, which every thread has
constexpr std::size_t kManySteps = 64;               // that are kept from slice to slice
constexpr double kLongestStep = std::numeric_limits<float>::max() / 4;

}  // namespace

std::unique_ptr<SliceBalls> SliceBalls::find(const PackedEnsemble& trees, const TreeRowsMaker& rows,
                                             const TreeSlices& slices, std::size_t block,
                                             const std::vector<std::int32_t>& places, std::size_t columns) {
  if (columns < rows.inputs()) return nullptr;
  std::unique_ptr<SliceBalls> found(new SliceBalls(rows, slices, block, columns));
  for (std::size_t i = 0; i < rows.inputs(); ++i) {
    const bool zero = rows.rule(i) == TreeInput::Rule::nan_is_zero;
    if (!zero && !rows.plain(i)) return nullptr;
    found->nan_is_zero_ |= zero;
  }
  for (const TreePack& pack : trees.packs)
    if (!pack.child.empty() && pack.view.depth > kMostTurnLevels) return nullptr;
  for (std::size_t p = 0; p < trees.packs.size(); ++p) {
    const TreePack& pack = trees.packs[p];
    found->packs_.push_back(pack.child.empty() ? complete(pack, block, places)
                                               : other(pack, slices.packs()[p], block, places));
  }
  for (Pack& pack : found->packs_) {
    if (!pack.leaves.empty()) pack.view.leaves = pack.leaves.data();
    pack.view.kin = pack.kin.data();
    pack.view.places = pack.places.data();
    pack.view.first_kin = pack.first_kin.data();
    pack.view.above = pack.above.data();
    pack.view.bends = pack.bends.data();
    pack.view.first_bend = pack.first_bend.data();
  }
  return found;
}

SliceBalls::Pack SliceBalls::complete(const TreePack& trees, std::size_t block,
                                      const std::vector<std::int32_t>& places) {
  Pack pack;
  pack.view.leaves = trees.leaf.data();
  const std::size_t slots = std::size_t{1} << trees.view.depth;
  pack.places.resize(trees.split.size());
  for (std::size_t slot = 0; slot < trees.split.size(); ++slot)
    if (trees.split[slot])
      pack.places[slot] =
          static_cast<std::uint32_t>(places[static_cast<std::size_t>(trees.input[slot]) / block]);
  for (std::size_t tree = 0; tree < trees.view.count; ++tree) {
    pack.first_kin.push_back(static_cast<std::uint32_t>(pack.kin.size()));
    const auto alike = [&](std::size_t one, std::size_t other) {
      const std::size_t first = tree * slots;
      return trees.split[first + one] && trees.split[first + other] &&
             trees.input[first + one] == trees.input[first + other];
    };
    for (std::size_t upper = 1; upper < slots / 2; ++upper) {
      for (std::size_t lower = 2 * upper, count = 2; lower < slots; lower *= 2, count *= 2) {
        for (std::size_t i = 0; i < count; ++i)
          if (alike(upper, lower + i))
            pack.kin.push_back({.upper = static_cast<std::uint8_t>(upper),
                                .lower = static_cast<std::uint8_t>(lower + i),
                                .right = i >= count / 2});
      }
    }
  }
  pack.first_kin.push_back(static_cast<std::uint32_t>(pack.kin.size()));
  return pack;
}

SliceBalls::Pack SliceBalls::other(const TreePack& trees, const TreeSlices::Pack& sliced, std::size_t block,
                                   const std::vector<std::int32_t>& places) {
  Pack pack;
  pack.view.levels = trees.view.depth;
  pack.leaves.resize(trees.view.count << sliced.view.bits);
  pack.above.resize(pack.leaves.size() * pack.view.levels);
  for (std::size_t tree = 0; tree < trees.view.count; ++tree) {
    const std::size_t end = tree + 1 < trees.view.count ? trees.first[tree + 1] : trees.child.size();
    // Leaves and splits are numbered in the order of their slots, as steps have it.
    std::vector<std::uint32_t> inputs;
    std::size_t leaf = tree << sliced.view.bits;
    for (std::size_t slot = trees.first[tree]; slot < end; ++slot) {
      if (trees.child[slot] < 0) {
        const std::int32_t own = ~trees.child[slot];
        pack.leaves[leaf++] = trees.leaf[static_cast<std::size_t>(own)];
      } else {
        inputs.push_back(static_cast<std::uint32_t>(static_cast<std::size_t>(trees.input[slot]) / block));
      }
    }
    pack.first_bend.push_back(static_cast<std::uint32_t>(pack.bends.size()));
    std::vector<std::uint32_t> pile;  // of what is on the kernel's, the first step
    for (std::uint32_t at = sliced.first_step[tree]; at < sliced.first_step[tree + 1]; ++at) {
      const SlicedStep& step = sliced.steps[at];
      if (step.leaf) {
        pile.push_back(at);
        continue;
      }
      const std::uint32_t on_top = pile.back();
      pile.pop_back();
      SlicedBend bend{.first_kin = static_cast<std::uint32_t>(pack.kin.size()),
                      .last_kin = 0,
                      .first_step = pile.back(),
                      .own_step = at};
      const auto place = static_cast<std::uint32_t>(places[inputs[step.number]]);
      for (std::uint32_t below = bend.first_step; below < at; ++below) {
        const SlicedStep& each = sliced.steps[below];
        const bool right = (below < on_top) == step.left_on_top;
        if (each.leaf) {
          const std::size_t number = (tree << sliced.view.bits) + each.number;
          pack.above[number * pack.view.levels + step.level] = 2 * place + (right ? 1 : 0);
        } else if (inputs[each.number] == inputs[step.number]) {
          pack.kin.push_back({.upper = step.number, .lower = each.number, .right = right});
        }
      }
      bend.last_kin = static_cast<std::uint32_t>(pack.kin.size());
      if (bend.last_kin > bend.first_kin) pack.bends.push_back(bend);
    }
  }
  pack.first_bend.push_back(static_cast<std::uint32_t>(pack.bends.size()));
  return pack;
}

/// What SliceBalls::walker() gives.
class SliceBallWalker final : public TreeBallWalker {
 public:
  SliceBallWalker(const SliceBalls& balls, const Ball& ball, std::unique_ptr<TreeBallWalker> other,
                  std::size_t least, const std::vector<std::uint32_t>& columns, std::size_t margins)
      : balls_(balls),
        other_(std::move(other)),
        least_rows_(least),
        columns_(columns),
        scales_(step_scales(ball, balls.rows_)),
        sums_(kSliceRows, kSliceRows, columns.size(), margins) {}

  void walk(std::span<const RowBall* const> rows, const Take& take) override {
    order_.resize(rows.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto left = std::stable_partition(order_.begin(), order_.end(),
                                            [&](std::size_t i) { return goes_along(*rows[i]); });
    const auto along = static_cast<std::size_t>(left - order_.begin());
    std::size_t first = 0;
    while (along - first >= least_rows_) {
      const std::size_t begin = first;
      first += take_rows(rows, first, std::min(kSliceRows, along - first));
      walk_rows();
      for (std::size_t row = 0; row < rows_.size(); ++row) give(row, order_[begin + row], take);
    }
    if (other_ == nullptr || first == order_.size()) return;
    take_rows(rows, first, order_.size() - first);
    other_->walk(rows_, [&](std::size_t row, const BallSumsView& sums) { take(order_[first + row], sums); });
  }

  std::size_t least_rows() const override { return kSliceRows; }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  // Which base, and which point of it.
  struct Way {
    std::uint32_t base = kNone, own = kNone;  // none: the row itself, the base itself
  };
  // Steps around rows that move as many features.
  struct Steps {
    TreeBallPoints points;
    TurnSteps steps;
  };

  // Rows of which no feature is moved, or where a missing value counts as a number, go another way.
  bool goes_along(const RowBall& row) const {
    return row.moved() > 0 && (!balls_.nan_is_zero_ || row.moved() == row.x().size());
  }

  std::size_t take_rows(std::span<const RowBall* const> rows, std::size_t first, std::size_t count) {
    rows_.clear();
    for (std::size_t i = first; i < first + count; ++i) rows_.push_back(rows[order_[i]]);
    return count;
  }

  const TurnSteps& steps_of(const RowBall& row) {
    Steps& found = steps_by_moved_[row.moved()];
    if (found.points.own.empty()) {
      found.points = tree_ball_points(row);
      found.steps = turn_steps(found.points, scales_);
    }
    points_ = &found.points;
    return found.steps;
  }

  void walk_rows() {
    if (steps_by_moved_.size() > kManySteps) steps_by_moved_.clear();
    x_.clear();
    row_steps_.clear();
    for (const RowBall* row : rows_) {
      x_.push_back(row->x().data());
      row_steps_.push_back(&steps_of(*row));
    }
    // Of all rows alike, but for how far they go.
    const TreeBallPoints& points = *points_;
    const TurnSteps& steps = *row_steps_.back();
    sums_.begin(points.own.size(), points.last.size());
    rank({}, base_);
    if (steps.shifted) {
      walk_base();
      std::swap(centre_, sums_of_base_);
      for (std::uint32_t p = 0; p < points.own.size(); ++p) {
        rank({p}, base_);
        const bool above = points.own[p].extra > 0;
        walk_points(p, above ? p : kNone, above ? kNone : p);
        keep_base([&](std::size_t row) { return sums_.base(row, p); });
      }
    } else {
      for (std::size_t w = 0; w < std::max(steps.side[0].size(), steps.side[1].size()); ++w) {
        const auto of = [&](std::size_t side) {
          return w < steps.side[side].size() ? steps.side[side][w] : kNone;
        };
        walk_points(kNone, of(0), of(1));
      }
      std::swap(centre_, sums_of_base_);
    }
    for (std::uint32_t p = 0; p < points.last.size(); ++p) {
      rank({static_cast<std::uint32_t>(points.own.size()) + p}, base_);
      walk_base();
      keep_base([&](std::size_t row) { return sums_.last(row, p); });
    }
  }

  // -- ranks ---------------------------------------------------------------------------------------------

  struct Exact {
    const SliceBallWalker& walker;
    std::size_t first;
    Way way;
  };
  static double exact(const void* source, std::size_t row, std::size_t input) {
    const auto& from = *static_cast<const Exact*>(source);
    const std::size_t at = from.first + row;
    double x = from.walker.x_[at][from.walker.balls_.rows_.column(input)];
    if (const double* const to_base = from.walker.to_base(at, from.way)) x += to_base[input];
    if (const double* const to_own = from.walker.to_own(at, from.way)) x += to_own[input];
    return x;
  }

  // From a row to its base, and from there to a point; null: it is there already.
  const double* to_base(std::size_t row, const Way& way) const {
    const std::size_t inputs = balls_.rows_.inputs();
    return way.base == kNone ? nullptr : row_steps_[row]->to_base.data() + way.base * inputs;
  }
  const double* to_own(std::size_t row, const Way& way) const {
    const std::size_t inputs = balls_.rows_.inputs();
    return way.own == kNone ? nullptr : row_steps_[row]->to_own.data() + way.own * inputs;
  }

  void rank(const Way& way, TreeSlices::Ranks& ranks) {
    const std::size_t inputs = balls_.rows_.inputs();
    balls_.slices_.begin(ranks);
    blocks_.resize(kRankRows * inputs);
    to_bases_.clear();
    to_owns_.clear();
    for (std::size_t row = 0; row < x_.size(); ++row) {
      to_bases_.push_back(to_base(row, way));
      to_owns_.push_back(to_own(row, way));
    }
    for (std::size_t row = 0; row < x_.size(); row += kRankRows) {
      const Exact source{*this, row, way};
      TreeRows made{.x = blocks_.data(),
                    .inputs = inputs,
                    .count = std::min(kRankRows, x_.size() - row),
                    .source = &source,
                    .exact = exact};
      for (std::size_t i = 0; i < made.count; i += balls_.block_) {
        const std::size_t first = row + i, count = std::min(balls_.block_, made.count - i);
        made.missing |= balls_.rows_.make_block(
            std::span(x_).subspan(first, count), std::span(to_bases_).subspan(first, count),
            std::span(to_owns_).subspan(first, count), seen_, blocks_.data() + i * inputs);
      }
      balls_.slices_.rank(made, row, ranks);
    }
  }

  // -- trees ---------------------------------------------------------------------------------------------

  // The base whose ranks are known.
  void walk_base() {
    sums_of_base_.assign(sums_.margins() * kSliceRows, 0);
    for (const TreeSlices::Pack& pack : balls_.slices_.packs())
      balls_.slices_.walk(pack, base_.view(), sums_of_base_.data() + pack.output * kSliceRows);
  }

  // The same with its points, of which one may be above it, and one below.
  void walk_points(std::uint32_t base, std::uint32_t above, std::uint32_t below) {
    const std::size_t margins = sums_.margins();
    if (above != kNone) rank({base, above}, above_);
    if (below != kNone) rank({base, below}, below_);
    const std::uint8_t* const low = (below == kNone ? base_ : below_).right.data();
    const std::uint8_t* const high = (above == kNone ? base_ : above_).right.data();
    const std::size_t ranks = balls_.slices_.ranks();
    further_.resize(ranks);
    std::uint8_t* const further = further_.data();
    for (std::size_t i = 0; i < ranks; ++i) further[i] = static_cast<std::uint8_t>(high[i] - low[i]);
    SliceSums to{.rows = x_.size(),
                 .sums = nullptr,
                 .row_sums = sums_.own(1, 0, 0),
                 .place_sums = sums_.points() * margins,
                 .side_sums = {above == kNone ? 0 : above * margins, below == kNone ? 0 : below * margins},
                 .marks = sums_.marks(0),
                 .row_marks = sums_.columns()};
    sums_of_base_.assign(margins * kSliceRows, 0);
    for (std::size_t p = 0; p < balls_.packs_.size(); ++p) {
      const TreeSlices::Pack& pack = balls_.slices_.packs()[p];
      std::int64_t* const sums = sums_of_base_.data() + pack.output * kSliceRows;
      if (pack.splits.empty()) {
        balls_.slices_.walk(pack, base_.view(), sums);
        continue;
      }
      to.sums = sums_.at(pack.output);
      balls_.slices_.kernel().walk_turns(pack.view, balls_.packs_[p].view, base_.view(), {low, further}, to,
                                         sums);
    }
  }

  // What the base has more than the row.
  template <class Place>
  void keep_base(const Place& place) {
    for (std::size_t row = 0; row < x_.size(); ++row)
      for (std::size_t k = 0; k < sums_.margins(); ++k)
        *(sums_.at(place(row)) + k) = sums_of_base_[k * kSliceRows + row] - centre_[k * kSliceRows + row];
  }

  void give(std::size_t row, std::size_t number, const Take& take) {
    sums_.take_marked(row, marked_);
    take(number, {.margins = sums_.margins(),
                  .own_points = points_->own.size(),
                  .last_points = points_->last.size(),
                  .centre = centre_.data() + row,
                  .stride = kSliceRows,
                  .base = sums_.at(sums_.base(row, 0)),
                  .last = sums_.at(sums_.last(row, 0)),
                  .own = sums_.at(sums_.own(row, 0, 0)),
                  .columns = columns_.data(),
                  .told = marked_});
    sums_.clear(row, marked_);
  }

  const SliceBalls& balls_;
  std::unique_ptr<TreeBallWalker> other_;
  std::size_t least_rows_;
  const std::vector<std::uint32_t>& columns_;
  std::vector<double> scales_;  // of the inputs
  TreeBallSums sums_;
  std::map<std::size_t, Steps> steps_by_moved_;
  const TreeBallPoints* points_ = nullptr;
  std::vector<std::size_t> order_;
  std::vector<const RowBall*> rows_;
  std::vector<const TurnSteps*> row_steps_;
  std::vector<const double*> x_, to_bases_, to_owns_;
  std::vector<float> blocks_, seen_;
  TreeSlices::Ranks base_, above_, below_;
  RankBytes further_;
  std::vector<std::int64_t> centre_, sums_of_base_;  // of each margin, kSliceRows
  std::vector<std::size_t> marked_;
};

bool SliceBalls::answers_ball(const Ball& ball, std::size_t margins) const {
  if (!fixed_steps(ball)) return false;
  for (const double scale : step_scales(ball, rows_))
    if (!(ball.options().radius * scale <= kLongestStep)) return false;
  return columns_ * 2 * ball.shape(1).points() * margins <= kSumBytes / (kSliceRows * sizeof(std::int64_t));
}

std::unique_ptr<TreeBallWalker> SliceBalls::walker(const Ball& ball, std::unique_ptr<TreeBallWalker> other,
                                                   std::size_t least,
                                                   const std::vector<std::uint32_t>& columns,
                                                   std::size_t margins) const {
  return std::make_unique<SliceBallWalker>(*this, ball, std::move(other), least, columns, margins);
}

}  // namespace harmonia
