#include "tree_balls.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kTreeBytes = 256 * 1024;  // of trees that a block of rows walks before its points do
constexpr double kRounding = 1e-6;              // of float32, several times
constexpr double kLeastFloat = std::numeric_limits<float>::denorm_min();
constexpr double kSmallestWay = 1e-13;                   // of a step, as a share of the coordinate
constexpr std::size_t kMostSums = std::size_t{1} << 24;  // in a table, of which every thread has one
constexpr std::size_t kMostPoints = 32;  // of a unit, and of the last vertex: they have a bit each

// The points that every feature has, and those of a simplex's last vertex.
struct Points {
  std::vector<RowBall::Place> own, last;
  bool shifted = false;  // their base is not the row itself
};

Points points_of(const RowBall& ball) {
  const std::size_t points = ball.shape().points();
  Points found;
  const std::size_t signs = ball.ball().options().kind == BallKind::one_hot ? 2 : 1;
  for (std::size_t sign = 0; sign < signs; ++sign)
    for (std::size_t p = 0; p < points; ++p) found.own.push_back(ball.place(sign, p));
  if (ball.shape().units > signs * ball.moved())
    for (std::size_t p = 0; p < points; ++p) found.last.push_back(ball.place(ball.moved(), p));
  found.shifted = found.own.front().base != 0;
  return found;
}

// Steps are the same around every row.
bool fixed_steps(const Ball& ball) { return ball.plain() || !ball.scales().empty(); }

// Of every input, how far points go, in the coordinates' units: all steps of a place are alike but for this.
std::vector<double> scales_of(const Ball& ball, const TreeRowsMaker& rows) {
  std::vector<double> scales(rows.inputs(), 1.0);
  if (ball.plain()) return scales;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const Feature& feature = ball.schema()[rows.column(i)];
    scales[i] = feature.fixed ? 0 : feature.scale;
  }
  return scales;
}

class BlockWalker final : public TreeBallWalker {
 public:
  BlockWalker(const TreeBalls& path, const Ball& ball)
      : path_(path),
        block_(path.kernel.block),
        margins_(path.answers.margins()),
        inputs_(path.rows.inputs()),
        vectors_(fixed_steps(ball) && std::ranges::any_of(path.packs, &TreeBalls::Pack::vectors)),
        scales_(vectors_ ? scales_of(ball, path.rows) : std::vector<double>{}),
        centre_(margins_ * block_),
        marks_(block_ * path.columns.size() + 1) {
    if (vectors_) find_reach(ball.options().radius);
    even_ = ball.plain();
    for (std::size_t i = 0; i < inputs_; ++i) even_ &= path.group[i] == static_cast<std::int32_t>(i);
  }

