#include "tree_slices.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kMostThresholds = (std::size_t{1} << kRankSteps) - 1;  // of a search
constexpr std::size_t kBlock = 16;                                           // rows, as the kernel reads them
constexpr std::size_t kMostLeaves = 256;
constexpr double kLeastGain = 1.1;

const SliceKernel* kernel_here() {
#if defined(__x86_64__)
  static const bool there = best_simd() == Simd::avx512 && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                            __builtin_cpu_supports("gfni");
  if (there) return &kAvx512Slices;
#endif
  return nullptr;
}

// Leaves of one number, whose own numbers are a byte each.
bool fits(const TreePack& pack) {
  if (pack.view.leaf_width != 1) return false;
  for (std::size_t tree = 0; tree < pack.first.size(); ++tree) {
    const std::size_t end = tree + 1 < pack.first.size() ? pack.first[tree + 1] : pack.child.size();
    if (end - pack.first[tree] >= 2 * kMostLeaves) return false;  // slots, of which one less is a split
  }
  return true;
}

// Finds leaves of a tree that is not complete, from the ways that rows go at its splits.
class StepMaker {
 public:
  explicit StepMaker(const TreePack& pack) : pack_(pack) {}

  // Adds the tree's steps. Leaves and splits are numbered in the order of their slots.
  void add(std::size_t tree, std::vector<SlicedStep>& steps) {
    first_ = pack_.first[tree];
    const std::size_t end = tree + 1 < pack_.first.size() ? pack_.first[tree + 1] : pack_.child.size();
    leaves_ = splits_ = 0;
    number_.resize(end - first_);
    piled_.resize(end - first_);
    for (std::size_t slot = first_; slot < end; ++slot)
      number_[slot - first_] = static_cast<std::uint8_t>(is_leaf(slot) ? leaves_++ : splits_++);
    // Children come after their parents.
    for (std::size_t slot = end; slot-- > first_;) piled_[slot - first_] = is_leaf(slot) ? 1 : needed(slot);
    put(first_, 0, steps);
  }
  bool is_leaf(std::size_t slot) const { return pack_.child[slot] < 0; }
  std::uint8_t number(std::size_t slot) const { return number_[slot - first_]; }
  std::size_t leaves() const { return leaves_; }

 private:
  std::size_t left_of(std::size_t slot) const { return static_cast<std::size_t>(pack_.child[slot]); }
  std::uint8_t piled(std::size_t slot) const { return piled_[slot - first_]; }

  // Room on the pile, if the child that needs more comes first.
  std::uint8_t needed(std::size_t slot) const {
    const std::uint8_t left = piled(left_of(slot)), right = piled(left_of(slot) + 1);
    return static_cast<std::uint8_t>(left == right ? left + 1 : std::max(left, right));
  }

  void put(std::size_t slot, std::uint8_t level, std::vector<SlicedStep>& steps) const {
    if (!is_leaf(slot)) {
      const std::size_t left = left_of(slot), right = left + 1;
      const bool left_first = piled(left) >= piled(right);
      const auto below = static_cast<std::uint8_t>(level + 1);
      put(left_first ? left : right, below, steps);
      put(left_first ? right : left, below, steps);
      steps.push_back({.leaf = false, .left_on_top = !left_first, .number = number(slot), .level = level});
    } else {
      steps.push_back({.leaf = true, .left_on_top = false, .number = number(slot), .level = level});
    }
  }

  const TreePack& pack_;
  std::size_t first_ = 0, leaves_ = 0, splits_ = 0;
  std::vector<std::uint8_t> number_, piled_;  // of each slot of the tree
};

