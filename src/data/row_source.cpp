#include "harmonia/data/row_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace harmonia {

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
