#include "tree_balls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tree_alone.hpp"
#include "tree_ball_sums.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kTreeBytes = 512 * 1024;  // of trees that blocks of rows and their points walk in turn
constexpr std::size_t kSumBytes = 512 * 1024;   // of sums, of which every row has as many as points
constexpr std::size_t kFewNear = 4096;  // rows near to splits of trees, which vectors would hardly fill
constexpr double kRounding = 1e-6;      // of float32, several times
constexpr float kLargest =
    std::numeric_limits<float>::max() / 4;  // of what goes together: no point of it is infinite
constexpr double kLeastFloat = std::numeric_limits<float>::denorm_min();
constexpr double kSmallestWay = 1e-13;                   // of a step, as a share of the coordinate
constexpr std::size_t kMostSums = std::size_t{1} << 24;  // of a block, which every thread has
constexpr std::size_t kMostPoints = 32;                  // of a unit, with both signs
constexpr double kSooner = 1.15;                         // at least: what ways cost is known no better

constexpr std::size_t kMostEntries = std::size_t{1} << 31;  // of a table that kernels look up in

// Whole blocks of rows whose sums stay in the cache, one at least.
std::size_t rows_together(const TreeBalls& path, const Ball& ball) {
  const std::size_t points = 2 * ball.shape(1).points();
  const std::size_t each =
      std::max<std::size_t>(1, path.columns.size() * points * path.answers.margins() * sizeof(std::int64_t));
  const std::size_t blocks = std::min(kSumBytes / each, NearRows::kMostRows) / path.kernel.block;
  return std::max<std::size_t>(1, blocks) * path.kernel.block;
}

// Looks at all of them: that is sooner than to stop at the first.
bool any_large(const std::vector<float>& values) {
  unsigned found = 0;
  for (const float value : values) found |= std::abs(value) > kLargest ? 1U : 0U;
  return found != 0;
}

// Rows from which on slices are sooner than another way, at so many nanoseconds a row: they cost as much of
// few.
std::size_t slices_from(double sliced, double other) {
  return static_cast<std::size_t>(static_cast<double>(kSliceRows) * sliced / other) + 1;
}

class BlockWalker final : public TreeBallWalker {
 public:
  BlockWalker(const TreeBalls& path, const Ball& ball)
      : path_(path),
        block_(path.kernel.block),
        together_(fixed_steps(ball)),
        scales_(together_ ? step_scales(ball, path.rows) : std::vector<double>{}),
        most_rows_(rows_together(path, ball)),
        sums_(most_rows_, block_, path.columns.size(), path.answers.margins()),
        alone_(path.rows, block_, path.inputs.place),
        turns_(path.kernel, path.inputs),
        values_of_all_(path.rows, path.inputs, path.plain),
        deep_(path.kernel, values_of_all_) {
    if (together_) find_reach(ball.options().radius);
    for (std::size_t p = 0; p < path.packs.size(); ++p) {
      const TreeBalls::Pack& pack = path.packs[p];
      if (together_ && pack.together) {
        blocks_wanted_ = true;
        linked_.push_back(nullptr);
      } else if (pack.together && fits_deep(path.trees.packs[p])) {
        own_linked_.push_back(
            std::make_unique<DeepPack>(deep_pack(path.trees.packs[p], path.inputs, path.shared)));
        linked_.push_back(own_linked_.back().get());
      } else {
        linked_.push_back(pack.linked.slots.empty() ? nullptr : &pack.linked);
      }
      deep_wanted_ |= linked_.back() != nullptr;
    }
  }

