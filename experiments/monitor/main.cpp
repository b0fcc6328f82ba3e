// When the detectors of the monitor raise an alarm, in streams that are drawn from two pools of measured
// rows.
//   monitor USUAL.npy CHANGED.npy STREAMS.npy REFERENCE CHANGE RATE
// A pool has a row's features and, last, its gamma. A row of STREAMS.npy is a stream, of numbers of rows in
// the pools: the first REFERENCE make the baseline; the others come one after another, from CHANGED.npy after
// CHANGE of them. RATE is the probability of a false alarm in a stream. Prints CSV: the stream, how many rows
// had come when the alarm was raised (nothing: none was), the row since when there seems to be a change, what
// kind of change, and the region (nothing: all rows).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"
#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/detectors.hpp"

namespace harmonia {
namespace {

constexpr std::array kChangeNames{"larger", "smaller", "slow", "shape"};

Matrix<double> read_all(const std::string& path) {
  const auto data = open_data(path, {});
  std::vector<double> values;
  RowBlock block;
  while (data->read(block, rows_per_block(data->info().inputs))) {
    const auto view = block.values.view();
    values.insert(values.end(), view.data, view.data + view.rows * view.columns);
  }
  const std::size_t columns = data->info().inputs;
  Matrix<double> all(values.size() / columns, columns);
  std::copy(values.begin(), values.end(), all.view().data);
  return all;
}

/// Rows with their gamma, which comes last.
class Pool {
 public:
  explicit Pool(const std::string& path) : table_(read_all(path)) {}
  std::size_t features() const { return table_.columns() - 1; }
  std::span<const double> row(double number) const { return {entry(number), features()}; }
  double gamma(double number) const { return entry(number)[features()]; }

 private:
  const double* entry(double number) const { return table_.row(static_cast<std::size_t>(number)); }
  Matrix<double> table_;
};

Baseline baseline_of(const Pool& pool, std::span<const double> numbers, std::uint64_t seed) {
  Matrix<double> rows(numbers.size(), pool.features());
  std::vector<GammaRow> gamma(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::span<const double> row = pool.row(numbers[i]);
    std::copy(row.begin(), row.end(), rows.row(i));
    gamma[i].row = i;
    gamma[i].gamma = pool.gamma(numbers[i]);
  }
  std::vector<std::string> names;
  for (std::size_t j = 0; j < pool.features(); ++j) names.push_back(fmt::format("x{}", j));
  return make_baseline(rows.view(), gamma, names, {}, seed, {});
}

struct Plan {
  std::size_t reference = 0, change = 0;
  double rate = 0;
};

void watch(const Pool& usual, const Pool& changed, std::span<const double> numbers, const Plan& plan,
           std::size_t stream) {
  const std::uint64_t seed = stream + 1;
  const Baseline baseline = baseline_of(usual, numbers.first(plan.reference), seed);
  Detectors detectors(baseline, {.false_alarms = plan.rate, .seed = seed});
  const std::span<const double> rows = numbers.subspan(plan.reference);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Pool& pool = i < plan.change ? usual : changed;
    detectors.add(baseline.partition.region_of(pool.row(rows[i])), pool.gamma(rows[i]));
    const std::vector<Finding> alarms = detectors.alarms();
    if (alarms.empty()) continue;
    const Finding& surest = alarms.front();
    fmt::print("{},{},{},{},{}\n", stream, i + 1, surest.since,
               kChangeNames.at(static_cast<std::size_t>(surest.change)),
               surest.region ? std::to_string(*surest.region) : "");
    return;
  }
  fmt::print("{},,,,\n", stream);
}

double number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value) != std::from_chars_result{end, std::errc{}})
    throw std::invalid_argument(fmt::format("'{}'; expected a number", text));
  return value;
}

void study(std::span<char*> arguments) {
  if (arguments.size() != 7)
    throw std::invalid_argument("expected USUAL.npy CHANGED.npy STREAMS.npy REFERENCE CHANGE RATE");
  const Pool usual(arguments[1]), changed(arguments[2]);
  const Matrix<double> streams = read_all(arguments[3]);
  const Plan plan{static_cast<std::size_t>(number(arguments[4])),
                  static_cast<std::size_t>(number(arguments[5])), number(arguments[6])};
  fmt::print("stream,alarm,since,change,region\n");
  for (std::size_t stream = 0; stream < streams.rows(); ++stream)
    watch(usual, changed, {streams.row(stream), streams.columns()}, plan, stream);
}

}  // namespace
}  // namespace harmonia

int main(int argc, char** argv) try {
  harmonia::study({argv, static_cast<std::size_t>(argc)});
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "monitor: {}\n", error.what());
  return 2;
}
