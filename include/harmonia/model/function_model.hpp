#pragma once

#include <map>
#include <memory>
#include <string>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// The analytic functions of [Kersting 2024, appendix C], in n variables numbered from 0:
/// f1 = x0² − x1² + x2² − …, f2 = Σ xi², f3 = sin x0 · exp x1 · sin x2 · …, f4 = exp Σ xi.
/// f1 and f3 are harmonic for an even number of variables.
/// And classifiers whose stability is known, which answer 1 for the class and 0 outside of it:
/// half-space: x0 < d; ball-class: |x| < r; cone: around the axis x0, apex at x0 = −1, half-angle in degrees;
/// shells, of one variable: |x| < 0.2 or 0.4 < |x| < 4.
/// And two whose gradients are known too, which answer with the probability of class 1, 1 / (1 + exp m):
/// soft-plane: m = Σ xi / √n − d; soft-ball: m = Σ xi² − r².
/// `parameters`: d (1), r (1), angle (60). Throws Error(usage) for another name or parameter.
std::unique_ptr<Model> make_function_model(const std::string& name, std::size_t n,
                                           const std::map<std::string, double>& parameters = {});

}  // namespace harmonia
