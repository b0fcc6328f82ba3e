#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx_constants.hpp"

namespace harmonia {

/// scale · v + shift, number by number of a row; one number stands for all.
struct OnnxAffine {
  std::vector<double> scale{1}, shift{0};

  /// How many numbers a row has to have; 1: any.
  std::size_t width() const { return std::max(scale.size(), shift.size()); }
  double scale_at(std::size_t i) const { return scale.size() == 1 ? scale.front() : scale[i]; }
  double shift_at(std::size_t i) const { return shift.size() == 1 ? shift.front() : shift[i]; }
  bool identity() const { return width() == 1 && scale.front() == 1 && shift.front() == 0; }
  /// Makes it this one of what `inner` makes; false if the two are not of rows of one width.
  bool after(const OnnxAffine& inner);
};

/// What a node makes of `input` by constants of one type.
struct OnnxAffineNode {
  std::string_view input;
  OnnxAffine affine;
  OnnxType type = OnnxType::undefined;  ///< of the constants, and of what comes out
};

/// The node as one of these: Add, Sub, Mul and Div by a constant, BatchNormalization, Scaler. Nothing if it
/// is none. shape: of a row; empty: rows are flat, of a width that is not known.
std::optional<OnnxAffineNode> onnx_affine(const OnnxConstants& constants, const OnnxNode& node,
                                          const std::vector<std::int64_t>& shape);

}  // namespace harmonia
