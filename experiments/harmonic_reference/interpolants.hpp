#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "harmonia/core/random.hpp"
#include "harmonia/model/grid_model.hpp"

/// Other ways to fill a rectangle from the values on its edge, to set beside the harmonic one. Each takes
/// node values (ny × nx), reads those on the edge, and returns them with the inside filled.
namespace harmonia::interpolants {

/// Calls fill(i, j) for every inner node and puts what it returns there.
template <class Fill>
Matrix<double> fill_inside(const Grid& grid, const Matrix<double>& boundary, Fill fill) {
  Matrix<double> values = boundary;
  for (std::size_t j = 1; j + 1 < grid.ny; ++j) {
    for (std::size_t i = 1; i + 1 < grid.nx; ++i) values.row(j)[i] = fill(i, j);
  }
  return values;
}

/// Blends the four sides linearly [Coons 1967].
inline Matrix<double> coons(const Grid& grid, const Matrix<double>& boundary) {
  const double* bottom = boundary.row(0);
  const double* top = boundary.row(grid.ny - 1);
  const std::size_t last = grid.nx - 1;
  return fill_inside(grid, boundary, [&](std::size_t i, std::size_t j) {
    const double u = static_cast<double>(i) / static_cast<double>(last);
    const double v = static_cast<double>(j) / static_cast<double>(grid.ny - 1);
    const double across = (1 - u) * boundary.row(j)[0] + u * boundary.row(j)[last];
    const double up = (1 - v) * bottom[i] + v * top[i];
    const double corners =
        (1 - v) * ((1 - u) * bottom[0] + u * bottom[last]) + v * ((1 - u) * top[0] + u * top[last]);
    return across + up - corners;
  });
}

/// The mean of the edge nodes, weighted by the inverse square of their distances [Shepard 1968].
/// It comes near: beside a long straight edge these weights are Poisson's kernel, and corners are where it
/// fails.
inline Matrix<double> shepard(const Grid& grid, const Matrix<double>& boundary) {
  return fill_inside(grid, boundary, [&](std::size_t i, std::size_t j) {
    double sum = 0, weights = 0;
    for (std::size_t l = 0; l < grid.ny; ++l) {
      for (std::size_t k = 0; k < grid.nx; ++k) {
        if (!grid.on_edge(k, l)) continue;
        const double dx = static_cast<double>(k) - static_cast<double>(i);
        const double dy = static_cast<double>(l) - static_cast<double>(j);
        const double weight = 1 / (dx * dx + dy * dy);
        sum += weight * boundary.row(l)[k];
        weights += weight;
      }
    }
    return sum / weights;
  });
}

/// The value of the nearest edge node.
inline Matrix<double> nearest(const Grid& grid, const Matrix<double>& boundary) {
  return fill_inside(grid, boundary, [&](std::size_t i, std::size_t j) {
    const std::size_t right = grid.nx - 1 - i, top = grid.ny - 1 - j;
    const std::size_t distance = std::min({i, j, right, top});
    if (distance == i) return boundary.row(j)[0];
    if (distance == j) return boundary.row(0)[i];
    return distance == right ? boundary.row(j)[grid.nx - 1] : boundary.row(grid.ny - 1)[i];
  });
}

/// `values` plus height · sin πu · sin πv, which is nought on the edge; (u, v) is the rectangle's unit
/// square.
inline Matrix<double> with_bump(const Grid& grid, const Matrix<double>& values, double height) {
  return fill_inside(grid, values, [&](std::size_t i, std::size_t j) {
    const double u = static_cast<double>(i) / static_cast<double>(grid.nx - 1);
    const double v = static_cast<double>(j) / static_cast<double>(grid.ny - 1);
    return values.row(j)[i] + height * std::sin(std::numbers::pi * u) * std::sin(std::numbers::pi * v);
  });
}

/// Nought on the edge, uniform in [−height, height) inside.
inline Matrix<double> noise(const Grid& grid, double height, std::uint64_t seed) {
  return fill_inside(grid, Matrix<double>(grid.ny, grid.nx), [&](std::size_t i, std::size_t j) {
    return height * (2 * draw_uniform({.seed = seed, .stream = Stream::uniform_data, .row = j}, i) - 1);
  });
}

/// Node by node.
inline Matrix<double> sum(const Grid& grid, const Matrix<double>& a, const Matrix<double>& b) {
  return fill_inside(grid, a, [&](std::size_t i, std::size_t j) { return a.row(j)[i] + b.row(j)[i]; });
}

}  // namespace harmonia::interpolants
