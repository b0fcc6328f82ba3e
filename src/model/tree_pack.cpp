#include "tree_pack.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr int kFixedBits = 62;  // of the largest sum that leaves can come to
constexpr std::size_t kPadding = 16;

bool is_leaf(std::int32_t at) { return at < 0; }

// A tree's leaves, their depth, and what its splits compare.
struct Shape {
  unsigned depth = 0;
  std::vector<std::int32_t> leaves;
  std::vector<std::uint32_t> inputs;
};

Shape shape_of(const TreeEnsemble& ensemble, const Tree& tree) {
  Shape shape;
  std::vector<std::pair<std::int32_t, unsigned>> open{{tree.root, 0U}};
  while (!open.empty()) {
    const auto [at, depth] = open.back();
    open.pop_back();
    if (is_leaf(at)) {
      shape.depth = std::max(shape.depth, depth);
      shape.leaves.push_back(~at);
    } else {
      const TreeNode& node = ensemble.nodes[static_cast<std::size_t>(at)];
      shape.inputs.push_back(node.input);
      open.emplace_back(node.left, depth + 1);
      open.emplace_back(node.right, depth + 1);
    }
  }
  return shape;
}

// Of value = odd · 2^result, which is not 0.
int lowest_bit(double value) {
  constexpr int kDigits = std::numeric_limits<double>::digits;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto whole = static_cast<std::uint64_t>(std::ldexp(fraction, kDigits));
  return exponent - kDigits + std::countr_zero(whole);
}

// Inputs that some split compares, and the few between them: eight neighbours are copied as fast as one.
std::vector<bool> used_inputs(const TreeEnsemble& ensemble, const std::vector<Shape>& shapes) {
  constexpr std::size_t kNeighbours = 8;
  std::vector<bool> used(ensemble.inputs.size());
  for (const Shape& shape : shapes)
    for (const std::uint32_t input : shape.inputs) used[input] = true;
  std::size_t next = 0;  // after the last one used
  for (std::size_t input = 0; input < used.size(); ++input) {
    if (!used[input]) continue;
    if (input - next < kNeighbours) std::fill(used.begin() + next, used.begin() + input, true);
    next = input + 1;
  }
  return used;
}

class Packer {
 public:
  Packer(const TreeEnsemble& ensemble, std::vector<int> exponents, std::vector<std::int32_t> place)
      : ensemble_(ensemble), exponents_(std::move(exponents)), place_(std::move(place)) {}

  void complete(TreePack& pack, const Tree& tree) {
    const std::size_t slots = std::size_t{1} << pack.view.depth;
    const std::size_t slot0 = pack.threshold.size(), leaf0 = pack.leaf.size();
    // Where a leaf is repeated, lanes that go together stay together.
    pack.threshold.resize(slot0 + slots, std::numeric_limits<float>::infinity());
    if (exact()) pack.exact.resize(slot0 + slots, std::numeric_limits<double>::infinity());
    pack.input.resize(slot0 + slots, 0);
    pack.missing_left.resize(slot0 + slots, 0);
    pack.split.resize(slot0 + slots, false);
    pack.leaf.resize(leaf0 + slots * ensemble_.leaf_width);
    std::vector<std::pair<std::size_t, std::int32_t>> open{{1, tree.root}};
    while (!open.empty()) {
      const auto [position, at] = open.back();
      open.pop_back();
      if (position >= slots) {
        put_leaf(pack, leaf0 + (position - slots) * ensemble_.leaf_width, ~at, tree.output);
      } else if (is_leaf(at)) {
        open.emplace_back(2 * position, at);
        open.emplace_back(2 * position + 1, at);
      } else {
        const TreeNode& node = put_split(pack, slot0 + position, at);
        pack.split[slot0 + position] = true;
        open.emplace_back(2 * position, node.left);
        open.emplace_back(2 * position + 1, node.right);
      }
    }
  }