// Puts numbers that ascend into a table, as the levels of a search.
void put_levels(std::span<const double> numbers, unsigned steps, float* table) {
  for (unsigned d = 0; d < steps; ++d) {
    // Number i of this level has as many before it on the levels below.
    const std::size_t apart = std::size_t{1} << (steps - d);
    for (std::size_t i = 0; i < std::size_t{1} << d; ++i) {
      const std::size_t at = i * apart + apart / 2 - 1;
      table[rank_level(d) + i] =
          at < numbers.size() ? static_cast<float>(numbers[at]) : std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace

// Look-ups are dearer where a level has more slots than registers hold.
double walk_cost(const PackedEnsemble& trees) {
  double cost = 0;
  for (const TreePack& pack : trees.packs) {
    const double level = pack.view.child != nullptr ? 1.3 : pack.view.depth <= 6 ? 0.29 : 0.48;
    cost += level * static_cast<double>(pack.view.depth * pack.view.count);
  }
  return cost;
}

std::unique_ptr<TreeSlices> TreeSlices::find(const PackedEnsemble& trees, const TreeRowsMaker& rows,
                                             std::size_t block, const TreeAnswers& answers, bool by_cost) {
  const SliceKernel* const kernel = kernel_here();
  if (kernel == nullptr || block != kBlock || !std::ranges::all_of(trees.packs, fits)) return nullptr;
  std::unique_ptr<TreeSlices> found(new TreeSlices(trees, rows, block, answers, *kernel));
  if (found->inputs_.size() > std::numeric_limits<std::uint32_t>::max() / kSliceRows) return nullptr;
  if (by_cost && walk_cost(trees) < kLeastGain * found->cost()) return nullptr;
  if (!by_cost) found->least_rows_ = 0;
  return found;
}

TreeSlices::TreeSlices(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block,
                       const TreeAnswers& answers, const SliceKernel& kernel)
    : rows_(rows), block_(block), answers_(answers), kernel_(kernel) {
  Thresholds thresholds = thresholds_by_input(trees, rows.inputs(), block);
  for (auto& each : thresholds) each.erase(std::unique(each.begin(), each.end()), each.end());
  for (const TreePack& pack : trees.packs) exact_ |= pack.view.exact != nullptr;
  for (std::size_t input = 0; input < thresholds.size(); ++input) {
    first_search_.push_back(static_cast<std::uint32_t>(inputs_.size()));
    std::span<const double> left = thresholds[input];
    while (!left.empty()) {
      const std::span<const double> numbers = left.first(std::min(left.size(), kMostThresholds));
      const auto steps = static_cast<unsigned>(std::bit_width(numbers.size()));
      inputs_.push_back({static_cast<std::uint32_t>(input), steps, tables_.size()});
      tables_.resize(tables_.size() + rank_level(steps));
      put_levels(numbers, steps, tables_.data() + inputs_.back().table);
      if (exact_) searched_.emplace_back(numbers.begin(), numbers.end());
      left = left.subspan(numbers.size());
    }
  }
  for (const TreePack& pack : trees.packs)
    packs_.push_back(pack.child.empty() ? slice(pack, thresholds) : slice_other(pack, thresholds));
  for (Pack& pack : packs_) {
    pack.view.splits = pack.splits.data();
    pack.view.first = pack.first.data();
    pack.view.steps = pack.steps.data();
    pack.view.first_step = pack.first_step.data();
    pack.view.leaves = pack.leaves.data();
  }
  // So many cost as much as kSliceRows, most of which are walked for nothing.
  least_rows_ =
      static_cast<std::size_t>(static_cast<double>(kSliceRows) * cost() / std::max(1e-9, walk_cost(trees)));
}

SlicedSplit TreeSlices::split_of(const TreePack& pack, std::size_t slot, const Thresholds& thresholds) const {
  const std::size_t input = static_cast<std::size_t>(pack.input[slot]) / block_;
  const std::vector<double>& sorted = thresholds[input];
  const auto number =
      static_cast<std::size_t>(std::ranges::lower_bound(sorted, threshold_of(pack, slot)) - sorted.begin());
  const std::size_t search = first_search_[input] + number / kMostThresholds;
  return {.ranks = static_cast<std::uint32_t>(search * kSliceRows),
          .place = 0,
          .rank = static_cast<std::uint8_t>(number % kMostThresholds + 1),
          .missing_left = pack.missing_left[slot] != 0};
}

void TreeSlices::Pack::begin_tree(std::size_t tree) {
  if (tree % kSortedTrees == 0) first.push_back(static_cast<std::uint32_t>(splits.size()));
}

// Input after input.
void TreeSlices::Pack::sort_splits() {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t end = i + 1 < first.size() ? first[i + 1] : splits.size();
    std::ranges::sort(splits.begin() + first[i], splits.begin() + static_cast<std::ptrdiff_t>(end), {},
                      [](const SlicedSplit& split) { return std::pair(split.ranks, split.missing_left); });
  }
  first.push_back(static_cast<std::uint32_t>(splits.size()));
}

TreeSlices::Pack TreeSlices::slice(const TreePack& pack, const Thresholds& thresholds) const {
  Pack sliced;
  sliced.output = pack.view.output;
  sliced.view.depth = sliced.view.bits = pack.view.depth;
  sliced.view.count = pack.view.count;
  sliced.leaves.resize(pack.view.count * kLeafBytes * sliced.table());
  const std::size_t slots = std::size_t{1} << pack.view.depth;
  for (std::size_t tree = 0; tree < pack.view.count; ++tree) {
    sliced.begin_tree(tree);
    for (std::size_t heap = 1; heap < slots; ++heap) {
      if (!pack.split[tree * slots + heap]) continue;
      sliced.splits.push_back(split_of(pack, tree * slots + heap, thresholds));
      sliced.splits.back().place = sliced.place(tree, heap);
    }
    for (std::size_t leaf = 0; leaf < slots; ++leaf)
      sliced.put_leaf(tree, leaf, pack.leaf[tree * slots + leaf]);
  }
  sliced.sort_splits();
  return sliced;
}

TreeSlices::Pack TreeSlices::slice_other(const TreePack& pack, const Thresholds& thresholds) const {
  Pack sliced;
  sliced.output = pack.view.output;
  sliced.view.count = pack.view.count;
  StepMaker maker(pack);
  std::size_t most = 0;
  for (std::size_t tree = 0; tree < pack.view.count; ++tree) {
    sliced.first_step.push_back(static_cast<std::uint32_t>(sliced.steps.size()));
    maker.add(tree, sliced.steps);
    most = std::max(most, maker.leaves());
  }
  sliced.first_step.push_back(static_cast<std::uint32_t>(sliced.steps.size()));
  sliced.view.bits = static_cast<unsigned>(std::bit_width(most - 1));
  sliced.leaves.resize(pack.view.count * kLeafBytes * sliced.table());
  for (std::size_t tree = 0; tree < pack.view.count; ++tree) {
    sliced.begin_tree(tree);
    const std::size_t end = tree + 1 < pack.view.count ? pack.first[tree + 1] : pack.child.size();
    std::size_t leaves = 0;
    std::size_t splits = 0;
    for (std::size_t slot = pack.first[tree]; slot < end; ++slot) {
      if (pack.child[slot] < 0) {
        const std::int32_t leaf = ~pack.child[slot];
        sliced.put_leaf(tree, leaves++, pack.leaf[static_cast<std::size_t>(leaf)]);
      } else {
        sliced.splits.push_back(split_of(pack, slot, thresholds));
        sliced.splits.back().place = sliced.place(tree, splits++);
      }
    }
  }
  sliced.sort_splits();
  return sliced;
}

void TreeSlices::Pack::put_leaf(std::size_t tree, std::size_t number, std::int64_t value) {
  std::uint8_t* const bytes = leaves.data() + tree * kLeafBytes * table() + number;
  for (std::size_t byte = 0; byte < kLeafBytes; ++byte)
    bytes[byte * table()] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * byte));
}