  void walk(std::span<const RowBall* const> rows, const Take& take) override {
    // Rows with as many moved features have the same steps, and go together.
    order_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) order_[i] = i;
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return rows[i]->moved(); });
    for (std::size_t first = 0; first < order_.size();) {
      rows_.clear();
      const std::size_t moved = rows[order_[first]]->moved();
      std::size_t end = first;
      for (; end < order_.size() && end - first < most_rows_ && rows[order_[end]]->moved() == moved; ++end)
        rows_.push_back(rows[order_[end]]);
      walk_rows();
      for (std::size_t row = 0; first < end; ++first, ++row) give(row, order_[first], take);
    }
  }

 private:
  // No point is further from its row than this, in the model's own numbers: if a point is on the other side
  // of a threshold, the row is as near to it. Where steps are so small that doubles hardly hold them,
  // rounding may take a point to the wrong side of its row, and rows are walked alone.
  void find_reach(double radius) {
    for (const double scale : scales_)
      if (!(radius * scale <= kLargest)) together_ = false;
    for (std::size_t p = 0; p < path_.packs.size(); ++p) {
      std::vector<float>& reach = reach_.emplace_back();
      if (!path_.packs[p].together) continue;
      const TreePack& pack = path_.trees.packs[p];
      reach.resize(pack.threshold.size(), -1.0F);
      for (std::size_t slot = 0; slot < pack.split.size(); ++slot) {
        if (!pack.split[slot]) continue;
        const double way = radius * scales_[static_cast<std::size_t>(pack.input[slot]) / block_];
        const double at = std::abs(static_cast<double>(pack.threshold[slot]));
        if (std::isinf(at)) continue;  // no point of a block is beyond
        if (way > 0 && way < kSmallestWay * at) together_ = false;
        reach[slot] = static_cast<float>(way * (1 + kRounding) + kRounding * (way + at) + 2 * kLeastFloat);
      }
    }
  }

  void walk_rows() {
    if (const std::size_t moved = rows_.front()->moved(); moved != moved_) {
      moved_ = moved;
      points_ = moved > 0 ? tree_ball_points(*rows_.front()) : TreeBallPoints{};
      if (together_) steps_ = turn_steps(points_, scales_);
    }
    sums_.begin(points_.own.size(), points_.last.size());
    if (blocks_wanted_) make_blocks();
    if (deep_wanted_) values_of_all_.make(rows_, points_, together_ ? &steps_ : nullptr);
    for (std::size_t p = 0; p < path_.packs.size(); ++p) {
      const PackedTrees& trees = path_.trees.packs[p].view;
      const bool together = together_ && path_.packs[p].together;
      if (together) walk_together(p);
      if (linked_[p] != nullptr) deep_.walk(trees, *linked_[p], sums_);
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (together && !blocks_[row / block_].alone) continue;
        if (linked_[p] != nullptr && !values_of_all_.alone(row / block_)) continue;
        for (std::size_t tree = 0; tree < trees.count; ++tree)
          alone_.walk(trees, tree, *rows_[row], points_, row, sums_);
      }
    }
  }

  // -- blocks of rows ------------------------------------------------------------------------------------

  // Rows that a kernel walks at once.
  struct Block {
    std::size_t count = 0;
    bool alone = false;  // its rows are walked one by one
  };

  void make_blocks() {
    put_together();
    blocks_.resize((rows_.size() + block_ - 1) / block_);
    const std::size_t inputs = path_.rows.inputs(), size = inputs * block_;
    const std::size_t bases = (steps_.shifted ? steps_.points : 0) + steps_.last;
    const double* const to_base = steps_.to_base.data() + (steps_.shifted ? 0 : steps_.points * inputs);
    values_.resize(blocks_.size() * (1 + bases) * size);
    const bool too_wide = row_step_ >= kMostEntries / NearRows::kMostRows || values_.size() >= kMostEntries;
    float* to = values_.data();
    missing_ = false;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::span<const double* const> rows(x_.data() + b * block_,
                                                std::min(block_, rows_.size() - b * block_));
      blocks_[b].count = rows.size();
      const bool missing = path_.rows.make_block(rows, nullptr, nullptr, seen_, to);
      missing_ |= missing;
      blocks_[b].alone = any_large(seen_) || (missing && path_.nan_is_zero) || too_wide;
      to += size;
      for (std::size_t base = 0; base < bases; ++base, to += size)
        path_.rows.make_block(rows, to_base + base * inputs, nullptr, seen_, to);
    }
  }

  // Rows of one matrix lie one after another; others are copied.
  void put_together() {
    x_.clear();
    for (const RowBall* row : rows_) x_.push_back(row->x().data());
    row_step_ = rows_.front()->x().size();
    const auto place = [&](std::size_t row) { return reinterpret_cast<std::uintptr_t>(x_[row]); };
    bool in_turn = true;
    for (std::size_t row = 1; row < x_.size(); ++row)
      in_turn &= place(row) - place(row - 1) == row_step_ * sizeof(double);
    if (in_turn) return;
    copied_.resize(x_.size() * row_step_);
    for (std::size_t row = 0; row < x_.size(); ++row) {
      double* const to = copied_.data() + row * row_step_;
      std::copy_n(x_[row], row_step_, to);
      x_[row] = to;
    }
  }

  void walk_together(std::size_t p) {
    const PackedTrees& trees = path_.trees.packs[p].view;
    const std::size_t each = (std::size_t{1} << trees.depth) * (3 * sizeof(float) + sizeof(TurnSplit<float>) +
                                                                trees.leaf_width * sizeof(std::int64_t));
    const std::size_t step =
        std::clamp<std::size_t>(kTreeBytes / each, 1, std::min(trees.count, NearRows::kMostTrees));
    near_.resize(kFewNear + step * rows_.size() + block_);
    NearRows near{.found = near_.data()};
    for (std::size_t first = 0; first < trees.count; first += step) {
      const std::size_t last = std::min(first + step, trees.count);
      for (std::size_t b = 0; b < blocks_.size();) {
        std::size_t end = b, count = 0;
        for (; end < blocks_.size() && !blocks_[end].alone; ++end) count += blocks_[end].count;
        if (count > 0) find_near(p, first, last, b, count, near);
        b = std::max(end, b + 1);
      }
      // Few go on together with those of the next trees.
      const std::size_t next = std::min(last + step, trees.count) - near.first_tree;
      if (near.count < kFewNear && last < trees.count && next <= NearRows::kMostTrees) continue;
      turns_.walk(trees, path_.packs[p].splits, near,
                  {.steps = &steps_,
                   .x = x_.front(),
                   .row_step = row_step_,
                   .values = values_.data(),
                   .missing = missing_},
                  sums_);
      near.count = 0;
      near.first_tree = last;
    }
  }

  // Of as many rows from a block on.
  void find_near(std::size_t p, std::size_t first, std::size_t last, std::size_t block, std::size_t count,
                 NearRows& near) {
    const std::size_t size = values_.size() / blocks_.size();
    const Exact exact{x_.data() + block * block_, path_.inputs.column.data()};
    near.first_row = static_cast<std::uint32_t>(block * block_);
    path_.kernel.find_near(path_.trees.packs[p].view, reach_[p].data(), first, last,
                           {.rows = {.x = values_.data() + block * size,
                                     .inputs = path_.rows.inputs(),
                                     .count = count,
                                     .missing = missing_,
                                     .source = &exact,
                                     .exact = coordinate},
                            .values = size,
                            .sums = sums_.centre(block * block_),
                            .margins = sums_.margins()},
                           near);
  }

  // The exact coordinates of a block's rows.
  struct Exact {
    const double* const* x;
    const std::uint32_t* column;
  };
  static double coordinate(const void* source, std::size_t row, std::size_t input) {
    const auto& from = *static_cast<const Exact*>(source);
    return from.x[row][from.column[input]];
  }

  // -- a row's sums ---------------------------------------------------------------------------------------

  // Gives them, and none is left.
  void give(std::size_t row, std::size_t number, const Take& take) {
    sums_.take_marked(row, marked_);
    take(number, {.margins = sums_.margins(),
                  .own_points = points_.own.size(),
                  .last_points = points_.last.size(),
                  .centre = sums_.centre(row),
                  .stride = sums_.stride(),
                  .base = sums_.at(sums_.base(row, 0)),
                  .last = sums_.at(sums_.last(row, 0)),
                  .own = sums_.at(sums_.own(row, 0, 0)),
                  .columns = path_.columns.data(),
                  .told = marked_});
    sums_.clear(row, marked_);
  }

  const TreeBalls& path_;
  std::size_t block_;
  bool together_;
  std::vector<double> scales_;             // of the inputs
  std::vector<std::vector<float>> reach_;  // of the slots of each pack
  std::size_t most_rows_;
  TreeBallSums sums_;
  TreeAlone alone_;
  TreeTurns turns_;
  DeepValues values_of_all_;
  TreeDeep deep_;
  std::vector<std::unique_ptr<DeepPack>> own_linked_;
  std::vector<const DeepPack*> linked_;  // of each pack; null: its trees are not walked so
  bool blocks_wanted_ = false, deep_wanted_ = false;
  std::size_t moved_ = ~std::size_t{0};  // features, around the rows that the next two are of
  TreeBallPoints points_;
  TurnSteps steps_;
  std::vector<const RowBall*> rows_;
  std::vector<const double*> x_;
  std::size_t row_step_ = 0;    // from one of them to the next
  std::vector<double> copied_;  // of rows that did not lie so
  std::vector<Block> blocks_;
  std::vector<std::size_t> order_, marked_;
  std::vector<float> values_, seen_;  // see TurnRows; rows as they are
  bool missing_ = false;
  std::vector<std::uint32_t> near_;
};

