#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harmonia/model/model.hpp"
#include "tree_link.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"
#include "tree_slice_walk.hpp"

namespace harmonia {

/// As TreeSlices::cost(), of a walk.
double walk_cost(const PackedEnsemble& trees);

/// Bytes that begin where a vector may.
class RankBytes {
 public:
  void resize(std::size_t count) { lines_.resize((count + sizeof(Line) - 1) / sizeof(Line)); }
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(lines_.data()); }
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    std::uint8_t at[64];
  };
  std::vector<Line> lines_;
};

/// Walks many rows through trees as slices of bits: of every input a byte says how many of its
/// thresholds a row is not below, of every split a bit says whether it goes right, and bits choose bits on
/// the way up from the leaves. Nothing is looked up by position, and the sums are those of a walk.
class TreeSlices {
 public:
  using Walk = std::function<void(RowsView, MutableRowsView)>;

  /// All of which outlive it. Null if trees have more than 256 leaves or leaves of several numbers, if this
  /// processor has not the instructions, or if by cost a walk is expected to be sooner.
  static std::unique_ptr<TreeSlices> find(const PackedEnsemble& trees, const TreeRowsMaker& rows,
                                          std::size_t block, const TreeAnswers& answers, bool by_cost);

  /// What the trees cost of a row among many, in nanoseconds of an EPYC with AVX-512.
  double cost() const;

  /// As Model::evaluate(). The last rows are walked, if they are few.
  void evaluate(RowsView x, MutableRowsView y, const Walk& walk) const;

  /// Of kSliceRows rows, a part of them at a time.
  struct Ranks {
    RankBytes right, left;  ///< see SliceRanks; the latter if something is missing
    std::vector<std::uint64_t> ties;
    bool missing = false;

    SliceRanks view() const { return {right.data(), missing ? left.data() : right.data()}; }
  };
  void begin(Ranks& ranks) const;
  /// How many they are, of all inputs.
  std::size_t ranks() const { return inputs_.size() * kSliceRows; }
  /// Of `made.count` rows, kRankRows at most, for which there is room that far in made.x, from number `row`
  /// on.
  void rank(const TreeRows& made, std::size_t row, Ranks& ranks) const;

  /// Trees of one output: of one depth, or not complete.
  struct Pack {
    SlicedTrees view;
    std::uint32_t output = 0;
    std::vector<SlicedSplit> splits;
    std::vector<std::uint32_t> first, first_step;
    std::vector<SlicedStep> steps;
    std::vector<std::uint8_t> leaves;

    // Leaves that a tree has room for.
    std::size_t table() const { return std::size_t{1} << (view.bits < 6 ? 6 : view.bits); }
    std::uint16_t place(std::size_t tree, std::size_t number) const {
      return static_cast<std::uint16_t>(tree % kSortedTrees << view.bits | number);
    }
    void begin_tree(std::size_t tree);
    void sort_splits();
    void put_leaf(std::size_t tree, std::size_t number, std::int64_t value);
  };
  /// As those of the ensemble.
  const std::vector<Pack>& packs() const { return packs_; }
  /// Adds the leaves that rows come to in a pack to sums of kSliceRows rows.
  void walk(const Pack& pack, const SliceRanks& ranks, std::int64_t* sums) const {
    pack.splits.empty() ? add_constants(pack, sums) : kernel_.walk(pack.view, ranks, sums);
  }
  /// The kernel that walks them.
  const SliceKernel& kernel() const { return kernel_; }

 private:
  using Thresholds = std::vector<std::vector<double>>;  // of each input, ascending
  // Memory of one call.
  struct Room {
    TreeRowsMaker::Buffer buffer;
    Ranks ranks;
    std::vector<std::int64_t> sums;
    std::vector<double> margins;
  };

  TreeSlices(const PackedEnsemble& trees, const TreeRowsMaker& rows, std::size_t block,
             const TreeAnswers& answers, const SliceKernel& kernel);
  SlicedSplit split_of(const TreePack& pack, std::size_t slot, const Thresholds& thresholds) const;
  Pack slice(const TreePack& pack, const Thresholds& thresholds) const;
  Pack slice_other(const TreePack& pack, const Thresholds& thresholds) const;
  void rank(RowsView x, std::size_t first, std::size_t count, Room& room) const;
  static void add_constants(const Pack& pack, std::int64_t* sums);

  const TreeRowsMaker& rows_;
  std::size_t block_;
  const TreeAnswers& answers_;
  const SliceKernel& kernel_;
  std::size_t least_rows_ = 0;  // of kSliceRows: fewer are sooner walked
  bool exact_ = false;          // thresholds are double
  std::vector<SlicedInput> inputs_;
  std::vector<std::uint32_t> first_search_;    // of each input in use, its first of these
  std::vector<std::vector<double>> searched_;  // of each search, what it looks for, if exact
  std::vector<float> tables_;
  std::vector<Pack> packs_;
};

}  // namespace harmonia
