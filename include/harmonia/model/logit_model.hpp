#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// Probabilities below this count as this much: a softmax in single precision gives 0 for less.
constexpr double kLeastProbability = 0x1p-126;

/// A classifier whose outputs are taken as logits. `model` must outlive it. Of outputs that are
/// `probabilities` they are the logarithms (a binary classifier's single one becomes two, of class 0 and 1);
/// answers that are no probabilities are Error(model). Throws Error(usage) if the model has a single output
/// that is no probability. `classes` are the names of its classes, where the caller knows them and it does
/// not.
std::unique_ptr<Model> make_logit_model(const Model& model, bool probabilities,
                                        const std::vector<std::string>& classes = {});

}  // namespace harmonia
