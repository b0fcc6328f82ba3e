#include "missing.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harmonia/core/error.hpp"

namespace harmonia {

void check_missing(const ModelInfo& model, std::span<const double> x, std::uint64_t number) {
  if (model.takes_missing) return;
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (!std::isnan(x[j])) continue;
    throw Error(ErrorCode::input,
                fmt::format("row {}, column {} is missing (NaN); model {} takes no missing values", number, j,
                            model.name));
  }
}

}  // namespace harmonia
