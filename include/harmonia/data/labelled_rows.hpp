#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// A data set in memory, in single precision, with the class of every row.
struct LabelledRows {
  std::string source;
  Matrix<float> values;
  std::vector<std::int64_t> classes;  ///< one a row, from 0

  std::size_t rows() const { return values.rows(); }
};

/// The class that a row's label names. Throws Error(input), naming row and source, if it is no whole number
/// from 0.
std::int64_t class_number(const std::string& label, std::size_t row, const std::string& source);

/// A value of the data in single precision. Throws Error(input), naming row and column, if that is not
/// finite.
float single_precision(double value, std::size_t row, std::size_t column, const DataInfo& info);

/// Reads all rows. Throws Error(input) for rows without labels, labels that are no class numbers 0, 1, …,
/// numbers that are missing or not finite, and data without rows; Error(interrupted) if stopped.
LabelledRows read_labelled(RowSource& data, const std::stop_token& stop = {});

}  // namespace harmonia
