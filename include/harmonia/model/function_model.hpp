#pragma once

#include <memory>
#include <string>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// The analytic functions of [Kersting 2024, appendix C], in n variables numbered from 0:
/// f1 = x0² − x1² + x2² − …, f2 = Σ xi², f3 = sin x0 · exp x1 · sin x2 · …, f4 = exp Σ xi.
/// f1 and f3 are harmonic for an even number of variables. Throws Error(usage) for another name.
std::unique_ptr<Model> make_function_model(const std::string& name, std::size_t n);

}  // namespace harmonia
