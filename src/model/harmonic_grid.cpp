#include "harmonia/model/harmonic_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

// What the mean of four neighbours may differ from the node by, as a part of the largest boundary value.
constexpr double kTolerance = 1e-13;

double mean_of_neighbours(const double* node, std::size_t nx) {
  return 0.25 * ((node[-1] + node[1]) + (*(node - nx) + *(node + nx)));
}

// Moves each inner node `omega` times the way to the mean of its neighbours: first the black fields of the
// chessboard, then the red ones.
void sweep(Matrix<double>& values, double omega) {
  const std::size_t nx = values.columns(), ny = values.rows();
  for (std::size_t colour = 0; colour < 2; ++colour) {
    for (std::size_t j = 1; j + 1 < ny; ++j) {
      double* row = values.row(j);
      for (std::size_t i = 1 + (j + colour) % 2; i + 1 < nx; i += 2) {
        row[i] += omega * (mean_of_neighbours(row + i, nx) - row[i]);
      }
    }
  }
}

double largest_defect(const Matrix<double>& values) {
  const std::size_t nx = values.columns(), ny = values.rows();
  double largest = 0;
  for (std::size_t j = 1; j + 1 < ny; ++j) {
    const double* row = values.row(j);
    for (std::size_t i = 1; i + 1 < nx; ++i) {
      const double defect = std::abs(mean_of_neighbours(row + i, nx) - row[i]);
      if (std::isnan(defect)) return defect;
      largest = std::max(largest, defect);
    }
  }
  return largest;
}

// Over-relaxation at its best omega multiplies the error by omega − 1 a sweep [Young 1954], so that the
// number of sweeps is known beforehand.
void relax(Matrix<double>& values) {
  const auto cosine = [](std::size_t nodes) {
    return std::cos(std::numbers::pi / static_cast<double>(nodes - 1));
  };
  const double jacobi = (cosine(values.columns()) + cosine(values.rows())) / 2;
  const double omega = 2 / (1 + std::sqrt(1 - jacobi * jacobi));
  // 1e-20 is beyond rounding: at the best omega two eigenvalues meet, and the error is a while in falling.
  const int sweeps = 1 + static_cast<int>(std::ceil(std::log(1e-20) / std::log(omega - 1)));
  for (int k = 0; k < sweeps; ++k) sweep(values, omega);
  // Over-relaxation also magnifies rounding, from node to node; a few plain sweeps smooth that out.
  for (int k = 0; k < 4; ++k) sweep(values, 1);
}

}  // namespace

Matrix<double> harmonic_interpolant(const Grid& grid, const Matrix<double>& boundary) {
  check_grid(grid);
  if (boundary.rows() != grid.ny || boundary.columns() != grid.nx) {
    throw Error(ErrorCode::usage,
                fmt::format("the boundary values come as {} x {}; the grid has {} x {} nodes",
                            boundary.columns(), boundary.rows(), grid.nx, grid.ny));
  }
  double low = boundary.row(0)[0], high = low;
  for (std::size_t j = 0; j < grid.ny; ++j) {
    for (std::size_t i = 0; i < grid.nx; ++i) {
      if (!grid.on_edge(i, j)) continue;
      const double value = boundary.row(j)[i];
      if (!std::isfinite(value)) {
        throw Error(ErrorCode::input,
                    fmt::format("the boundary value at ({}, {}) is {}; expected a finite number", grid.x(i),
                                grid.y(j), value));
      }
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  Matrix<double> values = boundary;
  for (std::size_t j = 1; j + 1 < grid.ny; ++j) {
    std::fill_n(values.row(j) + 1, grid.nx - 2, low / 2 + high / 2);
  }
  relax(values);
  const double allowed = kTolerance * std::max(-low, high);
  const double defect = largest_defect(values);
  if (!(defect <= allowed)) {
    throw Error(
        ErrorCode::input,
        fmt::format("the relaxation on {} x {} nodes came to a defect of {:.3g}; expected at most {:.3g}",
                    grid.nx, grid.ny, defect, allowed));
  }
  return values;
}

Matrix<double> harmonic_interpolant(const Grid& grid, const std::function<double(double x, double y)>& f) {
  check_grid(grid);
  Matrix<double> boundary(grid.ny, grid.nx);
  for (std::size_t j = 0; j < grid.ny; ++j) {
    for (std::size_t i = 0; i < grid.nx; ++i) {
      if (grid.on_edge(i, j)) boundary.row(j)[i] = f(grid.x(i), grid.y(j));
    }
  }
  return harmonic_interpolant(grid, boundary);
}

}  // namespace harmonia
