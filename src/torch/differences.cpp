#include "differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "difference_kernels.hpp"
#include "difference_rules.hpp"

namespace harmonia {
namespace {

at::Tensor first_tensor(const c10::IValue& value) {
  if (value.isTuple()) return first_tensor(value.toTupleRef().elements().at(0));
  if (value.isTensorList()) return value.toTensorList().get(0);
  return value.toTensor();
}

}  // namespace

/// A frozen graph as a list of steps over numbered values.
class Differences::Program {
 public:
  explicit Program(const torch::jit::Module& module) : graph_(module.get_method("forward").graph()->copy()) {
    if (graph_->inputs().size() != 2) throw std::runtime_error("its forward() takes more than one tensor");
    if (!graph_->inputs()[0]->uses().empty()) throw std::runtime_error("it is not frozen");
    input_ = number_of(graph_->inputs()[1]);
    varies_[input_] = true;
    steps_ = steps_of(graph_->block());
    if (graph_->outputs().size() != 1) throw std::runtime_error("it has several outputs");
    output_ = number_of(graph_->outputs()[0]);
    if (!varies_[output_]) throw std::runtime_error("its answer does not depend on its input");
    choose_forms(steps_);
    note_last_uses();
  }

  PairAnswers answer(const PairBatch& batch) const {
    Frame frame{batch.row, batch.centres.size(0), batch.row.size(0)};
    std::vector<Value> values(varies_.size());
    for (const Constant& constant : constants_)
      values[constant.number] = {constant.exact, constant.value, false, {}, {}};
    values[input_].centre = batch.centres.to(at::kDouble);
    values[input_].pairs = batch.differences;
    values[input_].varies = true;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      run(steps_[k], frame, values);
      for (const std::size_t number : done_after_[k]) values[number] = {};
    }
    const Value& out = values[output_];
    return {first_tensor(out.centre).reshape({frame.rows, -1}),
            first_tensor(out.pairs).reshape({2 * frame.pairs, -1})};
  }

 private:
  std::size_t number_of(const torch::jit::Value* value) {
    const auto [found, is_new] = numbers_.try_emplace(value, varies_.size());
    if (is_new) varies_.push_back(false);
    return found->second;
  }

  std::vector<Step> steps_of(torch::jit::Block* block) {
    std::vector<Step> steps;
    for (torch::jit::Node* node : block->nodes()) {
      if (node->kind() == c10::prim::Constant) {
        const c10::IValue value = *torch::jit::toIValue(node->output());
        constants_.push_back({number_of(node->output()), value, exact(value)});
      } else {
        steps.push_back(step_of(node));
      }
    }
    return steps;
  }

  static c10::IValue exact(const c10::IValue& value) {
    const bool numbers = value.isTensor() && value.toTensor().defined() && value.toTensor().is_floating_point();
    return numbers ? c10::IValue(value.toTensor().to(at::kDouble)) : value;
  }

  Step step_of(torch::jit::Node* node) {
    Step step;
    step.node = node;
    std::vector<bool> varies;
    for (const torch::jit::Value* value : node->inputs()) {
      step.inputs.push_back(number_of(value));
      varies.push_back(varies_[step.inputs.back()]);
    }
    for (const torch::jit::Value* value : node->outputs()) step.outputs.push_back(number_of(value));
    if (node->kind() == c10::prim::If) {
      add_blocks(step, node->blocks());
      return step;
    }
    step.rule = rule_of(*node, varies);
    const bool known = step.rule != nullptr && node->blocks().empty() && node->kind() != c10::prim::GetAttr &&
                       node->kind() != c10::prim::CallMethod;
    if (!known) throw std::runtime_error(fmt::format("differences of {} are not known", node->kind().toQualString()));
    const bool own = node->maybeOperator() != nullptr;
    if (own && !is_collection(*node)) step.operation = node->getOperation();
    if (std::find(varies.begin(), varies.end(), true) != varies.end()) {
      for (const torch::jit::Value* value : node->outputs())
        varies_[number_of(value)] = value->type()->kind() != c10::TypeKind::IntType && holds_tensors(*value->type());
      add_weight(step);
    }
    return step;
  }

  static bool is_collection(const torch::jit::Node& node) {
    return node.kind() == c10::prim::ListConstruct || node.kind() == c10::prim::ListUnpack ||
           node.kind() == c10::prim::TupleConstruct || node.kind() == c10::prim::TupleUnpack;
  }