  void deep(TreePack& pack, const Tree& tree) {
    pack.first.push_back(pack.child.size());
    std::vector<std::pair<std::size_t, std::int32_t>> open{{add_slots(pack, 1), tree.root}};
    while (!open.empty()) {
      const auto [slot, at] = open.back();
      open.pop_back();
      if (is_leaf(at)) {
        const std::size_t leaf0 = pack.leaf.size();
        pack.leaf.resize(leaf0 + ensemble_.leaf_width);
        put_leaf(pack, leaf0, ~at, tree.output);
        pack.child[slot] = ~static_cast<std::int32_t>(leaf0 / ensemble_.leaf_width);
        continue;
      }
      const TreeNode& node = put_split(pack, slot, at);
      const std::size_t children = add_slots(pack, 2);
      pack.child[slot] = static_cast<std::int32_t>(children);
      open.emplace_back(children, node.left);
      open.emplace_back(children + 1, node.right);
    }
  }

 private:
  bool exact() const { return ensemble_.scalar == Scalar::float64; }

  std::size_t add_slots(TreePack& pack, std::size_t count) const {
    const std::size_t slot = pack.child.size();
    pack.child.resize(slot + count, 0);
    pack.threshold.resize(slot + count, 0.0F);
    if (exact()) pack.exact.resize(slot + count, 0.0);
    pack.input.resize(slot + count, 0);
    pack.missing_left.resize(slot + count, 0);
    return slot;
  }

  const TreeNode& put_split(TreePack& pack, std::size_t slot, std::int32_t at) const {
    const TreeNode& node = ensemble_.nodes[static_cast<std::size_t>(at)];
    pack.threshold[slot] = static_cast<float>(node.threshold);
    if (exact()) pack.exact[slot] = node.threshold;
    pack.input[slot] = place_[node.input];
    pack.missing_left[slot] = node.missing_left ? -1 : 0;
    return node;
  }

  void put_leaf(TreePack& pack, std::size_t to, std::int32_t leaf, std::uint32_t output) const {
    for (std::size_t k = 0; k < ensemble_.leaf_width; ++k) {
      const double value = ensemble_.leaves[static_cast<std::size_t>(leaf) * ensemble_.leaf_width + k];
      const int exponent = exponents_[ensemble_.leaf_width == 1 ? output : k];
      pack.leaf[to + k] = std::llrint(std::ldexp(value, exponent));
    }
  }

  const TreeEnsemble& ensemble_;
  std::vector<int> exponents_;
  std::vector<std::int32_t> place_;  // of each input in a block
};

}  // namespace

void LeafScales::add(const TreeEnsemble& ensemble, std::size_t first) {
  const std::size_t width = ensemble.leaf_width;
  for (std::size_t t = first; t < ensemble.trees.size(); ++t) {
    const Shape shape = shape_of(ensemble, ensemble.trees[t]);
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t margin = width == 1 ? ensemble.trees[t].output : k;
      double largest = 0;
      for (const std::int32_t leaf : shape.leaves) {
        const double value = ensemble.leaves[static_cast<std::size_t>(leaf) * width + k];
        largest = std::max(largest, std::abs(value));
        if (value != 0) finest_[margin] = std::min(finest_[margin], lowest_bit(value));
      }
      largest_[margin] += largest;
    }
  }
  for (const double sum : largest_) {
    if (!std::isfinite(sum))
      throw Error(ErrorCode::input, "the model's leaves add up to more than a double holds");
  }
}

std::vector<int> LeafScales::exponents() const {
  std::vector<int> found;
  for (const double sum : largest_) {
    int bits = 0;
    std::frexp(sum, &bits);  // sum < 2^bits
    found.push_back(sum > 0 ? kFixedBits - bits : 0);
  }
  return found;
}

bool LeafScales::exact(const std::vector<int>& exponents) const {
  for (std::size_t k = 0; k < exponents.size(); ++k)
    if (finest_[k] + exponents[k] < 0) return false;
  return true;
}

