#include "dense_points.hpp"

#include <algorithm>
#include <cmath>

namespace harmonia {
namespace {

// By this much of a step may rounding move a point that is still counted by its nominal step.
constexpr double kMostRounding = 1e-4;

double as_float(double coordinate) { return static_cast<double>(static_cast<float>(coordinate)); }

class PointMaker {
 public:
  PointMaker(const RowBall& ball, const std::vector<std::uint32_t>& moved, const std::vector<double>& scales)
      : ball_(ball), moved_(moved), scales_(scales) {}

  DensePoints make() {
    const std::size_t n = ball_.x().size(), each = ball_.shape().points();
    points_.x.resize(n);
    std::transform(ball_.x().begin(), ball_.x().end(), points_.x.begin(), as_float);
    points_.total.assign(n, 0.0);
    points_.first.assign(1, 0);
    const std::uint64_t units = ball_.shape().units;
    const BallKind kind = ball_.ball().options().kind;
    const std::size_t alike = kind == BallKind::one_hot ? 2 : 1;  // units of one feature
    const bool cross = kind == BallKind::cross || kind == BallKind::one_hot;
    points_.step.reserve(units * each);
    points_.base.reserve(units * each);
    points_.weight.reserve(units * each);
    if (!cross) points_.shifts.resize(2 * each, n);
    for (std::uint64_t unit = 0; unit < units; ++unit) {
      for (std::size_t p = 0; p < each; ++p) add(ball_.place(unit, p), p, each, cross);
      if (unit / alike < moved_.size() && unit % alike == alike - 1)
        points_.first.push_back(static_cast<std::uint32_t>(points_.step.size()));
    }
    for (std::size_t b = 0; b < points_.shifts.rows(); ++b) {
      for (std::size_t j = 0; j < n; ++j) points_.total[j] += base_weights_[b] * points_.shifts.row(b)[j];
    }
    if (cross) find_spheres(each);
    return std::move(points_);
  }

 private:
  void add(const RowBall::Place& place, std::size_t p, std::size_t each, bool cross) {
    const bool own = place.own != RowBall::Place::kNone;
    const double weight = ball_.weight(p);
    const std::size_t base = cross ? 0 : 1 + (own ? p : each + p);
    double step = 0;
    if (own) {
      step = as_float(ball_.own_coordinate(place)) - as_float(ball_.base_coordinate(place, place.own));
      points_.total[place.own] += weight * step;
      const std::size_t k = points_.first.size() - 1;
      points_.longest = std::max(points_.longest, std::abs(step) / scale(k));
    }
    if (base > 0) add_base(place, base - 1, weight);
    points_.base.push_back(static_cast<std::uint32_t>(base));
    points_.step.push_back(step);
    points_.weight.push_back(weight);
  }

  void add_base(const RowBall::Place& place, std::size_t base, double weight) {
    if (base_weights_.size() < points_.shifts.rows()) base_weights_.resize(points_.shifts.rows());
    if (base_weights_[base] == 0) {
      double* const shift = points_.shifts.row(base);
      for (std::size_t j = 0; j < points_.x.size(); ++j)
        shift[j] = as_float(ball_.base_coordinate(place, j)) - points_.x[j];
    }
    base_weights_[base] += weight;
  }

  double scale(std::size_t k) const { return scales_.empty() ? 1 : scales_[k]; }

  // A cross has two points a feature and sphere: of a unit's own, or of two units.
  void find_spheres(std::size_t each) {
    const bool paired = ball_.shape().paired;
    for (std::size_t p = 0; p < each; p += paired ? 2 : 1)
      points_.spheres.push_back({ball_.place(0, p).radius, ball_.weight(p)});
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      for (std::size_t i = points_.first[k]; i < points_.first[k + 1]; ++i) {
        const std::size_t p = (i - points_.first[k]) % each;
        const double nominal = points_.spheres[paired ? p / 2 : p].stride * scale(k);
        if (std::abs(std::abs(points_.step[i]) - nominal) > kMostRounding * nominal) {
          points_.spheres.clear();
          return;
        }
      }
    }
  }

  const RowBall& ball_;
  const std::vector<std::uint32_t>& moved_;
  const std::vector<double>& scales_;
  std::vector<double> base_weights_;
  DensePoints points_;
};

}  // namespace

DensePoints dense_points(const RowBall& ball, const std::vector<std::uint32_t>& moved,
                         const std::vector<double>& scales) {
  return PointMaker(ball, moved, scales).make();
}

}  // namespace harmonia
