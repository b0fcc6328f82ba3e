#include "harmonia/data/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/core/value_checks.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kQueries = 512;
constexpr double kScaleRatio = 10;         // of features' spreads that deserves a warning
constexpr double kRounding = 1e-15;        // of the largest spread, one that comes of rounding
constexpr std::size_t kScaleRows = 10000;  // that are looked at for it …
constexpr std::size_t kScaleNumbers = std::size_t{1} << 21;  // … and numbers in these, at most
constexpr std::size_t kFewRows = 30;                         // say too little about a spread
constexpr std::size_t kScaleInputs = 10000;

// Rows drawn by reservoir sampling, and the number of rows that were read.
struct Drawn {
  std::vector<std::size_t> numbers;
  std::vector<std::vector<double>> rows;
};

Drawn draw_rows(RowSource& data, std::uint64_t seed) {
  Drawn drawn;
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) {
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      const std::size_t number = block.number(i);
      const double* row = block.values.row(i);
      std::size_t place = drawn.rows.size();
      if (place < kQueries) {
        drawn.numbers.emplace_back();
        drawn.rows.emplace_back();
      } else {
        place = draw_below({.seed = seed, .stream = Stream::subsample, .row = number}, number + 1);
        if (place >= kQueries) continue;
      }
      drawn.numbers[place] = number;
      drawn.rows[place].assign(row, row + block.values.columns());
    }
  }
  data.rewind();
  return drawn;
}

// Rows to read at a time that are looked at once: the caches hold them.
std::size_t rows_together(std::size_t inputs) {
  return std::clamp<std::size_t>((std::size_t{1} << 19) / inputs, 1, rows_per_block(inputs));
}

// Of every column, what Moments and a minimum and a maximum come to, value by value. Columns lie in arrays,
// so that loops over them run in vectors.
class SpreadSums {
 public:
  void add(const MatrixView<const double>& rows) {
    count_.resize(rows.columns);
    mean_.resize(rows.columns);
    squares_.resize(rows.columns);
    least_.resize(rows.columns, std::numeric_limits<double>::infinity());
    largest_.resize(rows.columns, -std::numeric_limits<double>::infinity());
    for (std::size_t first = 0; first < rows.columns; first += kColumnsTogether) {
      const std::size_t columns = std::min(rows.columns - first, kColumnsTogether);
      for (std::size_t i = 0; i < rows.rows; ++i) {
        add(rows.row(i) + first, columns, &count_[first], &mean_[first], &squares_[first], &least_[first],
            &largest_[first]);
      }
    }
  }

  std::vector<ColumnSpread> spreads() const {
    std::vector<ColumnSpread> result(count_.size());
    for (std::size_t j = 0; j < result.size(); ++j) {
      if (count_[j] == 0) continue;
      result[j] = {.count = static_cast<std::size_t>(count_[j]),
                   .mean = mean_[j],
                   .variance = count_[j] < 2 ? 0 : squares_[j] / (count_[j] - 1),
                   .least = least_[j],
                   .largest = largest_[j]};
    }
    return result;
  }

 private:
  static constexpr std::size_t kColumnsTogether = 256;  // that a cache next to the processor holds

  // One value of each of so many columns. A value that is missing changes nothing.
  static void add(const double* x, std::size_t columns, double* __restrict count, double* __restrict mean,
                  double* __restrict squares, double* __restrict least, double* __restrict largest) {
    const bool whole = count_nan({x, columns}) == 0;
    const auto add_value = [&](std::size_t j) {
      const double value = x[j], n = count[j] + 1;
      const double step = value - mean[j], share = step / n;
      count[j] = n;
      mean[j] += share;
      squares[j] += step * share * (n - 1);
      least[j] = value < least[j] ? value : least[j];
      largest[j] = value > largest[j] ? value : largest[j];
    };
    if (whole) {
      for (std::size_t j = 0; j < columns; ++j) add_value(j);
    } else {
      for (std::size_t j = 0; j < columns; ++j)
        if (!std::isnan(x[j])) add_value(j);
    }
  }

  std::vector<double> count_, mean_, squares_, least_, largest_;
};

