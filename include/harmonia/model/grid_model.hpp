#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// A rectangle of nodes in the plane: node (i, j) lies at (x0 + i · spacing, y0 + j · spacing).
struct Grid {
  std::size_t nx = 3;  ///< nodes along x
  std::size_t ny = 3;  ///< nodes along y
  double spacing = 1;  ///< between neighbours, along both axes
  double x0 = 0;       ///< of the lower left corner
  double y0 = 0;       ///< of the lower left corner

  double x(std::size_t i) const { return x0 + static_cast<double>(i) * spacing; }
  double y(std::size_t j) const { return y0 + static_cast<double>(j) * spacing; }
  /// Is node (i, j) on the edge of the rectangle?
  bool on_edge(std::size_t i, std::size_t j) const { return i == 0 || j == 0 || i + 1 == nx || j + 1 == ny; }
};

/// f at every node. The result is ny × nx: row j, column i is node (i, j), as for every matrix of node
/// values.
Matrix<double> sample(const Grid& grid, const std::function<double(double x, double y)>& f);

/// The model (x, y) -> value, bilinear between the nodes. A coordinate within 1e-6 spacings of a node's is
/// taken to be it, so that a node gives its own value, bit for bit. Outside the rectangle: Error(model).
/// values: ny × nx. Throws Error(usage) if they do not fit the grid, or the grid fails check_grid().
std::unique_ptr<Model> make_grid_model(const std::string& name, const Grid& grid, Matrix<double> values);

/// Throws Error(usage) unless the grid has at least 3 × 3 nodes, a positive spacing and finite coordinates.
void check_grid(const Grid& grid);

}  // namespace harmonia
