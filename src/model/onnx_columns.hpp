#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx_affine.hpp"
#include "onnx_plan.hpp"

namespace harmonia {

/// A number of a value: scale · feature + shift.
struct OnnxColumn {
  std::size_t feature = 0;
  double scale = 1, shift = 0;
};

/// A value whose numbers are features, each alone, scaled and shifted.
struct OnnxColumns {
  std::vector<OnnxColumn> columns;
  std::vector<std::int64_t> shape;  ///< of a row
  OnnxType type = OnnxType::undefined;
};

/// The value as such: what copies, casts, scalers, normalisations, choices and orders of columns make of the
/// input. Nothing if it is anything else. Constants are of its type, and casts come first.
std::optional<OnnxColumns> onnx_columns(const OnnxGraph& graph, const OnnxPlan& plan,
                                        const OnnxConstants& constants, std::string_view value);

/// Whether a Reshape to that shape leaves every row of a batch (−1: of any size) a row.
bool onnx_keeps_rows(const std::vector<double>& shape, std::int64_t batch);

}  // namespace harmonia