// A share each for a search, its levels, a tree and its splits.
double TreeSlices::cost() const {
  double cost = 0;
  for (const SlicedInput& input : inputs_) cost += 0.03 + 0.04 * input.steps;
  for (const Pack& pack : packs_) {
    const double each = pack.view.bits <= 6 ? 0.18 : pack.view.bits == 7 ? 0.36 : 0.6;
    const double step = pack.view.depth > 0 ? 0 : 0.004 * pack.view.bits;
    cost += each * static_cast<double>(pack.view.count) + 0.006 * static_cast<double>(pack.splits.size()) +
            step * static_cast<double>(pack.steps.size());
  }
  return cost;
}

void TreeSlices::evaluate(RowsView x, MutableRowsView y, const Walk& walk) const {
  const std::size_t margins = answers_.margins();
  Room room;
  for (std::size_t first = 0; first < x.rows(); first += kSliceRows) {
    const std::size_t count = std::min(kSliceRows, x.rows() - first);
    const MutableRowsView out = y.slice(first, count);
    if (count < least_rows_) {
      x.scalar() == Scalar::float32 ? walk(x.as<float>().slice(first, count), out)
                                    : walk(x.as<double>().slice(first, count), out);
      continue;
    }
    rank(x, first, count, room);
    room.sums.assign(margins * kSliceRows, 0);
    for (const Pack& pack : packs_)
      this->walk(pack, room.ranks.view(), room.sums.data() + pack.output * kSliceRows);
    answers_.answer(room.sums.data(), kSliceRows, 1, count, room.margins, {out.data, count * out.columns});
  }
}

