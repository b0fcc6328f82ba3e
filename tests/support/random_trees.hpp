#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::testing {

/// The instruction sets that this machine can walk trees with.
inline std::vector<Simd> paths() {
  std::vector<Simd> all{Simd::scalar};
  if (best_simd() != Simd::scalar) all.push_back(Simd::avx2);
  if (best_simd() == Simd::avx512) all.push_back(Simd::avx512);
  return all;
}

/// Whether this machine has the instructions for slices of bits.
inline bool has_slices() {
#if defined(__x86_64__)
  return best_simd() == Simd::avx512 && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("gfni");
#else
  return false;
#endif
}

/// What random trees look like.
struct RandomTrees {
  std::size_t columns = 5;
  std::size_t trees = 20;
  unsigned depth = 6;  ///< at most
  double stop = 0.1;   ///< how often a node is a leaf before that depth
  std::size_t margins = 1;
  bool wide_leaves = false;  ///< a leaf has a value for each margin
  Scalar scalar = Scalar::float32;
  std::uint64_t seed = 1;
};

/// An ensemble of random splits in [0, 1], thresholds often shared, missing values sent either way.
inline TreeEnsemble random_trees(const RandomTrees& shape) {
  std::mt19937_64 random(shape.seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  TreeEnsemble ensemble;
  ensemble.columns = shape.columns;
  ensemble.scalar = shape.scalar;
  ensemble.base.assign(shape.margins, 0.25);
  ensemble.leaf_width = shape.wide_leaves ? shape.margins : 1;
  for (std::uint32_t j = 0; j < shape.columns; ++j) ensemble.inputs.push_back({.column = j});
  const auto grow = [&](const auto& self, unsigned left) -> std::int32_t {
    if (left == 0 || uniform() < shape.stop) {
      const auto leaf = static_cast<std::int32_t>(ensemble.leaves.size() / ensemble.leaf_width);
      for (std::size_t k = 0; k < ensemble.leaf_width; ++k) ensemble.leaves.push_back(uniform() - 0.5);
      return ~leaf;
    }
    const auto at = static_cast<std::int32_t>(ensemble.nodes.size());
    double threshold = uniform() < 0.3 ? 0.125 * static_cast<double>(random() % 9) : uniform();
    if (shape.scalar == Scalar::float32) threshold = static_cast<float>(threshold);
    ensemble.nodes.push_back({.threshold = threshold,
                              .input = static_cast<std::uint32_t>(random() % shape.columns),
                              .left = 0,
                              .right = 0,
                              .missing_left = uniform() < 0.5});
    const std::int32_t below = self(self, left - 1), above = self(self, left - 1);
    ensemble.nodes[static_cast<std::size_t>(at)].left = below;
    ensemble.nodes[static_cast<std::size_t>(at)].right = above;
    return at;
  };
  for (std::size_t t = 0; t < shape.trees; ++t) {
    const std::int32_t root = grow(grow, shape.depth);
    ensemble.trees.push_back({.root = root, .output = static_cast<std::uint32_t>(t % shape.margins)});
  }
  return ensemble;
}

}  // namespace harmonia::testing