  static bool holds_tensors(const c10::Type& type) {
    if (type.kind() == c10::TypeKind::TensorType) return true;
    const auto parts = type.containedTypes();
    return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return holds_tensors(*part); });
  }

  void add_blocks(Step& step, at::ArrayRef<torch::jit::Block*> blocks) {
    if (varies_[step.inputs[0]]) throw std::runtime_error("it has a condition on its numbers");
    for (torch::jit::Block* const block : blocks) {
      step.blocks.push_back(steps_of(block));
      std::vector<std::size_t>& outputs = step.block_outputs.emplace_back();
      for (const torch::jit::Value* value : block->outputs()) outputs.push_back(number_of(value));
      for (std::size_t k = 0; k < outputs.size(); ++k)
        if (varies_[outputs[k]]) varies_[step.outputs[k]] = true;
    }
    // What one of them makes constant would have to differ by zeros.
    for (const std::vector<std::size_t>& outputs : step.block_outputs) {
      for (std::size_t k = 0; k < outputs.size(); ++k)
        if (varies_[outputs[k]] != varies_[step.outputs[k]])
          throw std::runtime_error("it has a condition with a constant answer");
    }
  }

  // Weights are constants of a frozen graph.
  void add_weight(Step& step) const {
    if (step.inputs.size() < 2) return;
    for (const Constant& constant : constants_) {
      if (constant.number != step.inputs[1] || !constant.value.isTensor()) continue;
      step.weight = constant.value.toTensor();
      step.factors = kernels::factors_of(*step.node, step.weight);
    }
  }

  // What is made of a value follows from who takes it.
  void choose_forms(std::vector<Step>& steps) {
    std::map<std::size_t, std::vector<const Step*>> takers;
    for (const Step& step : steps)
      for (const std::size_t number : step.inputs) takers[number].push_back(&step);
    for (Step& step : steps) {
      if (step.outputs.size() != 1 || step.outputs[0] == output_) continue;
      const torch::jit::Value* const value = step.node->output();
      const std::vector<const Step*>& found = takers[step.outputs[0]];
      if (found.size() != value->uses().size()) continue;  // one is within a condition
      const auto is_activation = [](const Step& taker) {
        return taker.node->kind() == c10::aten::relu || taker.node->kind() == c10::aten::relu_ ||
               taker.node->kind() == c10::aten::gelu;
      };
      step.adds_later = found.size() == 1 && is_activation(*found[0]);
      step.wants_pairs = false;
      for (const Step* taker : found) {
        const bool factor = taker->factors != Factors::none && taker->inputs[0] == step.outputs[0];
        if (!factor) step.wants_pairs = true;
        if (factor && step.wanted != Factors::none && step.wanted != taker->factors) step.wants_pairs = true;
        if (factor && step.wanted == Factors::none) step.wanted = taker->factors;
      }
    }
  }

  void note_last_uses() {
    std::vector<std::size_t> last(varies_.size(), 0);
    for (std::size_t k = 0; k < steps_.size(); ++k) note_uses(steps_[k], k, last);
    done_after_.resize(steps_.size());
    for (const Constant& constant : constants_) last[constant.number] = steps_.size();
    last[output_] = steps_.size();
    for (std::size_t number = 0; number < last.size(); ++number)
      if (last[number] < steps_.size()) done_after_[last[number]].push_back(number);
  }

  static void note_uses(const Step& step, std::size_t k, std::vector<std::size_t>& last) {
    for (const std::size_t number : step.inputs) last[number] = k;
    for (const std::size_t number : step.outputs) last[number] = std::max(last[number], k);
    for (const std::vector<Step>& block : step.blocks)
      for (const Step& inner : block) note_uses(inner, k, last);
    for (const std::vector<std::size_t>& outputs : step.block_outputs)
      for (const std::size_t number : outputs) last[number] = std::max(last[number], k);
  }

  void run(const Step& step, const Frame& frame, std::vector<Value>& values) const {
    if (!step.blocks.empty()) return run_block(step, frame, values);
    std::vector<Value*> in, out;
    for (const std::size_t number : step.inputs) in.push_back(&values[number]);
    for (const std::size_t number : step.outputs) out.push_back(&values[number]);
    for (std::size_t k = 0; k < out.size(); ++k) *out[k] = {{}, {}, varies_[step.outputs[k]], {}, {}};
    step.rule(step, frame, in, out);
  }

  void run_block(const Step& step, const Frame& frame, std::vector<Value>& values) const {
    const std::size_t chosen = values[step.inputs[0]].centre.toBool() ? 0 : 1;
    for (const Step& inner : step.blocks[chosen]) run(inner, frame, values);
    for (std::size_t k = 0; k < step.outputs.size(); ++k)
      values[step.outputs[k]] = values[step.block_outputs[chosen][k]];
  }

  struct Constant {
    std::size_t number;
    c10::IValue value, exact;  // as it is, and in double precision
  };

  std::shared_ptr<torch::jit::Graph> graph_;
  std::map<const torch::jit::Value*, std::size_t> numbers_;
  std::vector<bool> varies_;  // of every value
  std::vector<Constant> constants_;
  std::vector<Step> steps_;
  std::vector<std::vector<std::size_t>> done_after_;  // values that nobody takes after a step
  std::size_t input_ = 0, output_ = 0;
};

Differences::Differences(const torch::jit::Module& module) : program_(std::make_unique<Program>(module)) {}
Differences::~Differences() = default;
PairAnswers Differences::answer(const PairBatch& batch) const { return program_->answer(batch); }

}  // namespace harmonia