void TreeSlices::rank(RowsView x, std::size_t first, std::size_t count, Room& room) const {
  begin(room.ranks);
  for (std::size_t row = 0; row < count; row += kRankRows) {
    TreeRows made = rows_.make(x, first + row, std::min(kRankRows, count - row), room.buffer);
    room.buffer.blocks.resize(kRankRows * made.inputs);  // what is beyond the last row is walked for nothing
    made.x = room.buffer.blocks.data();
    rank(made, row, room.ranks);
  }
}

void TreeSlices::begin(Ranks& ranks) const {
  ranks.right.resize(this->ranks());
  ranks.ties.resize(exact_ ? inputs_.size() : 0);
  ranks.missing = false;
}

void TreeSlices::rank(const TreeRows& made, std::size_t row, Ranks& ranks) const {
  if (made.missing && !ranks.missing) ranks.left = ranks.right;  // of the rows so far
  ranks.missing |= made.missing;
  kernel_.rank(inputs_.data(), inputs_.size(), tables_.data(), made.x, made.inputs, ranks.right.data() + row,
               ranks.missing ? ranks.left.data() + row : nullptr, exact_ ? ranks.ties.data() : nullptr);
  // Where float32 cannot tell, doubles do.
  for (std::size_t i = 0; i < ranks.ties.size(); ++i) {
    for (std::uint64_t tied = ranks.ties[i]; tied != 0; tied &= tied - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(tied));
      if (at >= made.count) break;
      const double value = made.exact(made.source, at, inputs_[i].input);
      const auto rank =
          static_cast<std::uint8_t>(std::ranges::upper_bound(searched_[i], value) - searched_[i].begin());
      ranks.right.data()[i * kSliceRows + row + at] = rank;
      if (ranks.missing) ranks.left.data()[i * kSliceRows + row + at] = rank;
    }
  }
}

// Of trees that are one leaf.
void TreeSlices::add_constants(const Pack& pack, std::int64_t* sums) {
  for (std::size_t tree = 0; tree < pack.view.count; ++tree) {
    std::uint64_t value = 0;
    for (std::size_t byte = kLeafBytes; byte-- > 0;)
      value = value << 8 | pack.leaves[(tree * kLeafBytes + byte) * 64];
    for (std::size_t i = 0; i < kSliceRows; ++i) sums[i] += static_cast<std::int64_t>(value);
  }
}

}  // namespace harmonia
