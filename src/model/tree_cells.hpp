#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tree_link.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"

namespace harmonia {

/// One column cut at all thresholds on it: an ensemble cannot tell the values of a cell apart.
class CellAxis {
 public:
  CellAxis() = default;
  /// `bounds`: ascending. A cell is a bound and what is above it up to the next.
  CellAxis(std::size_t column, std::vector<double> bounds);

  std::size_t column() const { return column_; }
  /// What is below all bounds is the first cell, NaN the last.
  std::size_t cells() const { return cells_; }
  std::uint32_t cell(double value) const;
  /// The cells of many values, to `found`.
  void find_cells(std::span<const double> values, std::uint32_t* found) const;
  /// The lowest value in a cell.
  double lowest(std::size_t cell) const;

 private:
  std::uint32_t bucket(double value) const;

  std::size_t column_ = 0;
  std::vector<double> bounds_;  // and NaN, which nothing is above, for searches that go past the last
  std::size_t cells_ = 2;
  // Bounds by equal steps: those of bucket b are the numbers first_[b] … first_[b + 1] − 1. A bucket never
  // falls with the value, however it is rounded, so that bounds in others need no comparison.
  std::vector<std::uint32_t> first_;
  double start_ = 0, buckets_a_unit_ = 0;
  std::uint32_t reach_ = 0;  // the first step of a search: twice it is more than a bucket has
};

/// The answers of an ensemble that looks at one column or two, as a table: it is constant on the cells
/// between its thresholds. The table is made when so many rows were asked for that it pays; from then on a
/// row is two searches and a copy, with the answer of walking the trees to the bit.
class TreeCells {
 public:
  /// Walks the trees.
  using Walk = std::function<void(RowsView x, MutableRowsView y)>;

  /// Null if the ensemble looks at more columns or at categories, or its table would be too large. Keeps
  /// references to trees, rows and answers. `row_cost`: nanoseconds of a row that the trees answer.
  static std::unique_ptr<TreeCells> find(const PackedEnsemble& trees, const TreeRowsMaker& rows,
                                         std::size_t block, const TreeAnswers& answers, const ModelInfo& info,
                                         double row_cost);

  /// Answers the rows by the table; false: there is none yet, the trees are to be walked. The thread that
  /// asks for the row from which on a table pays makes it, by `walk` where values are missing; others do not
  /// wait for it. Safe to call from several threads.
  bool evaluate(RowsView x, MutableRowsView y, const Walk& walk);
  /// The rows that have to be asked for before a table is made.
  std::uint64_t pays() const { return pays_; }

 private:
  TreeCells(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block,
            const TreeAnswers& answers, const ModelInfo& info);

  bool find_axes();
  std::size_t cells() const { return axes_[0].cells() * axes_[1].cells(); }
  std::size_t axis_of(const PackedTrees& trees, std::size_t slot) const;
  /// The cells of an axis where a rule may make another value of what is there.
  std::vector<std::size_t> odd_cells(std::size_t axis) const;
  std::uint64_t rows_that_pay(double row_cost) const;
  void make(const Walk& walk);
  template <class T>
  void look_up(const MatrixView<const T>& x, const MutableRowsView& y) const;
  void add_leaves(const TreePack& pack, std::vector<std::uint64_t>& sums) const;
  template <class T>
  void walk_odd_cells(const Walk& walk);

  const PackedEnsemble& trees_;
  const TreeRowsMaker& rows_;
  std::size_t block_;
  const TreeAnswers& answers_;
  std::size_t inputs_, outputs_;
  Scalar scalar_;
  std::array<CellAxis, 2> axes_;  // the second has no bounds if the ensemble looks at one column
  std::array<bool, 2> zero_is_missing_{};
  std::uint64_t pays_ = 0;  // rows

  std::atomic<std::uint64_t> asked_ = 0;
  std::atomic<bool> begun_ = false, made_ = false;
  std::vector<double> table_;  // axis 0 × axis 1 × outputs; nobody reads it before it is made
};

}  // namespace harmonia