std::vector<double> units_of(const std::vector<int>& exponents) {
  std::vector<double> units;
  units.reserve(exponents.size());
  for (const int exponent : exponents) units.push_back(std::ldexp(1.0, -exponent));
  return units;
}

bool is_split(const TreePack& pack, std::size_t slot) {
  return pack.child.empty() ? slot < pack.split.size() && pack.split[slot] : pack.child[slot] >= 0;
}

double threshold_of(const TreePack& pack, std::size_t slot) {
  return pack.exact.empty() ? static_cast<double>(pack.threshold[slot]) : pack.exact[slot];
}

std::vector<std::vector<double>> thresholds_by_input(const PackedEnsemble& trees, std::size_t inputs,
                                                     std::size_t block) {
  std::vector<std::vector<double>> found(inputs);
  for (const TreePack& pack : trees.packs) {
    const std::size_t slots = pack.child.empty() ? pack.split.size() : pack.child.size();
    for (std::size_t slot = 0; slot < slots; ++slot)
      if (is_split(pack, slot))
        found[static_cast<std::size_t>(pack.input[slot]) / block].push_back(threshold_of(pack, slot));
  }
  for (std::vector<double>& each : found) std::ranges::sort(each);
  return found;
}

PackedEnsemble pack_trees(const TreeEnsemble& ensemble, std::size_t block, const std::vector<int>& exponents,
                          std::size_t first) {
  PackedEnsemble packed;
  std::vector<Shape> shapes;
  for (std::size_t t = first; t < ensemble.trees.size(); ++t)
    shapes.push_back(shape_of(ensemble, ensemble.trees[t]));
  const std::vector<bool> used = used_inputs(ensemble, shapes);
  std::vector<std::int32_t> place(ensemble.inputs.size());
  for (std::uint32_t input = 0; input < used.size(); ++input) {
    if (!used[input]) continue;
    place[input] = static_cast<std::int32_t>(packed.used.size() * block);
    packed.used.push_back(input);
  }
  // By output and depth; all deep trees of an output together.
  std::map<std::pair<std::uint32_t, unsigned>, TreePack> groups;
  Packer packer(ensemble, exponents, std::move(place));
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    const Tree& tree = ensemble.trees[first + t];
    // Wide leaves are not repeated many times over.
    const bool complete =
        shapes[t].depth <= kCompleteDepth &&
        (ensemble.leaf_width == 1 || (std::size_t{1} << shapes[t].depth) <= 4 * shapes[t].leaves.size());
    TreePack& pack = groups[{tree.output, complete ? shapes[t].depth : kCompleteDepth + 1}];
    pack.view.depth = std::max(pack.view.depth, shapes[t].depth);
    pack.view.output = tree.output;
    ++pack.view.count;
    if (complete) {
      packer.complete(pack, tree);
    } else {
      packer.deep(pack, tree);
    }
  }
  for (auto& [key, pack] : groups) {
    packed.packs.push_back(std::move(pack));
    TreePack& kept = packed.packs.back();
    // Vectors are read past the last slots of a small tree.
    kept.threshold.resize(kept.threshold.size() + kPadding);
    kept.input.resize(kept.input.size() + kPadding);
    kept.missing_left.resize(kept.missing_left.size() + kPadding);
    kept.view.threshold = kept.threshold.data();
    kept.view.exact = kept.exact.empty() ? nullptr : kept.exact.data();
    kept.view.input = kept.input.data();
    kept.view.missing_left = kept.missing_left.data();
    kept.view.child = kept.child.empty() ? nullptr : kept.child.data();
    kept.view.first = kept.first.data();
    kept.view.leaf = kept.leaf.data();
    kept.view.leaf_width = ensemble.leaf_width;
  }
  packed.unit = units_of(exponents);
  return packed;
}

}  // namespace harmonia
