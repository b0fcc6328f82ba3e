#include "harmonia/model/grid_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

// Part of a spacing that rounding may move a coordinate by.
constexpr double kSnap = 1e-6;

// A coordinate in the grid: node `index`, and the part of the way to the next one.
struct Place {
  std::size_t index = 0;
  double part = 0;
};

// `steps` is counted in spacings from node 0; nothing if it is not between the first node and the last.
std::optional<Place> locate(double steps, std::size_t nodes) {
  const double last = static_cast<double>(nodes - 1);
  if (!(steps >= -kSnap && steps <= last + kSnap)) return std::nullopt;
  const double nearest = std::round(steps);
  if (std::abs(steps - nearest) <= kSnap) return Place{static_cast<std::size_t>(nearest), 0};
  const double below = std::floor(steps);
  return Place{static_cast<std::size_t>(below), steps - below};
}

class GridModel final : public Model {
 public:
  GridModel(const std::string& name, const Grid& grid, Matrix<double> values)
      : grid_(grid), values_(std::move(values)) {
    info_.name = name;
    info_.kind = "grid";
    info_.inputs = 2;
    info_.outputs = 1;
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t row = 0; row < rows.rows; ++row) *y.row(row) = value(rows.row(row)[0], rows.row(row)[1]);
  }

 private:
  double value(double x, double y) const {
    const auto i = locate((x - grid_.x0) / grid_.spacing, grid_.nx);
    const auto j = locate((y - grid_.y0) / grid_.spacing, grid_.ny);
    if (!i || !j) {
      throw Error(ErrorCode::model,
                  fmt::format("{} was asked at ({}, {}); it covers [{}, {}] x [{}, {}]", info_.name, x, y,
                              grid_.x0, grid_.x(grid_.nx - 1), grid_.y0, grid_.y(grid_.ny - 1)));
    }
    const double low = along(*i, j->index);
    if (j->part == 0) return low;
    return (1 - j->part) * low + j->part * along(*i, j->index + 1);
  }

  double along(const Place& i, std::size_t j) const {
    const double* row = values_.row(j) + i.index;
    return i.part == 0 ? row[0] : (1 - i.part) * row[0] + i.part * row[1];
  }

  ModelInfo info_;
  Grid grid_;
  Matrix<double> values_;
};

}  // namespace

void check_grid(const Grid& grid) {
  if (grid.nx < 3 || grid.ny < 3) {
    throw Error(ErrorCode::usage,
                fmt::format("the grid has {} x {} nodes; at least 3 x 3 are needed", grid.nx, grid.ny));
  }
  if (!(grid.spacing > 0) || !std::isfinite(grid.spacing)) {
    throw Error(ErrorCode::usage,
                fmt::format("the grid's spacing is {}; expected a positive number", grid.spacing));
  }
  if (!std::isfinite(grid.x(grid.nx - 1)) || !std::isfinite(grid.y(grid.ny - 1))) {
    throw Error(ErrorCode::usage,
                fmt::format("the grid starts at ({}, {}) and has spacing {}; expected finite nodes", grid.x0,
                            grid.y0, grid.spacing));
  }
}

Matrix<double> sample(const Grid& grid, const std::function<double(double x, double y)>& f) {
  check_grid(grid);
  Matrix<double> values(grid.ny, grid.nx);
  for (std::size_t j = 0; j < grid.ny; ++j) {
    for (std::size_t i = 0; i < grid.nx; ++i) values.row(j)[i] = f(grid.x(i), grid.y(j));
  }
  return values;
}

std::unique_ptr<Model> make_grid_model(const std::string& name, const Grid& grid, Matrix<double> values) {
  check_grid(grid);
  if (values.rows() != grid.ny || values.columns() != grid.nx) {
    throw Error(ErrorCode::usage, fmt::format("{} has {} x {} values; its grid has {} x {} nodes", name,
                                              values.columns(), values.rows(), grid.nx, grid.ny));
  }
  return std::make_unique<GridModel>(name, grid, std::move(values));
}

}  // namespace harmonia