// Answers what a walker sums up.
class TreeBallAsker final : public BallAsker {
 public:
  TreeBallAsker(const TreeBalls& path, std::unique_ptr<TreeBallWalker> walker)
      : walker_(std::move(walker)), answerer_(path.answers, path.outputs) {}

  std::size_t least_rows() const override { return walker_->least_rows(); }
  void evaluate(std::span<const RowBall* const> rows, std::span<BallAnswer> answers) override {
    for (BallAnswer& answer : answers) answer.refused = true;
    walker_->walk(rows, [&](std::size_t row, const BallSumsView& sums) {
      answerer_.answer(*rows[row], sums, answers[row]);
    });
  }

 private:
  std::unique_ptr<TreeBallWalker> walker_;
  BallAnswerer answerer_;
};

// Complete trees whose every split compares a column as it is where nothing is missing, and no other input
// does.
bool fits_blocks(const TreePack& pack, const std::vector<bool>& alone, std::size_t block) {
  if (pack.view.child != nullptr || pack.split.size() >= kMostEntries / block) return false;
  for (std::size_t slot = 0; slot < pack.split.size(); ++slot)
    if (pack.split[slot] && !alone[static_cast<std::size_t>(pack.input[slot]) / block]) return false;
  return true;
}

}  // namespace

