#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace harmonia {

/// Whether a model's answers could be probabilities: a user who forgot to say so measures something else.
class ProbabilityWatch {
 public:
  void look(std::span<const double> outputs) {
    ++rows_;
    double sum = 0;
    for (const double y : outputs) {
      between_ &= y >= 0 && y <= 1;
      sum += y;
    }
    between_ &= std::abs(sum - 1) < 1e-3;
  }
  bool suspicious() const { return rows_ > 0 && between_; }
  /// What to say then.
  static std::string warning(const std::string& model) {
    return fmt::format(
        "every answer of model {} lies between 0 and 1 and adds up to 1, and was taken for "
        "logits; if it is a probability, --outputs probabilities takes its logarithm",
        model);
  }

 private:
  std::size_t rows_ = 0;
  bool between_ = true;
};

}  // namespace harmonia
