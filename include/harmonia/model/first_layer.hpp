#pragma once

#include <cstddef>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// A model as rest(W·x + b): its first layer, whose sums are called units, and what it makes of them. Points
/// x + s·d of many rows x and few displacements d need no product of their own: their units are
/// (W·x + b) + s·(W·d). Safe to call from several threads.
class FirstLayer {
 public:
  virtual ~FirstLayer() = default;
  virtual std::size_t units() const = 0;
  /// Row i of out (rows × units) is W·x_i, and b more with `bias`, in double. Its bits do not depend on the
  /// rows beside it.
  virtual void project(MatrixView<const double> x, bool bias, MatrixView<double> out) const = 0;
  /// As Model::evaluate(), of rows × units in the model's type.
  virtual void answer(RowsView units, MutableRowsView y) const = 0;
};

}  // namespace harmonia
