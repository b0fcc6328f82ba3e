#include "harmonia/model/tree_ensemble.hpp"
#include "tree_prepared.hpp"

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
        fast_path_(options.fast_path) {}

  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override { trees_.evaluate(x, y); }
  const BallPath* ball_path() const override { return fast_path_ ? &trees_.balls : nullptr; }

 private:
  ModelInfo info_;
  PreparedTrees trees_;
  bool fast_path_;
};

}  // namespace

std::unique_ptr<Model> make_tree_model(const TreeEnsemble& ensemble, const TreeModelOptions& options) {
  check_trees(ensemble, options.name);
  return std::make_unique<TreeModel>(ensemble, options);
}

}  // namespace harmonia
