#include "traced_flags.hpp"

namespace harmonia {
namespace {

void forbid_in(torch::jit::Block& block) {
  for (torch::jit::Node* const node : block.nodes()) {
    for (torch::jit::Block* const inner : node->blocks()) forbid_in(*inner);
    const c10::FunctionSchema* const schema = node->maybeSchema();
    if (schema == nullptr) continue;
    const auto flag = schema->argumentIndexWithName("allow_tf32");
    if (!flag) continue;
    const torch::jit::WithInsertPoint before(node);
    node->replaceInput(static_cast<std::size_t>(*flag), node->owningGraph()->insertConstant(false));
  }
}

}  // namespace

void forbid_tf32(torch::jit::Module& module) {
  for (const torch::jit::Module& part : module.modules())
    for (const torch::jit::Method& method : part.get_methods()) forbid_in(*method.graph()->block());
}

}  // namespace harmonia
