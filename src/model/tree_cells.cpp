#include "tree_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{1} << 22;  // in a table: 32 MiB
constexpr std::size_t kBucketsABound = 4;
constexpr std::size_t kTogether = 64;                         // rows that are looked up
constexpr std::size_t kWalkedNumbers = std::size_t{1} << 16;  // in rows that are walked together
// What the parts of a table cost to make, in nanoseconds of some machine: what counts is how many rows the
// table costs.
constexpr double kLeafCost = 15, kMarginCost = 2, kOutputCost = 15;

// A split and its left child, whose neighbour is the right one; or a leaf.
struct Step {
  bool leaf = false;
  std::size_t slot = 0, left = 0;  // of a leaf: its number is `slot`
};

std::size_t root_of(const PackedTrees& trees, std::size_t tree) {
  return trees.child == nullptr ? (tree << trees.depth) + 1 : trees.first[tree];
}

// What is at a slot. Of complete trees it is the first slot of the tree and a heap position, also of leaves.
Step step_at(const TreePack& pack, std::size_t tree, std::size_t slot) {
  if (pack.view.child != nullptr) {
    const std::int32_t child = pack.child[slot];
    const std::int32_t number = child < 0 ? ~child : child;
    return child < 0 ? Step{true, static_cast<std::size_t>(number), 0}
                     : Step{false, slot, static_cast<std::size_t>(number)};
  }
  const std::size_t first = tree << pack.view.depth, slots = std::size_t{1} << pack.view.depth;
  std::size_t heap = slot - first;
  while (heap < slots && !pack.split[first + heap]) heap *= 2;  // what is below a leaf repeats it
  return heap < slots ? Step{false, first + heap, first + 2 * heap} : Step{true, first + heap - slots, 0};
}

}  // namespace

CellAxis::CellAxis(std::size_t column, std::vector<double> bounds)
    : column_(column), bounds_(std::move(bounds)), cells_(bounds_.size() + 2) {
  const std::size_t buckets = std::max<std::size_t>(1, kBucketsABound * bounds_.size());
  first_.resize(buckets + 1);
  if (!bounds_.empty()) {
    start_ = bounds_.front();
    const double step = (bounds_.back() - start_) / static_cast<double>(buckets);
    buckets_a_unit_ = std::isfinite(1 / step) ? 1 / step : 0;
  }
  for (const double bound : bounds_) ++first_[bucket(bound) + 1];
  reach_ = std::bit_floor(*std::max_element(first_.begin(), first_.end()));
  for (std::size_t b = 0; b < buckets; ++b) first_[b + 1] += first_[b];
  bounds_.resize(bounds_.size() + 2 * reach_, std::numeric_limits<double>::quiet_NaN());
}

std::uint32_t CellAxis::bucket(double value) const {
  const double at = std::max(0.0, (value - start_) * buckets_a_unit_);  // 0 if that is NaN
  return static_cast<std::uint32_t>(std::min(at, static_cast<double>(first_.size() - 2)));
}

std::uint32_t CellAxis::cell(double value) const {
  std::uint32_t found = 0;
  find_cells(std::span(&value, 1), &found);
  return found;
}

// Without a branch that depends on a value, which would mostly be guessed wrong, and one step of all searches
// after another, which do not wait for each other.
void CellAxis::find_cells(std::span<const double> values, std::uint32_t* found) const {
  for (std::size_t i = 0; i < values.size(); ++i) found[i] = first_[bucket(values[i])];
  const double* const bounds = bounds_.data();
  for (std::uint32_t step = reach_; step > 0; step /= 2)
    for (std::size_t i = 0; i < values.size(); ++i)
      found[i] += bounds[found[i] + step - 1] <= values[i] ? step : 0;
  const auto missing = static_cast<std::uint32_t>(cells_ - 1);
  for (std::size_t i = 0; i < values.size(); ++i) found[i] = std::isnan(values[i]) ? missing : found[i];
}

double CellAxis::lowest(std::size_t cell) const {
  if (cell + 1 == cells_) return std::numeric_limits<double>::quiet_NaN();
  return cell == 0 ? -std::numeric_limits<double>::infinity() : bounds_[cell - 1];
}

TreeCells::TreeCells(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block,
                     const TreeAnswers& answers, const ModelInfo& info)
    : trees_(trees),
      rows_(rows),
      block_(block),
      answers_(answers),
      inputs_(info.inputs),
      outputs_(info.outputs),
      scalar_(info.scalar) {}