  void walk(std::span<const RowBall* const> rows, const Take& take) override {
    // Rows with as many moved features have the same steps, and go together.
    order_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) order_[i] = i;
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return rows[i]->moved(); });
    for (std::size_t first = 0; first < order_.size();) {
      lanes_.clear();
      const std::size_t moved = rows[order_[first]]->moved();
      std::size_t end = first;
      for (; end < order_.size() && end - first < block_ && rows[order_[end]]->moved() == moved; ++end)
        lanes_.push_back(rows[order_[end]]);
      walk_block();
      for (std::size_t lane = 0; first < end; ++first, ++lane) give(lane, order_[first], take);
    }
  }

 private:
  // Where a tree is.
  struct TreeAt {
    const PackedTrees& trees;
    std::size_t tree;
  };
  // A split on a row's way, or a leaf.
  struct Step {
    std::size_t
        slot;  // of a complete tree: the first of the tree and the heap position; of a deep one its own
    std::int64_t leaf;  // −1: it is a split
  };

  std::size_t own_points() const { return points_.own.size(); }

  // A sum's place: of a margin of a point that has its own input of `group` …
  std::size_t own_place(std::size_t lane, std::size_t group, std::size_t point) const {
    return ((lane * path_.columns.size() + group) * own_points() + point) * margins_;
  }
  // … of a point of the last vertex, and of the base of the former.
  std::size_t last_place(std::size_t lane, std::size_t point) const {
    return own_place(block_, 0, 0) + (lane * points_.last.size() + point) * margins_;
  }
  std::size_t base_place(std::size_t lane, std::size_t point) const {
    return last_place(block_, 0) + (lane * own_points() + point) * margins_;
  }

  void walk_block() {
    if (lanes_.front()->moved() > 0) {
      const std::size_t before = own_points();
      points_ = points_of(*lanes_.front());
      if (own_points() != before) table_.clear();
    } else {
      points_ = {};
    }
    table_.resize(base_place(block_, 0), 0);
    std::fill(table_.begin() + static_cast<std::ptrdiff_t>(last_place(0, 0)), table_.end(), 0);
    std::ranges::fill(centre_, 0);
    if (vectors_) fill_values();
    for (std::size_t p = 0; p < path_.packs.size(); ++p) {
      const PackedTrees& trees = path_.trees.packs[p].view;
      if (vectors_ && !infinite_ && path_.packs[p].vectors) {
        walk_together(p);
        continue;
      }
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
        for (std::size_t tree = 0; tree < trees.count; ++tree) walk_alone({trees, tree}, lane);
    }
  }

  // -- one row and tree at a time ------------------------------------------------------------------------

  // Whether a coordinate of a split's column goes right there.
  bool right(const PackedTrees& trees, std::size_t slot, double coordinate) const {
    const double value = path_.rows.seen(input_of(trees, slot), coordinate);
    if (std::isnan(value)) return trees.missing_left[slot] == 0;
    return !(value <
             (trees.exact == nullptr ? static_cast<double>(trees.threshold[slot]) : trees.exact[slot]));
  }
  std::size_t input_of(const PackedTrees& trees, std::size_t slot) const {
    return static_cast<std::size_t>(trees.input[slot]) / block_;
  }
  std::size_t column_of(const PackedTrees& trees, std::size_t slot) const {
    return path_.rows.column(input_of(trees, slot));
  }

  static Step root(const TreeAt& at) {
    if (at.trees.child == nullptr) return complete(at, 1);
    return deep(at.trees, at.trees.first[at.tree]);
  }
  static Step child(const TreeAt& at, std::size_t slot, bool right) {
    if (at.trees.child == nullptr) {
      const std::size_t heap = slot - (at.tree << at.trees.depth);
      return complete(at, 2 * heap + (right ? 1 : 0));
    }
    return deep(at.trees, static_cast<std::size_t>(at.trees.child[slot]) + (right ? 1 : 0));
  }
  static Step complete(const TreeAt& at, std::size_t heap) {
    const std::size_t slots = std::size_t{1} << at.trees.depth, first = at.tree << at.trees.depth;
    return {first + heap, heap < slots ? -1 : static_cast<std::int64_t>(first + heap - slots)};
  }
  static Step deep(const PackedTrees& trees, std::size_t slot) {
    return {slot, trees.child[slot] >= 0 ? -1 : ~static_cast<std::int64_t>(trees.child[slot])};
  }

  template <class Coordinate>
  std::int64_t leaf_from(const TreeAt& at, Step step, const Coordinate& coordinate) const {
    while (step.leaf < 0)
      step = child(at, step.slot, right(at.trees, step.slot, coordinate(column_of(at.trees, step.slot))));
    return step.leaf;
  }

  // Adds what a leaf is more than another to a sum in the table.
  void add(const PackedTrees& trees, std::int64_t leaf, std::int64_t than, std::size_t place) {
    const std::int64_t* to = trees.leaf + static_cast<std::size_t>(leaf) * trees.leaf_width;
    const std::int64_t* from = trees.leaf + static_cast<std::size_t>(than) * trees.leaf_width;
    if (trees.leaf_width == 1) {
      table_[place + trees.output] += *to - *from;
    } else {
      for (std::size_t k = 0; k < trees.leaf_width; ++k) table_[place + k] += to[k] - from[k];
    }
  }

  void mark(std::size_t lane, std::size_t group) { marks_[lane * path_.columns.size() + group] = 1; }

  void walk_alone(const TreeAt& at, std::size_t lane) {
    const RowBall& ball = *lanes_[lane];
    const std::span<const double> x = ball.x();
    const std::int64_t leaf = leaf_from(at, root(at), [&](std::size_t column) { return x[column]; });
    for (std::size_t k = 0; k < at.trees.leaf_width; ++k) {
      const std::size_t margin = at.trees.leaf_width == 1 ? at.trees.output : k;
      centre_[margin * block_ + lane] +=
          at.trees.leaf[static_cast<std::size_t>(leaf) * at.trees.leaf_width + k];
    }
    for (std::size_t p = 0; p < own_points(); ++p) walk_points(at, lane, p, leaf);
    for (std::size_t p = 0; p < points_.last.size(); ++p) {
      const std::int64_t reached = leaf_from(
          at, root(at), [&](std::size_t column) { return ball.base_coordinate(points_.last[p], column); });
      add(at.trees, reached, leaf, last_place(lane, p));
    }
  }

  // The points of this place of all features: their base's way, and where they turn off it. `centre`: the
  // row's leaf.
  void walk_points(const TreeAt& at, std::size_t lane, std::size_t point, std::int64_t centre) {
    const RowBall& ball = *lanes_[lane];
    RowBall::Place place = points_.own[point];
    const auto base = [&](std::size_t column) { return ball.base_coordinate(place, column); };
    turned_.clear();
    Step step = root(at);
    while (step.leaf < 0) {
      const std::size_t column = column_of(at.trees, step.slot);
      const bool goes_right = right(at.trees, step.slot, base(column));
      // A feature that is missing or fixed has no points.
      if (moves(ball, column) &&
          std::ranges::none_of(turned_, [&](const Turned& other) { return other.column == column; })) {
        place.own = column;
        const double own = ball.own_coordinate(place);
        if (right(at.trees, step.slot, own) != goes_right) {
          const std::int64_t leaf = leaf_from(at, child(at, step.slot, !goes_right), [&](std::size_t other) {
            return other == column ? own : base(other);
          });
          turned_.push_back(
              {column, static_cast<std::size_t>(path_.group[input_of(at.trees, step.slot)]), leaf});
        }
      }
      step = child(at, step.slot, goes_right);
    }
    for (const Turned& turned : turned_) {
      add(at.trees, turned.leaf, step.leaf, own_place(lane, turned.group, point));
      mark(lane, turned.group);
    }
    add(at.trees, step.leaf, centre, base_place(lane, point));
  }

  static bool moves(const RowBall& ball, std::size_t column) {
    return !std::isnan(ball.x()[column]) && (ball.ball().plain() || !ball.ball().schema()[column].fixed);
  }

  // -- a block of rows at a time -------------------------------------------------------------------------

  // No point is further from its row than this, in the model's own numbers: if a point is on the other side
  // of a threshold, the row is as near to it. Where steps are so small that doubles hardly hold them,
  // rounding may take a point to the wrong side of its row, and rows are walked alone.
  void find_reach(double radius) {
    for (std::size_t p = 0; p < path_.packs.size(); ++p) {
      std::vector<float>& reach = reach_.emplace_back();
      if (!path_.packs[p].vectors) continue;
      const TreePack& pack = path_.trees.packs[p];
      reach.resize(pack.threshold.size(), -1.0F);
      for (std::size_t slot = 0; slot < pack.split.size(); ++slot) {
        if (!pack.split[slot]) continue;
        const double way = radius * scales_[input_of(pack.view, slot)];
        const double at = std::abs(static_cast<double>(pack.threshold[slot]));
        if ((way > 0 && way < kSmallestWay * at) || !std::isfinite(way)) vectors_ = false;
        reach[slot] = static_cast<float>(way * (1 + kRounding) + kRounding * (way + at) + 2 * kLeastFloat);
      }
    }
  }

  // The coordinates of the rows, and of the bases that points have, as trees see them.
  void fill_values() {
    const std::size_t size = inputs_ * block_;
    const std::size_t bases = (points_.shifted ? own_points() : 0) + points_.last.size();
    exact_.resize(size);
    values_.resize(size * (1 + bases));
    from_.clear();
    for (std::size_t lane = 0; lane < block_; ++lane)
      from_.push_back(lanes_[std::min(lane, lanes_.size() - 1)]->x().data());
    double* exact = exact_.data();
    for (std::size_t i = 0; i < inputs_; ++i) {
      const std::size_t column = path_.rows.column(i);
      for (const double* const row : from_) *exact++ = row[column];
    }
    unsigned missing = 0, infinite = 0;
    for (std::size_t at = 0; at < size; ++at) {
      values_[at] = static_cast<float>(exact_[at]);
      missing |= values_[at] != values_[at] ? 1U : 0U;
      infinite |= std::abs(values_[at]) > std::numeric_limits<float>::max() ? 1U : 0U;
    }
    missing_ = missing != 0;
    infinite_ = infinite != 0;
    base_steps_.clear();
    own_steps_.clear();
    for (const RowBall::Place& place : points_.own) {
      for (const double scale : scales_) {
        base_steps_.push_back((place.radius * scale) * place.base);
        own_steps_.push_back((place.radius * scale) * place.extra);
      }
    }
    for (const RowBall::Place& place : points_.last)
      for (const double scale : scales_) base_steps_.push_back((place.radius * scale) * place.base);
    up_.clear();
    down_.clear();
    for (std::size_t p = 0; p < own_points(); ++p)
      (points_.own[p].extra > 0 ? up_ : down_).push_back(static_cast<std::int32_t>(p));
    const std::size_t ways = std::max(up_.size(), down_.size());
    up_.resize(ways, -1);
    down_.resize(ways, -1);
    float* to = values_.data() + size;
    const double* step = base_steps_.data() + (points_.shifted ? 0 : own_points() * inputs_);
    for (std::size_t b = 0; b < bases; ++b)
      for (std::size_t i = 0; i < inputs_; ++i, ++step)
        for (std::size_t lane = 0; lane < block_; ++lane)
          *to++ = static_cast<float>(exact_[i * block_ + lane] + *step);
  }

  void walk_together(std::size_t p) {
    const PackedTrees& trees = path_.trees.packs[p].view;
    const std::size_t slots = std::size_t{1} << trees.depth;
    const std::size_t each = slots * (3 * sizeof(float) + trees.leaf_width * sizeof(std::int64_t));
    const std::size_t step = std::clamp<std::size_t>(kTreeBytes / each, 1, trees.count);
    NearSplits near;
    for (unsigned level = 0; level < trees.depth; ++level) {
      near_[level].resize((step + 1) * block_);
      near.found[level] = near_[level].data();
    }
    leaves_.resize(step * block_);
    const TreeRows rows{.x = values_.data(), .inputs = inputs_, .count = block_, .missing = missing_};
    for (std::size_t first = 0; first < trees.count; first += step) {
      std::ranges::fill(near.count, 0);
      path_.kernel.find_near(trees, reach_[p].data(), first, std::min(first + step, trees.count), rows,
                             centre_.data(), leaves_.data(), near);
      turn_off(p, first, near);
    }
  }

  // Memory for points of a block that turn off at splits of one level.
  struct Turning {
    std::vector<std::int32_t> tree, position, row, leaf, mark, place;

    Branches empty(std::size_t room) {
      for (auto* part : {&tree, &position, &row, &leaf, &mark, &place})
        if (part->size() < room) part->resize(room);
      return {.count = 0,
              .tree = tree.data(),
              .position = position.data(),
              .row = row.data(),
              .leaf = leaf.data(),
              .mark = mark.data(),
              .place = place.data()};
    }
  };

  void turn_off(std::size_t p, std::size_t first, const NearSplits& near) {
    const PackedTrees& trees = path_.trees.packs[p].view;
    const BallRows rows{.exact = exact_.data(),
                        .values = values_.data(),
                        .inputs = inputs_,
                        .lanes = lanes_.size(),
                        .points = own_points(),
                        .last = points_.last.size(),
                        .shifted = points_.shifted,
                        .missing = missing_,
                        .ways = up_.size(),
                        .up = up_.data(),
                        .down = down_.data(),
                        .even = even_,
                        .base_step = base_steps_.data(),
                        .own_step = own_steps_.data(),
                        .group = path_.group.data(),
                        .groups = path_.columns.size(),
                        .margins = margins_};
    gone_.assign(points_.last.empty() ? 0 : leaves_.size(), 0);
    apart_.assign(points_.shifted ? leaves_.size() : 0, 0);
    NearLevel levels[kCompleteDepth];
    for (unsigned level = 0; level < trees.depth; ++level) {
      levels[level] = {.found = near.found[level],
                       .count = near.count[level],
                       .level = level,
                       .first = first,
                       .leaves = leaves_.data(),
                       .bounds = path_.packs[p].bounds.data(),
                       .apart = apart_.data(),
                       .gone = gone_.data()};
      if (points_.shifted) path_.kernel.find_apart(trees, rows, levels[level]);
    }
    for (unsigned level = 0; level < trees.depth; ++level) {
      Branches arrived = arrived_.empty((near.count[level] + block_) * up_.size());
      Branches last = last_.empty(near.count[level] * points_.last.size() + 2 * block_);
      path_.kernel.turn_off(trees, rows, levels[level], arrived, last);
      take(trees, arrived);
      if (last.count == 0) continue;
      fill_up(last);
      path_.kernel.descend(trees, level + 1, values_.data(), missing_, last);
      take(trees, last);
    }
    for (std::size_t at = 0; at < apart_.size(); ++at) {
      for (std::uint32_t left = apart_[at]; left != 0; left &= left - 1) {
        const std::size_t tree = first + at / block_, lane = at % block_;
        const std::int64_t leaf = leaves_[at] + static_cast<std::int64_t>(tree << trees.depth);
        if (lane < lanes_.size())
          walk_points({trees, tree}, lane, static_cast<std::size_t>(std::countr_zero(left)), leaf);
      }
    }
  }

  // Vectors are whole: what fills up the last one is the first point again.
  void fill_up(const Branches& branches) const {
    for (std::size_t c = branches.count; c % block_ != 0; ++c)
      for (auto* part : {branches.tree, branches.position, branches.row}) part[c] = part[0];
  }

  // Adds the leaves that points came to.
  void take(const PackedTrees& trees, const Branches& branches) {
    for (std::size_t c = 0; c < branches.count; ++c) {
      add(trees, branches.position[c], branches.leaf[c], static_cast<std::size_t>(branches.place[c]));
      marks_[static_cast<std::size_t>(branches.mark[c])] = 1;
    }
  }

  // -- a lane's sums ---------------------------------------------------------------------------------------

  // Gives them, and none is in the table any more.
  void give(std::size_t lane, std::size_t row, const Take& take) {
    find_marked(lane);
    take(row, {.margins = margins_,
               .own_points = own_points(),
               .last_points = points_.last.size(),
               .centre = centre_.data() + lane,
               .stride = block_,
               .base = table_.data() + base_place(lane, 0),
               .last = table_.data() + last_place(lane, 0),
               .own = table_.data() + own_place(lane, 0, 0),
               .columns = path_.columns.data(),
               .told = marked_});
    for (const std::size_t group : marked_)
      std::fill_n(table_.begin() + static_cast<std::ptrdiff_t>(own_place(lane, group, 0)),
                  own_points() * margins_, 0);
  }

  // Takes off a lane's marks. They are bytes of 0 or 1, eight to a word, the first one lowest.
  void find_marked(std::size_t lane) {
    marked_.clear();
    const std::size_t groups = path_.columns.size();
    unsigned char* const marks = marks_.data() + lane * groups;
    for (std::size_t group = 0; group < groups; group += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, marks + group, std::min<std::size_t>(8, groups - group));
      for (; eight != 0; eight &= eight - 1)
        marked_.push_back(group + static_cast<std::size_t>(std::countr_zero(eight)) / 8);
    }
    std::memset(marks, 0, groups);
  }

  struct Turned {
    std::size_t column, group;
    std::int64_t leaf;
  };

  const TreeBalls& path_;
  std::size_t block_, margins_, inputs_;
  bool vectors_;
  std::vector<double> scales_;             // of the inputs
  std::vector<std::vector<float>> reach_;  // of the slots of each pack
  Points points_;
  std::vector<const RowBall*> lanes_;
  std::vector<const double*> from_;
  std::vector<std::size_t> order_, marked_;
  std::vector<std::int64_t> centre_, table_;
  std::vector<unsigned char> marks_;  // of each lane and column: points of it are in the table
  std::vector<Turned> turned_;
  std::vector<double> exact_, base_steps_, own_steps_;
  std::vector<float>
      values_;  // of the rows, of the bases of own points if they are shifted, of last vertices
  bool missing_ = false, infinite_ = false, even_ = false;
  std::vector<std::uint32_t> near_[kCompleteDepth];
  std::vector<std::int32_t> leaves_;
  std::vector<std::uint32_t> gone_, apart_;  // of each tree and lane, a bit a point
  std::vector<std::int32_t> up_, down_;      // see BallRows
  Turning arrived_, last_;
};

