#pragma once

#include <torch/csrc/jit/ir/ir.h>
#include <torch/script.h>

#include <optional>
#include <vector>

namespace harmonia {

/// A value of a graph: at the rows, in double precision, and of the pairs around them (D, then S), in the network's own.
/// What does not depend on the input's numbers has its value in both, which may differ where it depends on how many rows
/// there are.
struct Value {
  c10::IValue centre, pairs;
  bool varies = false;
  at::Tensor addend;   ///< that belongs to `pairs`, and is added by the operation that takes it
  at::Tensor factors;  ///< `pairs` as tensor cores take it, in place of it or beside it
};

/// How a GPU's tensor cores are handed a factor of a product: as three parts of few bits each, which together have
/// nearly all of them.
enum class Factors {
  none,
  rows,    ///< in bf16, the last axis holding high, low and high parts, for matrix products
  pixels,  ///< the same of images, whose channels become the last axis, for convolutions of single pixels
  tf32     ///< the same in single precision, for other convolutions
};

/// A node of a graph, as it is done again and again.
struct Step {
  const torch::jit::Node* node = nullptr;
  std::optional<torch::jit::Operation> operation;  ///< of the node itself, if it has one
  std::vector<std::size_t> inputs, outputs;
  void (*rule)(const Step&, const struct Frame&, std::vector<Value*>& in, std::vector<Value*>& out) = nullptr;
  at::Tensor weight;               ///< of a product, as tensor cores take it
  Factors factors = Factors::none;  ///< of such a product
  bool adds_later = false;          ///< an addition that its one taker does
  bool wants_pairs = true;          ///< some taker of its output takes differences as they are
  Factors wanted = Factors::none;   ///< what other takers of its output take
  std::vector<std::vector<Step>> blocks;             ///< of a condition
  std::vector<std::vector<std::size_t>> block_outputs;
};

/// What all steps of one call share.
struct Frame {
  at::Tensor row;  ///< of every pair
  std::int64_t rows = 0, pairs = 0;
};

using Rule = decltype(Step::rule);

/// How the differences of a node's outputs come of those of its inputs, of which `varies` says which have any. Null:
/// not known.
Rule rule_of(const torch::jit::Node& node, const std::vector<bool>& varies);

/// Both sides of a step that treats differences as it treats numbers.
void on_both_sides(const Step& step, const Frame& frame, std::vector<Value*>& in, std::vector<Value*>& out);

}  // namespace harmonia
