#include "harmonia/model/grid_energy.hpp"

#include <cassert>

#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

// Weight of line k of n in a sum that stands for an integral across the lines (trapezoid rule).
double weight(std::size_t k, std::size_t n) { return k == 0 || k + 1 == n ? 0.5 : 1; }

double square(double x) { return x * x; }

}  // namespace

// In the plane the spacing cancels: squared differences over h², times a cell of h².
double dirichlet_energy(const Grid& grid, const Matrix<double>& values) {
  assert(values.rows() == grid.ny && values.columns() == grid.nx);
  CompensatedSum sum;
  for (std::size_t j = 0; j < grid.ny; ++j) {
    const double* row = values.row(j);
    for (std::size_t i = 0; i + 1 < grid.nx; ++i) sum.add(weight(j, grid.ny) * square(row[i + 1] - row[i]));
    if (j + 1 == grid.ny) break;
    const double* next = values.row(j + 1);
    for (std::size_t i = 0; i < grid.nx; ++i) sum.add(weight(i, grid.nx) * square(next[i] - row[i]));
  }
  return sum.value();
}

double laplacian_energy(const Grid& grid, const Matrix<double>& values) {
  assert(values.rows() == grid.ny && values.columns() == grid.nx);
  CompensatedSum sum;
  for (std::size_t j = 1; j + 1 < grid.ny; ++j) {
    const double *below = values.row(j - 1), *row = values.row(j), *above = values.row(j + 1);
    for (std::size_t i = 1; i + 1 < grid.nx; ++i) {
      sum.add(square((row[i - 1] + row[i + 1]) + (below[i] + above[i]) - 4 * row[i]));
    }
  }
  return sum.value() / square(grid.spacing);
}

// Second differences along an axis at the nodes, the mixed one in the middle of each cell.
double bending_energy(const Grid& grid, const Matrix<double>& values) {
  assert(values.rows() == grid.ny && values.columns() == grid.nx);
  CompensatedSum sum;
  for (std::size_t j = 0; j < grid.ny; ++j) {
    const double* row = values.row(j);
    for (std::size_t i = 1; i + 1 < grid.nx; ++i) {
      sum.add(weight(j, grid.ny) * square(row[i - 1] - 2 * row[i] + row[i + 1]));
    }
    if (j + 1 == grid.ny) break;
    const double* next = values.row(j + 1);
    for (std::size_t i = 0; i + 1 < grid.nx; ++i)
      sum.add(2 * square((next[i + 1] - next[i]) - (row[i + 1] - row[i])));
    if (j == 0) continue;
    const double* last = values.row(j - 1);
    for (std::size_t i = 0; i < grid.nx; ++i)
      sum.add(weight(i, grid.nx) * square(last[i] - 2 * row[i] + next[i]));
  }
  return sum.value() / square(grid.spacing);
}

}  // namespace harmonia