std::unique_ptr<TreeCells> TreeCells::find(const PackedEnsemble& trees, const TreeRowsMaker& rows,
                                           std::size_t block, const TreeAnswers& answers,
                                           const ModelInfo& info, double row_cost) {
  std::unique_ptr<TreeCells> found(new TreeCells(trees, rows, block, answers, info));
  if (!found->find_axes()) return nullptr;
  if (found->cells() > kMostNumbers / std::max(info.outputs, answers.margins())) return nullptr;
  found->pays_ = found->rows_that_pay(row_cost);
  return found;
}

// False: there is a third column, or a category.
bool TreeCells::find_axes() {
  std::vector<std::size_t> columns;
  std::array<std::vector<double>, 2> bounds;
  for (const TreePack& pack : trees_.packs) {
    const std::size_t slots = pack.view.child == nullptr ? pack.split.size() : pack.child.size();
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (!is_split(pack, slot)) continue;
      const std::size_t input = static_cast<std::size_t>(pack.input[slot]) / block_;
      if (rows_.rule(input) == TreeInput::Rule::category) return false;
      const auto at = std::find(columns.begin(), columns.end(), rows_.column(input));
      const auto axis = static_cast<std::size_t>(at - columns.begin());
      if (axis == bounds.size()) return false;
      if (at == columns.end()) columns.push_back(rows_.column(input));
      bounds[axis].push_back(threshold_of(pack, slot));
      zero_is_missing_[axis] |= rows_.rule(input) == TreeInput::Rule::zero_is_missing;
    }
  }
  if (columns.empty()) return false;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if (zero_is_missing_[axis]) {
      bounds[axis].push_back(-kLightGbmZero);
      bounds[axis].push_back(scalar_ == Scalar::float32 ? static_cast<double>(std::nextafter(
                                                              static_cast<float>(kLightGbmZero), 1.0F))
                                                        : std::nextafter(kLightGbmZero, 1.0));
    }
    std::sort(bounds[axis].begin(), bounds[axis].end());
    bounds[axis].erase(std::unique(bounds[axis].begin(), bounds[axis].end()), bounds[axis].end());
    axes_[axis] = CellAxis(columns[std::min(axis, columns.size() - 1)], std::move(bounds[axis]));
  }
  return true;
}

std::size_t TreeCells::axis_of(const PackedTrees& trees, std::size_t slot) const {
  return rows_.column(static_cast<std::size_t>(trees.input[slot]) / block_) == axes_[0].column() ? 0 : 1;
}

std::vector<std::size_t> TreeCells::odd_cells(std::size_t axis) const {
  std::vector<std::size_t> found;
  const std::size_t cells = axes_[axis].cells();
  for (std::size_t cell = 0; zero_is_missing_[axis] && cell + 1 < cells; ++cell) {
    if (std::abs(axes_[axis].lowest(cell)) <= kLightGbmZero) found.push_back(cell);
  }
  found.push_back(cells - 1);
  return found;
}

std::uint64_t TreeCells::rows_that_pay(double row_cost) const {
  double leaves = 0;
  for (const TreePack& pack : trees_.packs) leaves += static_cast<double>(pack.leaf.size());
  const auto each =
      kMarginCost * static_cast<double>(answers_.margins()) + kOutputCost * static_cast<double>(outputs_);
  const auto walked =
      static_cast<double>(odd_cells(0).size() * axes_[1].cells() + odd_cells(1).size() * axes_[0].cells());
  const double made = (kLeafCost * leaves + each * static_cast<double>(cells())) / std::max(1.0, row_cost);
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(walked + made)));
}

bool TreeCells::evaluate(RowsView x, MutableRowsView y, const Walk& walk) {
  if (!made_.load(std::memory_order_acquire)) {
    const std::uint64_t asked = asked_.fetch_add(x.rows(), std::memory_order_relaxed) + x.rows();
    if (asked < pays_ || begun_.exchange(true, std::memory_order_relaxed)) return false;
    make(walk);
    made_.store(true, std::memory_order_release);
  }
  scalar_ == Scalar::float32 ? look_up(x.as<float>(), y) : look_up(x.as<double>(), y);
  return true;
}

template <class T>
void TreeCells::look_up(const MatrixView<const T>& x, const MutableRowsView& y) const {
  std::array<double, kTogether> values;
  std::array<std::array<std::uint32_t, kTogether>, 2> found;
  for (std::size_t first = 0; first < x.rows; first += kTogether) {
    const std::size_t count = std::min(kTogether, x.rows - first);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const T* const column = x.row(first) + axes_[axis].column();
      for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(column[i * x.columns]);
      axes_[axis].find_cells(std::span(values.data(), count), found[axis].data());
    }
    double* out = y.row(first);
    for (std::size_t i = 0; i < count; ++i) {
      const double* answer = table_.data() + (found[0][i] * axes_[1].cells() + found[1][i]) * outputs_;
      for (std::size_t k = 0; k < outputs_; ++k) *out++ = *answer++;
    }
  }
}

