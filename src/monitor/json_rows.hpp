#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harmonia/monitor/row_reader.hpp"

namespace harmonia {

/// The longest id of a row, in bytes.
constexpr std::size_t kLongestId = 256;

/// Where a row's values are, by name.
class RowColumns {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  RowColumns(std::vector<std::string> features, std::string id);
  const std::vector<std::string>& features() const { return features_; }
  /// The number of the feature, features().size() for the id, kNone for any other name. `hint`: where it may
  /// be.
  std::size_t find(const std::string& name, std::size_t hint) const;

 private:
  std::vector<std::string> features_;
  std::string id_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Reads a text that is one row. What is no row has a reason.
void read_json_row(const RowColumns& columns, std::string_view text, ReadRow& row);

/// Whether the text begins with an object that has a list under "rows".
bool is_json_body(std::string_view text);

/// Reads {"rows": [row, …], "ids": [id, …]}: `take` is given every row, and what stands in a row's place.
/// Returns the ids. Throws Error(input) that names `name` for what is not of this form.
std::vector<std::string> read_json_body(const RowColumns& columns, const std::string& name,
                                        std::string_view text, const std::function<void(ReadRow&)>& take);

}  // namespace harmonia
