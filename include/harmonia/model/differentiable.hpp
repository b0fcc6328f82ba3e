#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// What some models can do besides answering: the gradient, by their inputs, of a number that is made of
/// their outputs.
class Differentiable {
 public:
  /// Writes the derivative of the number of row i by each of that row's outputs.
  using ByOutputs =
      std::function<void(std::size_t i, std::span<const double> outputs, std::span<double> out)>;

  virtual ~Differentiable() = default;
  /// y is what evaluate() answers for x; row i of `gradients` (rows × inputs) is the gradient of row i's
  /// number by its inputs. `by_outputs` is called once for every row, on the calling thread. As evaluate():
  /// throws Error(model) when there is no answer, safe to call from several threads if the model is
  /// reentrant.
  virtual void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                        MutableRowsView gradients) const = 0;
};

}  // namespace harmonia