double squared_distance(const Schema& schema, const double* a, const double* b, std::size_t n, double bound) {
  double sum = 0;
  for (std::size_t j = 0; j < n && sum < bound; ++j) {
    const bool fixed = !schema.empty() && schema[j].fixed;
    if (fixed || std::isnan(a[j]) || std::isnan(b[j])) continue;
    const double step = (a[j] - b[j]) / (schema.empty() ? 1 : schema[j].scale);
    sum += step * step;
  }
  return sum;
}

}  // namespace

std::vector<ColumnSpread> column_spreads(RowSource& data, std::size_t most_rows) {
  SpreadSums sums;
  RowBlock block;
  data.rewind();
  for (std::size_t left = most_rows; left > 0; left -= block.values.rows()) {
    if (!data.read(block, std::min(left, rows_together(data.info().inputs)))) break;
    sums.add(std::as_const(block.values).view());
  }
  data.rewind();
  return sums.spreads();
}

void scale_features(Schema& schema, const std::string& scale, RowSource& data) {
  if (scale == "none") return;
  if (scale != "std" && scale != "range") {
    throw Error(ErrorCode::usage, fmt::format("scale '{}' is not known; expected none, std or range", scale));
  }
  const std::vector<ColumnSpread> spreads = column_spreads(data, kAllRows);
  for (std::size_t j = 0; j < schema.size() && j < spreads.size(); ++j) {
    const double spread = scale == "std" ? spreads[j].deviation() : spreads[j].largest - spreads[j].least;
    if (!schema[j].has_scale && spread > 0) schema[j].scale = spread;
  }
}

double automatic_radius(const Schema& schema, RowSource& data, std::uint64_t seed) {
  const Drawn drawn = draw_rows(data, seed);
  std::vector<double> nearest(drawn.rows.size(), std::numeric_limits<double>::infinity());
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) {
    for (std::size_t q = 0; q < drawn.rows.size(); ++q) {
      for (std::size_t i = 0; i < block.values.rows(); ++i) {
        if (block.number(i) == drawn.numbers[q]) continue;
        const double square = squared_distance(schema, drawn.rows[q].data(), block.values.row(i),
                                               block.values.columns(), nearest[q]);
        if (square > 0) nearest[q] = std::min(nearest[q], square);
      }
    }
  }
  data.rewind();
  std::erase_if(nearest, [](double square) { return !std::isfinite(square); });
  if (nearest.empty()) {
    throw Error(ErrorCode::input,
                fmt::format("radius auto: {} has no two rows at different places; give a radius",
                            data.info().source));
  }
  const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return 0.1 * std::sqrt(*middle);
}

double noise_scale(const Schema& schema, RowSource& data) {
  const std::vector<ColumnSpread> spreads = column_spreads(data, kAllRows);
  Moments squares;
  for (std::size_t j = 0; j < spreads.size(); ++j) {
    if (!schema.empty() && schema[j].fixed) continue;
    const double spread = spreads[j].deviation() / (schema.empty() ? 1 : schema[j].scale);
    squares.add(spread * spread);
  }
  const double scale = std::sqrt(squares.mean());
  return scale > 0 && std::isfinite(scale) ? scale : 1;
}

std::optional<std::string> scale_warning(RowSource& data) {
  if (data.info().inputs > kScaleInputs) return std::nullopt;
  double least = 0, largest = 0;
  std::size_t narrow = 0, wide = 0;
  const auto spreads = column_spreads(data, std::min(kScaleRows, kScaleNumbers / data.info().inputs));
  if (spreads.front().count < kFewRows) return std::nullopt;
  for (std::size_t j = 0; j < spreads.size(); ++j) {
    if (const double spread = spreads[j].deviation(); spread > largest) {
      largest = spread;
      wide = j;
    }
  }
  for (std::size_t j = 0; j < spreads.size(); ++j) {
    const double spread = spreads[j].deviation();
    if (spread > kRounding * largest && (least == 0 || spread < least)) {
      least = spread;
      narrow = j;
    }
  }
  if (least == 0 || largest <= kScaleRatio * least) return std::nullopt;
  return fmt::format(
      "feature {} spreads {:.3g} times as far as {}; --scale std measures the radius in each feature's own "
      "spread",
      feature_name(data.info(), wide), largest / least, feature_name(data.info(), narrow));
}

}  // namespace harmonia
