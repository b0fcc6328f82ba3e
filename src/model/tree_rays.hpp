#pragma once

#include "harmonia/model/ray_path.hpp"
#include "tree_prepared.hpp"

namespace harmonia {

/// Points of many sigmas along few directions reach few leaves of a tree. They are walked together, as bits
/// of one word that part where their own coordinates do: every point's answer is that of the point alone, to
/// the bit, whatever the splits look at.
class TreeRays final : public RayPath {
 public:
  /// Keeps a reference to the trees, whose kernel has to have a walk for it. `only_if_worthwhile`: open()
  /// weighs what it costs.
  TreeRays(const PreparedTrees& prepared, const ModelInfo& info, bool only_if_worthwhile);

  std::string name() const override;
  std::unique_ptr<RayAsker> open(const Noise& noise, std::span<const double> sigmas) const override;

  const PreparedTrees& trees;
  std::size_t inputs;
  Scalar scalar;
  bool by_cost;
};

}  // namespace harmonia
