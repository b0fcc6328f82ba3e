#include "batch_sizes.hpp"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <set>

namespace harmonia {
namespace {

TEST(FilledSize, IsThePowerOfTwoOrTheMost) {
  EXPECT_EQ(filled_size(1, 416), 1U);
  EXPECT_EQ(filled_size(5, 416), 8U);
  EXPECT_EQ(filled_size(32, 416), 32U);
  EXPECT_EQ(filled_size(200, 416), 256U);
  EXPECT_EQ(filled_size(300, 416), 416U);
  EXPECT_EQ(filled_size(416, 416), 416U);
  EXPECT_EQ(filled_size(417, 416), 512U);
}

TEST(FilledSize, AddsNoMoreRowsThanThereAre) {
  std::set<std::size_t> sizes;
  for (std::size_t rows = 1; rows <= 1000; ++rows) {
    const std::size_t filled = filled_size(rows, 416);
    ASSERT_GE(filled, rows);
    ASSERT_LE(filled - rows, rows);
    sizes.insert(filled);
  }
  EXPECT_LE(sizes.size(), 12U);
}

torch::jit::Module with_forward(const std::string& body) {
  torch::jit::Module module("net");
  module.register_parameter("weight", torch::ones({1, 1, 3, 3}), false);
  module.define("def forward(self, x: Tensor):\n" + body);
  return module;
}

TEST(HasConvolutions, FindsThemInBranchesAndPartsAndFrozen) {
  const std::string convolution = "torch.conv2d(x, self.weight)";
  EXPECT_FALSE(has_convolutions(with_forward("  return x * 2\n")));
  EXPECT_TRUE(has_convolutions(with_forward("  return " + convolution + "\n")));
  torch::jit::Module branch =
      with_forward("  y = x\n  if bool(x.sum() > 0):\n    y = " + convolution + "\n  return y\n");
  EXPECT_TRUE(has_convolutions(branch));
  torch::jit::Module outer("outer");
  outer.register_module("part", branch);
  outer.define("def forward(self, x: Tensor):\n  return self.part.forward(x)\n");
  EXPECT_TRUE(has_convolutions(outer));
  outer.eval();
  EXPECT_TRUE(has_convolutions(torch::jit::freeze(outer)));
}

}  // namespace
}  // namespace harmonia
