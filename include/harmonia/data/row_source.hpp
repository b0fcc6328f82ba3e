#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Consecutive rows of a data set, with what is carried to the result and never fed to the model.
struct RowBlock {
  std::size_t first = 0;            ///< number of the first row in the data set, from 0
  Matrix<double> values;            ///< rows × features; NaN is a missing value
  std::vector<std::string> ids;     ///< one a row, or empty
  std::vector<std::string> labels;  ///< one a row, or empty
};

/// What is known of a data set before it is read.
struct DataInfo {
  std::string source;                 ///< as the user wrote it
  std::size_t inputs = 0;             ///< columns that the model sees
  std::vector<std::string> features;  ///< their names; empty: x0, x1, …
  std::optional<std::size_t> rows;    ///< if known without reading it
  std::vector<double> spacing{};      ///< of a regular grid, one a feature; empty: the rows are no grid
};

/// The name of a column that the model sees.
std::string feature_name(const DataInfo& info, std::size_t column);

/// All their names, made up where the data has none.
std::vector<std::string> feature_names(const DataInfo& info);

/// Rows to read at a time, so that a block stays under some 32 MiB.
std::size_t rows_per_block(std::size_t inputs);

/// Rows in order, a block at a time, so that data may be larger than memory.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual const DataInfo& info() const = 0;
  /// Puts up to `limit` further rows into `block`; false when there are none left.
  /// Throws Error(input) naming line and column for what is no number.
  virtual bool read(RowBlock& block, std::size_t limit) = 0;
  /// Starts again from the first row.
  virtual void rewind() = 0;
};

/// What to take of a data file, and how to make data that is not in a file.
struct DataOptions {
  std::vector<std::string> columns{};  ///< names or numbers from 0 of the features, in this order; empty: all
  std::vector<std::string> drop{};     ///< names or numbers of columns to leave out
  std::string id{};                    ///< column carried as the row's id; empty: none
  std::string label{};                 ///< column carried as the row's label; empty: none
  std::size_t inputs = 0;              ///< width of generated data (uniform:N); 0: 2
  std::uint64_t seed = 1;              ///< of generated data
};

/// Opens the data set that SPEC#ROW is a row of; without #ROW the same as open_data.
std::unique_ptr<RowSource> open_whole_data(const std::string& spec, const DataOptions& options);

/// Opens rows.csv, rows.npy, grid:0..5x101,1..4x61, uniform:1000, or one row of any of them as SPEC#ROW.
std::unique_ptr<RowSource> open_data(const std::string& spec, const DataOptions& options);

}  // namespace harmonia
