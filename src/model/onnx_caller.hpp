#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "onnx_session.hpp"

namespace harmonia {

/// Asks a loaded graph about rows. A graph of a fixed batch is called with that many, the last call filled up
/// with copies of its last row; answers of any type of numbers become doubles.
struct OnnxCaller {
  std::unique_ptr<OnnxSession> session;
  std::string input, output;               ///< names of values
  std::vector<std::int64_t> input_shape;   ///< its first, the batch, is −1 if it is free
  OnnxType type = OnnxType::undefined;     ///< of the output
  std::vector<std::int64_t> answer_shape;  ///< of the output, after the rows
  std::size_t outputs = 0;                 ///< the product of these

  /// Rows of every call; 0: any.
  std::size_t fixed_batch() const {
    return input_shape.front() > 0 ? static_cast<std::size_t>(input_shape.front()) : 0;
  }
  /// As Model::evaluate().
  void evaluate(RowsView x, MutableRowsView y) const;
  /// The shape of the answer to rows of zeros. Throws Error(model).
  std::vector<std::int64_t> shape_of_zeros(std::size_t rows, Scalar scalar) const;
};

}  // namespace harmonia
