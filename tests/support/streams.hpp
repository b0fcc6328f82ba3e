#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/core/random.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/row_stream.hpp"
#include "support/functions.hpp"

namespace harmonia::test {

/// Two features; gamma of a row at radius r on the cross is |mean of ½ s (x ± r)² − ½ s x²| = r² s / 4 with a
/// slope s that depends on the first feature alone: 1 + x0.
inline RowFunction curved_model() {
  return {2, [](const double* x) { return 0.5 * (1 + x[0]) * x[1] * x[1]; }};
}

/// A row of a stream: both features uniform on [0, 1), the first one moved by `shift`. Depends on seed and
/// number alone.
inline std::vector<double> drawn_row(std::uint64_t seed, std::uint64_t number, double shift = 0) {
  const DrawKey key{seed, Stream::uniform_data, number, 0};
  return {draw_uniform(key, 0) + shift, draw_uniform(key, 1)};
}

/// How gamma is measured in these tests.
inline GammaOptions cross_options() {
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = 0.1;
  options.output = parse_output("column:0");
  return options;
}

/// A baseline of so many drawn rows.
inline Baseline curved_baseline(std::size_t rows, std::uint64_t seed) {
  Matrix<double> x(rows, 2);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::vector<double> row = drawn_row(seed, i);
    x.row(i)[0] = row[0];
    x.row(i)[1] = row[1];
  }
  const RowFunction model = curved_model();
  Run run;
  const GammaResult result = gamma(model, x.view(), cross_options(), run);
  return make_baseline(x.view(), result.rows, {"slope", "place"}, cross_options(), seed, {});
}

/// Rows [first, next) of a stream whose first feature is moved by `shift` from row `from` to row `to`.
inline StreamBatch drawn_batch(std::uint64_t seed, std::uint64_t first, std::uint64_t next, double shift = 0,
                               std::uint64_t from = 0, std::uint64_t to = ~std::uint64_t{0}) {
  StreamBatch batch;
  batch.first = first;
  batch.next = next;
  batch.time = 1.0e9 + static_cast<double>(first);
  batch.rows.reset(first, next - first, 2);
  for (std::uint64_t i = first; i < next; ++i) {
    const std::vector<double> row = drawn_row(seed, i, i >= from && i < to ? shift : 0);
    batch.rows.values.row(i - first)[0] = row[0];
    batch.rows.values.row(i - first)[1] = row[1];
  }
  return batch;
}

}  // namespace harmonia::test
