#include "batch_sizes.hpp"

#include <torch/script.h>

#include <algorithm>
#include <bit>
#include <string_view>

namespace harmonia {
namespace {

bool has_convolutions(torch::jit::Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](torch::jit::Node* node) {
    if (std::string_view(node->kind().toUnqualString()).find("conv") != std::string_view::npos) return true;
    return std::any_of(node->blocks().begin(), node->blocks().end(),
                       [](torch::jit::Block* inner) { return has_convolutions(*inner); });
  });
}

}  // namespace

bool has_convolutions(const torch::jit::Module& module) {
  for (const torch::jit::Module& part : module.modules())
    for (const torch::jit::Method& method : part.get_methods())
      if (has_convolutions(*method.graph()->block())) return true;
  return false;
}

std::size_t filled_size(std::size_t rows, std::size_t most) {
  const std::size_t whole = std::bit_ceil(rows);
  return rows <= most ? std::min(whole, most) : whole;
}

}  // namespace harmonia