// A leaf is a rectangle of cells. It is added to the corner and taken back behind the edges, so that sums
// over all cells before one are its own; whole numbers, in which nothing is lost.
void TreeCells::make(const Walk& walk) {
  const std::size_t margins = answers_.margins(), width = axes_[1].cells() * margins;
  std::vector<std::uint64_t> sums(cells() * margins);
  for (const TreePack& pack : trees_.packs) add_leaves(pack, sums);
  for (std::size_t place = 0; place < sums.size(); ++place)
    if (place % width >= margins) sums[place] += sums[place - margins];
  for (std::size_t place = width; place < sums.size(); ++place) sums[place] += sums[place - width];
  table_.resize(cells() * outputs_);
  std::vector<std::int64_t> own(margins);
  std::vector<double> room(margins);
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    std::copy_n(sums.data() + cell * margins, margins, own.begin());
    answers_.answer(own.data(), 1, 1, 1, room, {table_.data() + cell * outputs_, outputs_});
  }
  scalar_ == Scalar::float32 ? walk_odd_cells<float>(walk) : walk_odd_cells<double>(walk);
}

// As if every value were what splits compare; odd cells are walked later.
void TreeCells::add_leaves(const TreePack& pack, std::vector<std::uint64_t>& sums) const {
  struct Part {
    std::size_t slot;
    std::array<std::size_t, 2> first, end;  // cells
  };
  const PackedTrees& trees = pack.view;
  const std::size_t margins = answers_.margins();
  const auto add = [&](std::size_t leaf, const Part& part) {
    for (std::size_t k = 0; k < trees.leaf_width; ++k) {
      const std::size_t margin = trees.leaf_width == 1 ? trees.output : k;
      const auto value = static_cast<std::uint64_t>(trees.leaf[leaf * trees.leaf_width + k]);
      const auto at = [&](std::size_t a, std::size_t b) -> std::uint64_t& {
        return sums[(a * axes_[1].cells() + b) * margins + margin];
      };
      at(part.first[0], part.first[1]) += value;
      at(part.end[0], part.first[1]) -= value;
      at(part.first[0], part.end[1]) -= value;
      at(part.end[0], part.end[1]) += value;
    }
  };
  std::vector<Part> open;
  for (std::size_t tree = 0; tree < trees.count; ++tree) {
    open.push_back({root_of(trees, tree), {0, 0}, {axes_[0].cells() - 1, axes_[1].cells() - 1}});
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      const Step step = step_at(pack, tree, part.slot);
      if (step.leaf) {
        add(step.slot, part);
        continue;
      }
      const std::size_t axis = axis_of(trees, step.slot);
      const std::size_t bound = axes_[axis].cell(threshold_of(pack, step.slot));
      if (part.first[axis] < bound) {
        open.push_back({step.left, part.first, part.end});
        open.back().end[axis] = std::min(part.end[axis], bound);
      }
      if (bound < part.end[axis]) {
        open.push_back({step.left + 1, part.first, part.end});
        open.back().first[axis] = std::max(part.first[axis], bound);
      }
    }
  }
}

template <class T>
void TreeCells::walk_odd_cells(const Walk& walk) {
  std::vector<std::size_t> odd;
  for (const std::size_t cell : odd_cells(0))
    for (std::size_t other = 0; other < axes_[1].cells(); ++other)
      odd.push_back(cell * axes_[1].cells() + other);
  for (const std::size_t cell : odd_cells(1))
    for (std::size_t other = 0; other < axes_[0].cells(); ++other)
      odd.push_back(other * axes_[1].cells() + cell);
  const std::size_t together = std::max<std::size_t>(1, kWalkedNumbers / inputs_);
  Matrix<T> x;
  Matrix<double> y;
  for (std::size_t first = 0; first < odd.size(); first += together) {
    const std::size_t count = std::min(together, odd.size() - first);
    x.resize(count, inputs_);
    y.resize(count, outputs_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t cell = odd[first + i];
      x.row(i)[axes_[1].column()] = static_cast<T>(axes_[1].lowest(cell % axes_[1].cells()));
      x.row(i)[axes_[0].column()] = static_cast<T>(axes_[0].lowest(cell / axes_[1].cells()));
    }
    walk(std::as_const(x).view(), y.view());
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(y.row(i), outputs_, table_.data() + odd[first + i] * outputs_);
  }
}

}  // namespace harmonia
