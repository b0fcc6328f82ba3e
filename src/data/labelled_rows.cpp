#include "harmonia/data/labelled_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

constexpr double kMostClasses = 1 << 20;

}  // namespace

float single_precision(double value, std::size_t row, std::size_t column, const DataInfo& info) {
  const auto number = static_cast<float>(value);
  if (std::isfinite(number)) return number;
  throw Error(ErrorCode::input, fmt::format("row {} of {} has {} in column {}; expected a finite number", row,
                                            info.source, value, feature_name(info, column)));
}

std::int64_t class_number(const std::string& label, std::size_t row, const std::string& source) {
  const std::optional<double> number = read_number(label);
  if (number && *number >= 0 && *number < kMostClasses && *number == std::floor(*number))
    return static_cast<std::int64_t>(*number);
  throw Error(ErrorCode::input,
              fmt::format("row {} of {} has the label {}; expected the number of its class, 0, 1, …", row,
                          source, in_quotes(label)));
}

LabelledRows read_labelled(RowSource& data, const std::stop_token& stop) {
  const DataInfo& info = data.info();
  std::vector<float> values;
  LabelledRows all{.source = info.source, .values = {}, .classes = {}};
  RowBlock block;
  while (data.read(block, rows_per_block(info.inputs))) {
    if (stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped while the rows were read");
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      if (block.labels.empty()) {
        throw Error(
            ErrorCode::input,
            fmt::format("{} has no labels; name their column with --label, or their file with --labels",
                        info.source));
      }
      all.classes.push_back(class_number(block.labels[i], block.number(i), info.source));
      for (std::size_t j = 0; j < info.inputs; ++j)
        values.push_back(single_precision(block.values.row(i)[j], block.number(i), j, info));
    }
  }
  if (all.classes.empty()) throw Error(ErrorCode::input, fmt::format("{} has no rows", info.source));
  all.values.resize(all.classes.size(), info.inputs);
  std::copy(values.begin(), values.end(), all.values.row(0));
  return all;
}

}  // namespace harmonia
