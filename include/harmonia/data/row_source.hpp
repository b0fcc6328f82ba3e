#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/image.hpp"

namespace harmonia {

/// Rows of a data set in their order, with what is carried to the result and never fed to the model.
struct RowBlock {
  std::size_t first = 0;                ///< number of the first row in the data set, from 0
  Matrix<double> values;                ///< rows × features; NaN is a missing value
  std::vector<std::string> ids{};       ///< one a row, or empty
  std::vector<std::string> labels{};    ///< one a row, or empty
  std::vector<std::string> segments{};  ///< one a row, or empty
  std::vector<std::size_t> numbers{};   ///< of the rows, ascending; empty: first, first + 1, …

  /// The number of row i in the data set.
  std::size_t number(std::size_t i) const { return numbers.empty() ? first + i : numbers[i]; }
  /// The place in the block of the row with this number, which must be in it.
  std::size_t place(std::size_t number) const;
  /// Room for `rows` rows of `columns` features; nothing is carried.
  void reset(std::size_t first_row, std::size_t rows, std::size_t columns);
  /// Keeps the rows at these places, which ascend.
  void keep(const std::vector<std::size_t>& places);
};

/// What is known of a data set before it is read.
struct DataInfo {
  std::string source;                  ///< as the user wrote it
  std::size_t inputs = 0;              ///< columns that the model sees
  std::vector<std::string> features;   ///< their names; empty: x0, x1, …
  std::optional<std::size_t> rows;     ///< if known without reading it
  std::vector<double> spacing{};       ///< of a regular grid, one a feature; empty: the rows are no grid
  bool jittered = false;               ///< the rows are a grid's, each moved within its cell
  std::vector<std::string> regions{};  ///< as asked; the rows are those in all of them
  std::string window{};                ///< as asked; empty: all rows
  std::string by{};                    ///< the column that segments are taken from; empty: none
  ImageShape image{};                  ///< of rows that are images, their values from 0 to 255
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
  std::string by{};                    ///< column carried as the row's segment; empty: none
  std::vector<std::string> regions{};  ///< only rows in all of these; see open_region
  std::string window{};                ///< only rows FIRST..LAST, by number from 0, both included
  bool jitter = false;                 ///< move every point of a grid within its cell
  std::size_t inputs = 0;              ///< width of generated data (uniform:N); 0: 2
  std::uint64_t seed = 1;              ///< of generated data
  ImageShape
      image{};  ///< what images are brought to; sizes of 0: as the file has them, channels of 0: its own
  ImageFit fit = ImageFit::crop;  ///< how they come to it
  std::size_t resize = 0;         ///< see fitted()
  std::string labels{};  ///< file of the images' labels; empty: the folders that they are in, or none
};

/// Opens the data set that SPEC#ROW is a row of, all rows of it, whatever windows and regions say.
std::unique_ptr<RowSource> open_whole_data(const std::string& spec, const DataOptions& options);

/// Opens rows.csv, rows.npy, grid:0..5x101,1..4x61, uniform:1000, images (a folder, FILE.png, FILE.jpg, or
/// MNIST's images-idx3-ubyte), or one row of any of them as SPEC#ROW. Rows
/// outside of the window and the regions are left out; the others keep their numbers, so that what is drawn
/// for them does not depend on what is left out.
std::unique_ptr<RowSource> open_data(const std::string& spec, const DataOptions& options);

}  // namespace harmonia
