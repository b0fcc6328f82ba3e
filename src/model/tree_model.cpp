#include <fmt/format.h>

#include "harmonia/model/tree_ensemble.hpp"
#include "tree_cells.hpp"
#include "tree_prepared.hpp"
#include "tree_rays.hpp"

namespace harmonia {
namespace {

std::vector<int> exponents_of(const TreeEnsemble& ensemble) {
  LeafScales scales(ensemble.margins());
  scales.add(ensemble);
  return scales.exponents();
}

class TreeModel final : public Model {
 public:
  TreeModel(const TreeEnsemble& ensemble, const TreeModelOptions& options)
      : info_(tree_model_info(ensemble, options)),
        trees_(ensemble, options, exponents_of(ensemble)),
        rays_(trees_, info_, options.by_cost),
        fast_path_(options.fast_path) {
    if (fast_path_ && options.cells)
      cells_ = TreeCells::find(trees_.trees, trees_.rows, trees_.kernel.block, trees_.answers, info_,
                               trees_.row_cost());
    if (cells_) info_.fast_path = fmt::format("cells from {} points on", cells_->pays());
  }

  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto walked = [this](RowsView rows, MutableRowsView answers) { trees_.evaluate(rows, answers); };
    if (!cells_ || !cells_->evaluate(x, y, walked)) trees_.evaluate(x, y);
  }
  // A look into the cells is less than what one of the points of a ball costs together with all others.
  const BallPath* ball_path() const override { return fast_path_ && !cells_ ? &trees_.balls : nullptr; }

  const RayPath* ray_path() const override {
    return fast_path_ && !cells_ && trees_.kernel.walk_rays != nullptr ? &rays_ : nullptr;
  }

 private:
  ModelInfo info_;
  PreparedTrees trees_;
  TreeRays rays_;
  bool fast_path_;
  std::unique_ptr<TreeCells> cells_;  // none: there are more than a table holds, or it is not wanted
};

}  // namespace

std::unique_ptr<Model> make_tree_model(const TreeEnsemble& ensemble, const TreeModelOptions& options) {
  check_trees(ensemble, options.name);
  return std::make_unique<TreeModel>(ensemble, options);
}

}  // namespace harmonia
