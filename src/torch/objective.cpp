#include "objective.hpp"

#include <torch/csrc/autograd/autograd.h>

#include <limits>
#include <utility>

#include "network.hpp"

namespace harmonia {
namespace {

constexpr double kStepShare = 2.5;    // all steps together reach from one end of the box to the other
constexpr double kLeastAlong = 1e-6;  // of a gradient, less of it along the plane is none

at::Tensor summed_loss(const at::Tensor& logits, const at::Tensor& classes) {
  return at::cross_entropy_loss(logits, classes, {}, at::Reduction::Sum);
}

// Each row's gradient of its own loss, since no row's loss depends on another row.
at::Tensor input_gradients(const at::Tensor& loss, const at::Tensor& rows, bool to_learn) {
  return torch::autograd::grad({loss}, {rows}, {}, /*retain_graph=*/to_learn, /*create_graph=*/to_learn)[0];
}

}  // namespace

at::Tensor alignment_terms(AlignmentTerm term, const at::Tensor& gradients, const at::Tensor& basis) {
  // Lengths are of gradients whose largest number is 1: those of rows that the network is sure of are so
  // short that their squares are zero.
  const at::Tensor largest = gradients.detach().abs().amax(1, /*keepdim=*/true);
  const at::Tensor scaled = gradients / largest.clamp_min(std::numeric_limits<float>::min());
  const at::Tensor along = at::matmul(at::matmul(scaled, basis.t()), basis);
  const at::Tensor kept =
      (along.detach().norm(2, 1) > kLeastAlong * scaled.detach().norm(2, 1)).nonzero().flatten();
  const at::Tensor g = scaled.index_select(0, kept), p = along.index_select(0, kept);
  switch (term) {
    case AlignmentTerm::ratio:
      return g.norm(2, 1) / p.norm(2, 1);
    case AlignmentTerm::cosine:
      return 1 - p.norm(2, 1) / g.norm(2, 1);
    case AlignmentTerm::rejection:
      return (g - p).norm(2, 1) * largest.index_select(0, kept).squeeze(1);
    case AlignmentTerm::none:
      break;
  }
  return at::zeros({0}, gradients.options());
}

Objective::Objective(const TrainingOptions& options, const torch::jit::Module& network, at::Tensor basis)
    : term_(options.term), alpha_(options.alpha), penalties_(options.penalties), basis_(std::move(basis)) {
  if (!penalties_.empty()) weights_ = connected_weights(network, options.network);
}

at::Tensor Objective::penalty() const {
  at::Tensor sum = at::zeros({}, weights_.front().options());
  for (std::size_t k = 0; k < weights_.size(); ++k)
    sum = sum + weights_[k].square().sum() * (penalties_[k] / static_cast<double>(weights_[k].size(0)));
  return sum;
}

ObjectiveValue Objective::at(torch::jit::Module& network, const at::Tensor& rows,
                             const at::Tensor& classes) const {
  const bool aligned = term_ != AlignmentTerm::none;
  const at::Tensor leaf = rows.detach().requires_grad_(aligned);
  const at::Tensor logits = network.forward({leaf}).toTensor();
  const at::Tensor loss = summed_loss(logits, classes);
  ObjectiveValue value;
  value.total = loss / rows.size(0);
  value.cross_entropy = value.total.item<double>();
  value.right = (logits.detach().argmax(1) == classes).sum().item<std::int64_t>();
  if (!weights_.empty()) {
    const at::Tensor added = penalty();
    value.penalty = added.item<double>();
    value.total = value.total + added;
  }
  if (aligned) {
    const at::Tensor terms = alignment_terms(term_, input_gradients(loss, leaf, /*to_learn=*/true), basis_);
    value.aligned = terms.size(0);
    if (value.aligned > 0) {
      const at::Tensor mean = terms.mean();
      value.alignment = mean.item<double>();
      value.total = value.total + alpha_ * mean;
    }
  }
  return value;
}

at::Tensor moved_rows(torch::jit::Module& network, const AdversarialTraining& how, const at::Tensor& rows,
                      const at::Tensor& classes, const at::Tensor& draws) {
  const double step = kStepShare * how.epsilon / static_cast<double>(how.steps);
  const auto bounded = [&](const at::Tensor& moved) {
    at::Tensor near = at::max(at::min(moved, rows + how.epsilon), rows - how.epsilon);
    if (how.lower) near = near.clamp_min(*how.lower);
    if (how.upper) near = near.clamp_max(*how.upper);
    return near;
  };
  at::Tensor moved = bounded(rows + how.epsilon * draws);
  for (std::size_t k = 0; k < how.steps; ++k) {
    const at::Tensor leaf = moved.detach().requires_grad_();
    const at::Tensor loss = summed_loss(network.forward({leaf}).toTensor(), classes);
    moved = bounded(leaf.detach() + step * input_gradients(loss, leaf, /*to_learn=*/false).sign());
  }
  return moved.detach();
}

}  // namespace harmonia
