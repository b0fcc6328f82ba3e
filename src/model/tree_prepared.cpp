#include "tree_prepared.hpp"

#include <algorithm>

namespace harmonia {
namespace {

constexpr std::size_t kRows = 256;             // walked together, so that trees stay in the cache for them
constexpr std::size_t kRowBytes = 128 * 1024;  // … or fewer, if they are wide
constexpr std::size_t kLeastRows = 32;
constexpr std::size_t kWidestVector = std::size_t{1} << 24;  // inputs; places in a block fit 31 bits
constexpr double kPointNumber = 0.3;  // nanoseconds that a number of a row takes before trees see it
constexpr std::size_t kTreeBytes = 128 * 1024;  // of trees that are walked by all these rows in turn

const TreeKernel& kernel_for([[maybe_unused]] Simd simd, std::size_t inputs) {
  if (inputs > kWidestVector) return kScalarTrees;
#if defined(__x86_64__)
  if (simd == Simd::avx512) return kAvx512Trees;
  if (simd == Simd::avx2) return kAvx2Trees;
#endif
  return kScalarTrees;
}

void walk_pack(const TreeKernel& kernel, const TreePack& pack, const TreeRows& rows,
               std::vector<std::int64_t>& sums) {
  const std::size_t each = std::max<std::size_t>(
      1, (pack.threshold.size() * 2 * sizeof(float) + pack.leaf.size() * sizeof(std::int64_t)) /
             pack.view.count);
  const std::size_t step = std::max<std::size_t>(1, kTreeBytes / each);
  for (std::size_t tree = 0; tree < pack.view.count; tree += step) {
    kernel.walk(pack.view, tree, std::min(tree + step, pack.view.count), rows, sums.data());
  }
}

}  // namespace

ModelInfo tree_model_info(const TreeEnsemble& ensemble, const TreeModelOptions& options) {
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

PreparedTrees::PreparedTrees(const TreeEnsemble& ensemble, const TreeModelOptions& options,
                             const std::vector<int>& exponents, std::size_t first)
    : kernel(kernel_for(options.simd, ensemble.inputs.size())),
      trees(pack_trees(ensemble, kernel.block, exponents, first)),
      rows(ensemble, trees.used, kernel),
      answers{ensemble.base, trees.unit, ensemble.factor, options.margin ? TreeLink{} : ensemble.link},
      slices(options.simd == Simd::avx512
                 ? TreeSlices::find(trees, rows, kernel.block, answers, options.by_cost)
                 : nullptr),
      balls(trees, rows, kernel, answers, slices.get(), tree_model_info(ensemble, options)) {
  if (options.by_cost) balls.weigh(kPointNumber * static_cast<double>(rows.inputs()) + row_cost());
}

void PreparedTrees::evaluate(RowsView x, MutableRowsView y) const {
  if (slices == nullptr) return walk(x, y);
  slices->evaluate(x, y, [this](RowsView some, MutableRowsView answered) { walk(some, answered); });
}

void PreparedTrees::walk(RowsView x, MutableRowsView y) const {
  const std::size_t bytes = std::max<std::size_t>(1, trees.used.size()) * sizeof(float);
  const std::size_t together = std::clamp(kRowBytes / bytes, kLeastRows, kRows);
  TreeRowsMaker::Buffer buffer;
  std::vector<std::int64_t> sums;
  std::vector<double> room;
  for (std::size_t first = 0; first < x.rows(); first += together) {
    const std::size_t count = std::min(together, x.rows() - first);
    const TreeRows made = rows.make(x, first, count, buffer);
    sums.assign(count * answers.margins(), 0);
    for (const TreePack& pack : trees.packs) walk_pack(kernel, pack, made, sums);
    const MutableRowsView out = y.slice(first, count);
    answers.answer(sums.data(), count, 1, count, room, {out.data, count * out.columns});
  }
}

}  // namespace harmonia
