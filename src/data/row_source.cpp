#include "harmonia/data/row_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace harmonia {

std::size_t RowBlock::place(std::size_t number) const {
  if (numbers.empty()) return number - first;
  return static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
}

void RowBlock::reset(std::size_t first_row, std::size_t rows, std::size_t columns) {
  first = first_row;
  values.resize(rows, columns);
  ids.clear();
  labels.clear();
  segments.clear();
  numbers.clear();
}

void RowBlock::keep(const std::vector<std::size_t>& places) {
  std::vector<std::size_t> kept;
  kept.reserve(places.size());
  for (const std::size_t i : places) kept.push_back(number(i));
  Matrix<double> rows(places.size(), values.columns());
  for (std::size_t k = 0; k < places.size(); ++k)
    std::copy_n(values.row(places[k]), values.columns(), rows.row(k));
  for (std::vector<std::string>* texts : {&ids, &labels, &segments}) {
    if (texts->empty()) continue;
    for (std::size_t k = 0; k < places.size(); ++k) std::swap((*texts)[k], (*texts)[places[k]]);
    texts->resize(places.size());
  }
  first = kept.empty() ? first : kept.front();
  values = std::move(rows);
  numbers = std::move(kept);
}

std::string feature_name(const DataInfo& info, std::size_t column) {
  return info.features.empty() ? fmt::format("x{}", column) : info.features[column];
}

std::vector<std::string> feature_names(const DataInfo& info) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < info.inputs; ++j) names.push_back(feature_name(info, j));
  return names;
}

std::size_t rows_per_block(std::size_t inputs) {
  return std::clamp<std::size_t>((std::size_t{4} << 20) / std::max<std::size_t>(inputs, 1), 1, 65536);
}

}  // namespace harmonia
