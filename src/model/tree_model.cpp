#include <algorithm>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "tree_balls.hpp"
#include "tree_cells.hpp"
#include "tree_link.hpp"
#include "tree_pack.hpp"
#include "tree_rows.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kRows = 256;             // walked together, so that trees stay in the cache for them
constexpr std::size_t kRowBytes = 128 * 1024;  // … or fewer, if they are wide
constexpr std::size_t kLeastRows = 32;
constexpr std::size_t kWidestVector = std::size_t{1} << 24;  // inputs; places in a block fit 31 bits
constexpr std::size_t kTreeBytes = 128 * 1024;  // of trees that are walked by all these rows in turn

const TreeKernel& kernel_for([[maybe_unused]] Simd simd, std::size_t inputs) {
  if (inputs > kWidestVector) return kScalarTrees;
#if defined(__x86_64__)
  if (simd == Simd::avx512) return kAvx512Trees;
  if (simd == Simd::avx2) return kAvx2Trees;
#endif
  return kScalarTrees;
}

ModelInfo info_of(const TreeEnsemble& ensemble, const TreeModelOptions& options) {
  ModelInfo info;
  info.name = options.name;
  info.kind = options.kind;
  info.inputs = ensemble.columns;
  info.outputs = options.margin ? ensemble.margins() : link_outputs(ensemble.link, ensemble.margins());
  info.scalar = ensemble.scalar;
  info.takes_missing = ensemble.takes_missing;
  info.binary = ensemble.binary && !options.margin;
  info.sha256 = options.sha256;
  info.features = ensemble.features;
  info.classes = ensemble.classes;
  return info;
}

class TreeModel final : public Model {
 public:
  TreeModel(const TreeEnsemble& ensemble, const TreeModelOptions& options)
      : info_(info_of(ensemble, options)),
        kernel_(kernel_for(options.simd, ensemble.inputs.size())),
        trees_(pack_trees(ensemble, kernel_.block)),
        rows_(ensemble, trees_.used, kernel_),
        answers_{ensemble.base, trees_.unit, ensemble.factor, options.margin ? TreeLink{} : ensemble.link},
        balls_(trees_, rows_, kernel_, answers_, info_.outputs),
        fast_path_(options.fast_path) {
    if (fast_path_ && options.cells) cells_ = TreeCells::find(trees_, rows_, kernel_.block, answers_, info_);
    if (cells_) info_.fast_path = "cells";
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto walked = [this](RowsView rows, MutableRowsView answers) { walk_trees(rows, answers); };
    if (!cells_ || !cells_->evaluate(x, y, walked)) walk_trees(x, y);
  }

  // A look into the cells is less than what one of the points of a ball costs together with all others.
  const BallPath* ball_path() const override { return fast_path_ && !cells_ ? &balls_ : nullptr; }

 private:
  void walk_trees(RowsView x, MutableRowsView y) const {
    const std::size_t bytes = std::max<std::size_t>(1, trees_.used.size()) * sizeof(float);
    const std::size_t together = std::clamp(kRowBytes / bytes, kLeastRows, kRows);
    TreeRowsMaker::Buffer buffer;
    std::vector<std::int64_t> sums;
    for (std::size_t first = 0; first < x.rows(); first += together) {
      const std::size_t count = std::min(together, x.rows() - first);
      const TreeRows rows = rows_.make(x, first, count, buffer);
      sums.assign(count * answers_.margins(), 0);
      for (const TreePack& pack : trees_.packs) walk(pack, rows, sums);
      answer(sums, y.slice(first, count));
    }
  }

  void walk(const TreePack& pack, const TreeRows& rows, std::vector<std::int64_t>& sums) const {
    const std::size_t each = std::max<std::size_t>(
        1, (pack.threshold.size() * 2 * sizeof(float) + pack.leaf.size() * sizeof(std::int64_t)) /
               pack.view.count);
    const std::size_t step = std::max<std::size_t>(1, kTreeBytes / each);
    for (std::size_t tree = 0; tree < pack.view.count; tree += step) {
      kernel_.walk(pack.view, tree, std::min(tree + step, pack.view.count), rows, sums.data());
    }
  }

  void answer(const std::vector<std::int64_t>& sums, MutableRowsView y) const {
    std::vector<double> margins(answers_.margins());
    for (std::size_t row = 0; row < y.rows; ++row)
      answers_.answer(sums.data() + row, y.rows, margins, {y.row(row), y.columns});
  }

  ModelInfo info_;
  const TreeKernel& kernel_;
  PackedEnsemble trees_;
  TreeRowsMaker rows_;
  TreeAnswers answers_;
  TreeBalls balls_;
  bool fast_path_;
  std::unique_ptr<TreeCells> cells_;  // none: there are more than a table holds, or it is not wanted
};

}  // namespace

std::unique_ptr<Model> make_tree_model(const TreeEnsemble& ensemble, const TreeModelOptions& options) {
  check_trees(ensemble, options.name);
  return std::make_unique<TreeModel>(ensemble, options);
}

}  // namespace harmonia
