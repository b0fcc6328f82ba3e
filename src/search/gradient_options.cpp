#include "gradient_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

void check_number(const char* name, double value, double least, const char* expected) {
  if (value >= least && std::isfinite(value)) return;
  throw Error(ErrorCode::usage, fmt::format("{} is {}; expected {}", name, value, expected));
}

void check_numbers(const AttackOptions& options) {
  const GradientOptions& g = options.gradient;
  const std::string name = attack_method_name(options.method);
  if (needs_epsilon(options.method) && !(options.epsilon > 0)) {
    throw Error(ErrorCode::usage,
                fmt::format("epsilon is {}; method {} needs the size of its ball, a number above 0",
                            options.epsilon, name));
  }
  check_number("step size", g.step_size, 0, "0 or more");
  check_number("decay", g.decay, 0, "0 or more");
  check_number("kappa", g.kappa, 0, "0 or more");
  check_number("constant", g.constant, 0, "0 or more");
  if (options.method == AttackMethod::pgd_penalty && !(g.penalty > 0 && std::isfinite(g.penalty))) {
    throw Error(
        ErrorCode::usage,
        fmt::format("penalty is {}; method {} needs the weight of the squared distance, a number above 0",
                    g.penalty, name));
  }
}

void check_norm(const AttackOptions& options) {
  if (options.gradient.norm != AttackNorm::linf || standard_norm(options.method) == AttackNorm::linf) return;
  throw Error(ErrorCode::usage,
              fmt::format("method {} goes by the l2 distance; expected no norm linf with it",
                          attack_method_name(options.method)));
}

void check_model(const AttackOptions& options, const Model& model) {
  const ModelInfo& info = model.info();
  if (!model.differentiable()) {
    throw Error(ErrorCode::usage,
                fmt::format("model {} has no gradients, which method {} needs; methods that work with it are "
                            "gamma, random, greedy, boundary and, by estimated gradients, nes",
                            info.name, attack_method_name(options.method)));
  }
  if (info.outputs == 1 && !info.binary) {
    throw Error(
        ErrorCode::usage,
        fmt::format("method {} needs the outputs of the classes; model {} has one output; expected an "
                    "output a class, or --binary for a probability",
                    attack_method_name(options.method), info.name));
  }
}

void check_target(const AttackTarget& target, const ModelInfo& model) {
  const std::size_t classes = std::max<std::size_t>(2, model.outputs);
  if (target.kind != AttackTarget::Kind::given) return;
  if (target.label >= 0 && static_cast<std::size_t>(target.label) < classes) return;
  throw Error(ErrorCode::usage, fmt::format("target {}; model {} has the classes 0 to {}", target.label,
                                            model.name, classes - 1));
}

}  // namespace

void check_gradient_options(const AttackOptions& options, const Model& model) {
  check_numbers(options);
  check_norm(options);
  check_model(options, model);
  check_target(options.gradient.target, model.info());
}

}  // namespace harmonia
