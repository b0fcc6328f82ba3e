#pragma once

#include <torch/script.h>

#include <optional>
#include <vector>

#include "harmonia/model/training.hpp"

namespace harmonia {

/// What a training makes small, of some rows: total is the mean over them, with its graph.
struct ObjectiveValue {
  at::Tensor total;
  double cross_entropy = 0, penalty = 0;
  std::optional<double> alignment;  ///< none if no row has a direction
  std::int64_t aligned = 0;         ///< rows that have one
  std::int64_t right = 0;           ///< rows whose class the network names
};

/// The term of each row's gradient, rows × inputs, against a plane of orthonormal rows; a gradient that is
/// zero, or has no part along the plane, has no term, and is left out.
at::Tensor alignment_terms(AlignmentTerm term, const at::Tensor& gradients, const at::Tensor& basis);

/// Cross-entropy, the weights' penalty, and the alignment of gradients.
class Objective {
 public:
  /// `basis`: orthonormal rows of the plane, for the alignment term.
  Objective(const TrainingOptions& options, const torch::jit::Module& network, at::Tensor basis);

  /// Of rows and their classes.
  ObjectiveValue at(torch::jit::Module& network, const at::Tensor& rows, const at::Tensor& classes) const;

 private:
  at::Tensor penalty() const;

  AlignmentTerm term_;
  double alpha_;
  std::vector<double> penalties_;
  std::vector<at::Tensor> weights_;
  at::Tensor basis_;
};

/// The rows moved to where the cross-entropy of their classes is larger. `draws` in [−1, 1] say where each
/// value starts.
at::Tensor moved_rows(torch::jit::Module& network, const AdversarialTraining& how, const at::Tensor& rows,
                      const at::Tensor& classes, const at::Tensor& draws);

}  // namespace harmonia
