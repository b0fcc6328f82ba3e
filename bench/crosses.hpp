#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/measure/gamma.hpp"

/// gamma on whole cross-polytopes, as the benchmarks of network engines measure it and check it.
namespace harmonia::bench {

/// Rows of random floats: a model of that type sees these very rows.
inline Matrix<double> random_rows(std::size_t count, std::size_t inputs) {
  Matrix<double> rows(count, inputs);
  std::vector<float> row(inputs);
  for (std::size_t i = 0; i < count; ++i) {
    normals({.row = i}, row);
    std::copy(row.begin(), row.end(), rows.row(i));
  }
  return rows;
}

/// gamma of output 0 on the whole cross.
inline GammaOptions cross_options(double radius) {
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = radius;
  options.output = parse_output("column:0");
  return options;
}

/// The rows and the points of their cross, in the order row, +1, −1, +2, −2, ….
inline Matrix<float> cross_points(const Matrix<double>& rows, double radius) {
  const std::size_t n = rows.columns(), each = 1 + 2 * n;
  Matrix<float> points(rows.rows() * each, n);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t p = 0; p < each; ++p) {
      float* const point = points.row(i * each + p);
      std::copy_n(rows.row(i), n, point);
      if (p == 0) continue;
      const std::size_t j = (p - 1) / 2;
      point[j] = static_cast<float>(rows.row(i)[j] + (p % 2 == 1 ? radius : -radius));
    }
  }
  return points;
}

/// Ends the benchmark if a gamma is not that of the engine's own answers for cross_points().
inline void check_crosses(const GammaResult& result, const Matrix<float>& answers, const std::string& name) {
  const std::size_t each = answers.rows() / result.rows.size();
  for (const GammaRow& row : result.rows) {
    double sum = 0;
    const std::size_t first = row.row * each;
    for (std::size_t p = 1; p < each; ++p) sum += static_cast<double>(*answers.row(first + p));
    const double expected =
        std::abs(sum / static_cast<double>(each - 1) - static_cast<double>(*answers.row(first)));
    require(row.gamma && std::abs(*row.gamma - expected) < 1e-5 * (1 + std::abs(expected)),
            fmt::format("{}, row {}: gamma {}, from the engine's answers {}", name, row.row,
                        row.gamma.value_or(NAN), expected));
  }
}

}  // namespace harmonia::bench