// Answers what a walker sums up.
class TreeBallAsker final : public BallAsker {
 public:
  TreeBallAsker(const TreeBalls& path, std::unique_ptr<TreeBallWalker> walker)
      : walker_(std::move(walker)), answerer_(path.answers, path.outputs) {}

  void evaluate(std::span<const RowBall* const> rows, std::span<BallAnswer> answers) override {
    walker_->walk(rows, [&](std::size_t row, const BallSumsView& sums) {
      answerer_.answer(*rows[row], sums, answers[row]);
    });
  }

 private:
  std::unique_ptr<TreeBallWalker> walker_;
  BallAnswerer answerer_;
};

// Complete trees whose every split can be walked in vectors.
bool fits_vectors(const TreePack& pack, const std::vector<bool>& alone, std::size_t block) {
  constexpr std::size_t kMostEntries = std::size_t{1} << 31;
  if (pack.view.child != nullptr || pack.view.exact != nullptr) return false;
  if (pack.split.size() >= kMostEntries / block) return false;
  for (std::size_t slot = 0; slot < pack.split.size(); ++slot)
    if (pack.split[slot] && !alone[static_cast<std::size_t>(pack.input[slot]) / block]) return false;
  return true;
}

// How far a point of a split's own input may go before it has turned off at a split above.
void find_bounds(const TreePack& pack, TreeBalls::Pack& out) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  const std::size_t slots = std::size_t{1} << pack.view.depth;
  for (std::size_t slot = 0; slot < pack.split.size(); ++slot) {
    float below = kFar, above = -kFar;
    const std::size_t tree = slot / slots * slots;
    for (std::size_t heap = slot - tree; heap > 1; heap /= 2) {
      const std::size_t before = tree + heap / 2;
      if (pack.input[before] != pack.input[slot]) continue;
      if (heap % 2 == 0) {
        below = std::min(below, pack.threshold[before]);
      } else {
        above = std::max(above, pack.threshold[before]);
      }
    }
    out.bounds.push_back(below);
    out.bounds.push_back(above);
  }
}

}  // namespace

