#include "traced_flags.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace harmonia {
namespace {

// A module as traces are: every convolution says what was allowed when it was made. One is in a branch, and
// one in a module of its own.
torch::jit::Module traced() {
  const std::string convolution =
      "torch._convolution(x, self.weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, False, False, "
      "True, True)";
  const auto weight = [](double scale) { return torch::arange(9, at::kFloat).reshape({1, 1, 3, 3}) * scale; };
  torch::jit::Module inner("inner"), outer("outer");
  inner.register_parameter("weight", weight(0.5), false);
  inner.define("def forward(self, x: Tensor):\n  return " + convolution + "\n");
  outer.register_parameter("weight", weight(0.25), false);
  outer.register_module("inner", inner);
  outer.define(
      "def forward(self, x: Tensor):\n  y = self.inner.forward(x)\n  if bool(x.sum() > 0):\n    y = y + " +
      convolution + "\n  return y\n");
  return outer;
}

void collect(torch::jit::Block& block, std::vector<bool>& flags) {
  for (torch::jit::Node* const node : block.nodes()) {
    for (torch::jit::Block* const inner : node->blocks()) collect(*inner, flags);
    if (node->kind() == c10::Symbol::fromQualString("aten::_convolution"))
      flags.push_back(torch::jit::toIValue(node->inputs().back())->toBool());
  }
}

// Of all convolutions, whether they allow TF32.
std::vector<bool> flags_of(const torch::jit::Module& module) {
  std::vector<bool> flags;
  for (const torch::jit::Module& part : module.modules())
    for (const torch::jit::Method& method : part.get_methods()) collect(*method.graph()->block(), flags);
  return flags;
}

TEST(TracedFlags, NoConvolutionAllowsTf32Afterwards) {
  torch::jit::Module module = traced();
  ASSERT_EQ(flags_of(module), std::vector<bool>({true, true}));
  forbid_tf32(module);
  EXPECT_EQ(flags_of(module), std::vector<bool>({false, false}));
}

TEST(TracedFlags, NorDoesOneOfAFrozenModule) {
  torch::jit::Module module = traced();
  module.eval();
  module = torch::jit::freeze(module);
  ASSERT_EQ(flags_of(module), std::vector<bool>({true, true}));
  forbid_tf32(module);
  EXPECT_EQ(flags_of(module), std::vector<bool>({false, false}));
}

TEST(TracedFlags, AnswersStayTheSame) {
  torch::jit::Module before = traced(), after = traced();
  forbid_tf32(after);
  const at::Tensor x = torch::arange(25, at::kFloat).reshape({1, 1, 5, 5});
  EXPECT_TRUE(torch::equal(before.forward({x}).toTensor(), after.forward({x}).toTensor()));
}

}  // namespace
}  // namespace harmonia
