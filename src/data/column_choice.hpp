#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// The most columns that a data set may have: far above any real one, so that a broken file is told from a
/// wide one before memory runs out.
inline constexpr std::size_t kColumnLimit = std::size_t{1} << 24;

/// What becomes of the columns of a file.
struct ColumnChoice {
  std::vector<std::size_t> features;  ///< columns that the model sees, in its order
  std::optional<std::size_t> id;
  std::optional<std::size_t> label;
  std::optional<std::size_t> segment;
};

/// Finds the columns that the options ask for among `names`, first by name and then by number. Throws
/// Error(usage) for one that is not there, is ambiguous or has two uses.
ColumnChoice choose_columns(const std::string& source, const std::vector<std::string>& names,
                            const DataOptions& options);

/// Whether `text` is written as a column number.
bool is_column_number(const std::string& text);

/// x0, x1, …: the names of columns that have none.
std::vector<std::string> numbered_names(std::size_t count);

/// The first few names, for a message.
std::string list_names(const std::vector<std::string>& names);

}  // namespace harmonia
