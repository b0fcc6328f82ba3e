#pragma once

#include <functional>

#include "harmonia/model/grid_model.hpp"

namespace harmonia {

/// The harmonic interpolant of the values on the edge of `boundary` (ny × nx; what is inside is not read):
/// every inner node is the mean of its four neighbours, to within 1e-13 of the largest boundary value. It is
/// found by applying the mean value condition until it holds [Kersting 2024, appendix, section 1],
/// over-relaxed [Young 1954]: about 7n sweeps for n × n nodes. Throws Error(input) if a boundary value is not
/// finite, Error(usage) if the values do not fit the grid, or the grid fails check_grid().
Matrix<double> harmonic_interpolant(const Grid& grid, const Matrix<double>& boundary);

/// The same, with the boundary values f(x, y); f is called at the nodes of the edge alone.
Matrix<double> harmonic_interpolant(const Grid& grid, const std::function<double(double x, double y)>& f);

}  // namespace harmonia
