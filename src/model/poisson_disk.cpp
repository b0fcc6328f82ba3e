#include "harmonia/model/poisson_disk.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"

namespace harmonia {
namespace {

// A point this close to the circle is on it.
constexpr double kOnCircle = 1e-12;

class PoissonDisk final : public Model {
 public:
  PoissonDisk(const std::string& name, const std::function<double(double)>& boundary, std::size_t count)
      : boundary_(boundary), reach_(std::exp2(-53 / static_cast<double>(count))) {
    info_.name = name;
    info_.kind = "disk";
    info_.inputs = 2;
    info_.outputs = 1;
    points_.reserve(count);
    for (std::size_t k = 0; k < count; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(count);
      const double value = boundary(angle);
      if (!std::isfinite(value)) {
        throw Error(
            ErrorCode::input,
            fmt::format("the boundary value at angle {} is {}; expected a finite number", angle, value));
      }
      points_.push_back({std::cos(angle), std::sin(angle), value});
    }
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t row = 0; row < rows.rows; ++row) *y.row(row) = value(rows.row(row)[0], rows.row(row)[1]);
  }

 private:
  struct BoundaryPoint {
    double x, y, value;
  };

  double value(double x, double y) const {
    const double modulus = std::hypot(x, y);
    if (std::abs(modulus - 1) <= kOnCircle) return boundary_(std::atan2(y, x));
    if (!(modulus <= reach_)) {
      throw Error(ErrorCode::model,
                  fmt::format("{} was asked at ({}, {}), |z| = {}; with {} boundary values it answers "
                              "for |z| <= {:.4f} and |z| = 1",
                              info_.name, x, y, modulus, points_.size(), reach_));
    }
    // |1 − z e^(−iψ)| is the distance from z to the boundary point. All weights are positive: nothing
    // cancels.
    CompensatedSum sum;
    for (const BoundaryPoint& p : points_) {
      const double dx = x - p.x, dy = y - p.y;
      sum.add(p.value / (dx * dx + dy * dy));
    }
    return (1 - modulus) * (1 + modulus) * sum.value() / static_cast<double>(points_.size());
  }

  ModelInfo info_;
  std::function<double(double)> boundary_;
  double reach_;
  std::vector<BoundaryPoint> points_;
};

}  // namespace

std::unique_ptr<Model> make_poisson_disk(const std::string& name,
                                         const std::function<double(double)>& boundary, std::size_t count) {
  if (count < 3) {
    throw Error(ErrorCode::usage,
                fmt::format("{} has {} boundary values; at least 3 are needed", name, count));
  }
  return std::make_unique<PoissonDisk>(name, boundary, count);
}

}  // namespace harmonia