TreeBalls::TreeBalls(const PackedEnsemble& packed, const TreeRowsMaker& maker, const TreeKernel& walker,
                     const TreeAnswers& answered, std::size_t width)
    : trees(packed), rows(maker), kernel(walker), answers(answered), outputs(width) {
  for (std::size_t i = 0; i < rows.inputs(); ++i)
    columns.push_back(static_cast<std::uint32_t>(rows.column(i)));
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<std::size_t> sharing(columns.size(), 0);
  for (std::size_t i = 0; i < rows.inputs(); ++i) {
    const auto at = std::ranges::lower_bound(columns, static_cast<std::uint32_t>(rows.column(i)));
    group.push_back(static_cast<std::int32_t>(at - columns.begin()));
    ++sharing[static_cast<std::size_t>(group.back())];
  }
  std::vector<bool> alone(rows.inputs());
  for (std::size_t i = 0; i < alone.size(); ++i)
    alone[i] = rows.plain(i) && sharing[static_cast<std::size_t>(group[i])] == 1;
  for (const TreePack& pack : trees.packs) {
    Pack& own = packs.emplace_back();
    own.vectors = kernel.find_near != nullptr && fits_vectors(pack, alone, kernel.block);
    if (own.vectors) find_bounds(pack, own);
  }
}

std::string TreeBalls::name() const { return "trees"; }

bool TreeBalls::answers_ball(const Ball& ball) {
  return ball.options().one_coordinate() && 2 * ball.shape(1).points() <= kMostPoints;
}

std::unique_ptr<TreeBallWalker> TreeBalls::walker(const Ball& ball) const {
  if (!answers_ball(ball)) return nullptr;
  const std::size_t points = 2 * ball.shape(1).points();
  if (columns.size() > kMostSums / (kernel.block * points * answers.margins())) return nullptr;
  return std::make_unique<BlockWalker>(*this, ball);
}

std::unique_ptr<BallAsker> TreeBalls::open(const Ball& ball) const {
  auto walks = walker(ball);
  return walks ? std::make_unique<TreeBallAsker>(*this, std::move(walks)) : nullptr;
}

}  // namespace harmonia