TreeBalls::TreeBalls(const PackedEnsemble& packed, const TreeRowsMaker& maker, const TreeKernel& walker,
                     const TreeAnswers& answered, const TreeSlices* slices, const ModelInfo& info)
    : trees(packed),
      rows(maker),
      kernel(walker),
      answers(answered),
      features(info.inputs),
      outputs(info.outputs) {
  inputs.block = kernel.block;
  for (std::size_t i = 0; i < rows.inputs(); ++i)
    inputs.column.push_back(static_cast<std::uint32_t>(rows.column(i)));
  columns = inputs.column;
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<std::size_t> sharing(columns.size(), 0);
  for (const std::uint32_t column : inputs.column) {
    inputs.place.push_back(
        static_cast<std::int32_t>(std::ranges::lower_bound(columns, column) - columns.begin()));
    ++sharing[static_cast<std::size_t>(inputs.place.back())];
  }
  for (std::size_t i = 0; i < rows.inputs(); ++i) {
    inputs.both.push_back(static_cast<std::int32_t>(inputs.column[i]));
    inputs.both.push_back(inputs.place[i]);
  }
  bool own_numbers = true;
  for (std::size_t i = 0; i < inputs.both.size(); ++i)
    own_numbers &= inputs.both[i] == static_cast<std::int32_t>(i / 2);
  if (own_numbers) inputs.both.clear();
  std::vector<bool> alone(rows.inputs());
  for (std::size_t i = 0; i < alone.size(); ++i)
    alone[i] = (rows.plain(i) || rows.rule(i) == TreeInput::Rule::nan_is_zero) &&
               sharing[static_cast<std::size_t>(inputs.place[i])] == 1;
  for (std::size_t i = 0; i < rows.inputs(); ++i) nan_is_zero |= rows.rule(i) == TreeInput::Rule::nan_is_zero;
  plain = std::ranges::find(alone, false) == alone.end();
  shared = columns.size() < inputs.column.size();
  for (const TreePack& pack : trees.packs) {
    Pack& own = packs.emplace_back();
    own.together = fits_blocks(pack, alone, kernel.block);
    if (own.together) own.splits = turn_splits(pack);
    if (!own.together && fits_deep(pack)) own.linked = deep_pack(pack, inputs, shared);
  }
  if (slices != nullptr)
    sliced_ = SliceBalls::find(trees, rows, *slices, kernel.block, inputs.place, columns.size());
}

std::string TreeBalls::name() const { return "trees"; }

bool TreeBalls::answers_ball(const Ball& ball) {
  return ball.options().one_coordinate() && 2 * ball.shape(1).points() <= kMostPoints;
}

bool TreeBalls::can_slice(const Ball& ball) const {
  return sliced_ != nullptr && sliced_->answers_ball(ball, answers.margins());
}

std::unique_ptr<TreeBallWalker> TreeBalls::walker(const Ball& ball) const {
  if (!answers_ball(ball)) return nullptr;
  const std::size_t points = 2 * ball.shape(1).points();
  if (columns.size() > kMostSums / (kernel.block * points * answers.margins())) return nullptr;
  auto walker = std::make_unique<BlockWalker>(*this, ball);
  if (!can_slice(ball)) return walker;
  std::size_t least = SliceBalls::kLeastRows;
  if (cost_) {
    const TreeBallCost::Ways ways = cost_->weigh(ball, features);
    if (ways.walked <= ways.sliced) return walker;
    least = slices_from(ways.sliced, ways.walked);
  }
  return sliced_->walker(ball, std::move(walker), least, columns, answers.margins());
}

std::unique_ptr<BallAsker> TreeBalls::open(const Ball& ball) const {
  if (!answers_ball(ball)) return nullptr;
  const auto ask = [&](std::unique_ptr<TreeBallWalker> walks) {
    return walks == nullptr ? nullptr : std::make_unique<TreeBallAsker>(*this, std::move(walks));
  };
  // What steps cost that differ from row to row is not known.
  if (!cost_ || !fixed_steps(ball)) return ask(walker(ball));
  const TreeBallCost::Ways ways = cost_->weigh(ball, features);
  const bool by_slices = can_slice(ball) && ways.sliced < ways.walked;
  const double alone = ways.alone * kSooner;
  if (alone < (by_slices ? ways.sliced : ways.walked)) return nullptr;
  if (!by_slices || ways.walked <= alone) return ask(walker(ball));
  // What slices leave is sooner asked for point by point.
  return ask(sliced_->walker(ball, nullptr, slices_from(ways.sliced, alone), columns, answers.margins()));
}

}  // namespace harmonia
