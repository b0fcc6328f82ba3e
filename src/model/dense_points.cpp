#include "dense_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace harmonia {
namespace {

// By this much of a step may rounding move a point that is still counted by its nominal step.
constexpr double kMostRounding = 1e-4;
// A total of this size, against the row and for every point, is below what single precision does to a row.
constexpr double kNothing = 1.0 / (1 << 30);
constexpr std::size_t kLanes = 8;  // numbers that are looked at side by side, so that loops become vectors

double most(const double (&lanes)[kLanes]) { return *std::max_element(lanes, lanes + kLanes); }

double sum(const double (&lanes)[kLanes]) {
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

// What is looked for among the steps of a cross: in lanes, so that loops become vectors.
struct CrossSizes {
  double longest[kLanes] = {};  // of |step| / scale
  double rounded[kLanes] = {};  // of what rounding adds to a step, against the step itself
  double squares[kLanes] = {};  // of the features' totals

  void look(const DensePoints& points, std::size_t first, std::size_t count) {
    double given[kLanes], x[kLanes], scale[kLanes], total[kLanes] = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t k = first + std::min(lane, count - 1), column = points.columns[k];
      given[lane] = points.given[column];
      x[lane] = points.x[column];
      scale[lane] = points.scales == nullptr ? 1 : points.scales[k];
    }
    for (const DensePoints::Slot& slot : points.slots) {
      const double nominal = std::abs(slot.stride), reciprocal = 1 / nominal;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double step = points.cast(given[lane] + slot.stride * scale[lane]) - x[lane];
        const double size = std::abs(step) / scale[lane], off = std::abs(size - nominal) * reciprocal;
        total[lane] += slot.weight * step;
        longest[lane] = longest[lane] > size ? longest[lane] : size;
        rounded[lane] = rounded[lane] > off ? rounded[lane] : off;
      }
    }
    for (std::size_t lane = 0; lane < count; ++lane) squares[lane] += total[lane] * total[lane];
  }
};

void add_spheres(DensePoints& points) {
  for (const DensePoints::Slot& slot : points.slots) {
    if (slot.stride > 0) points.spheres.push_back({slot.stride, slot.weight});
  }
}

// Whether the largest coordinate alone tells that rounding does nothing; sets what follows from that.
bool plainly_centred(DensePoints& points) {
  if (points.scales != nullptr || !points.single) return false;
  double largest[kLanes] = {}, squares[kLanes] = {};
  const auto look = [&](std::size_t j, std::size_t lane) {
    const double size = std::abs(points.x[j]);
    largest[lane] = largest[lane] > size ? largest[lane] : size;
    squares[lane] += size * size;
  };
  std::size_t j = 0;
  for (; j + kLanes <= points.x.size(); j += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) look(j + lane, lane);
  }
  for (; j < points.x.size(); ++j) look(j, 0);
  double stride = 0, shortest = std::numeric_limits<double>::infinity(), weights = 0;
  for (const DensePoints::Slot& slot : points.slots) {
    stride = std::max(stride, std::abs(slot.stride));
    shortest = std::min(shortest, std::abs(slot.stride));
    weights += slot.weight;
  }
  // Two coordinates are rounded, each by half a unit in the last place.
  const double rounding =
      (2 * most(largest) + stride) * static_cast<double>(std::numeric_limits<float>::epsilon());
  const double total = weights * rounding * std::sqrt(static_cast<double>(points.moved));
  if (rounding > kMostRounding * shortest ||
      total > kNothing * static_cast<double>(points.count()) * std::sqrt(sum(squares))) {
    return false;
  }
  points.longest = stride + rounding;
  add_spheres(points);
  return true;
}

// ± one feature around the row itself.
void look_at_cross(DensePoints& points) {
  if (plainly_centred(points)) return;
  CrossSizes sizes;
  for (std::size_t k = 0; k < points.moved; k += kLanes)
    sizes.look(points, k, std::min(kLanes, points.moved - k));
  points.longest = most(sizes.longest);
  double squares[kLanes] = {};
  std::size_t j = 0;
  for (; j + kLanes <= points.x.size(); j += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      squares[lane] += points.x[j + lane] * points.x[j + lane];
  }
  for (; j < points.x.size(); ++j) squares[0] += points.x[j] * points.x[j];
  const auto count = static_cast<double>(points.count());
  if (!points.single || std::sqrt(sum(sizes.squares)) > kNothing * count * std::sqrt(sum(squares))) {
    points.total.assign(points.x.size(), 0.0);
    for (std::size_t k = 0; k < points.moved; ++k) {
      for (std::size_t s = 0; s < points.slots.size(); ++s)
        points.total[points.columns[k]] += points.slots[s].weight * points.step(k, s);
    }
  }
  if (points.single && most(sizes.rounded) <= kMostRounding) add_spheres(points);
}

// One feature around a shifted base, and a point that is a base.
void add_simplex(const RowBall& ball, std::vector<RowBall::Place> places, DensePoints& points) {
  const std::size_t each = places.size(), moved = points.moved;
  points.total.assign(points.x.size(), 0.0);
  points.steps.resize(each * moved);
  points.shifts.resize(2 * each, points.x.size());
  const auto shift = [&](const RowBall::Place& place, std::size_t base, double weight) {
    double* const shifts = points.shifts.row(base);
    for (std::size_t j = 0; j < points.x.size(); ++j) {
      shifts[j] = points.cast(ball.base_coordinate(place, j)) - points.x[j];
      points.total[j] += weight * shifts[j];
    }
  };
  for (std::size_t p = 0; p < each; ++p) {
    RowBall::Place& place = places[p];
    const double weight = ball.weight(p);
    for (std::size_t k = 0; k < moved; ++k) {
      place.own = points.columns[k];
      const double step =
          points.cast(ball.own_coordinate(place)) - points.cast(ball.base_coordinate(place, place.own));
      points.steps[p * moved + k] = step;
      points.total[place.own] += weight * step;
      const double scale = points.scales == nullptr ? 1 : points.scales[k];
      points.longest = std::max(points.longest, std::abs(step) / scale);
    }
    points.slots[p].base = 1 + p;
    points.bare.push_back({1 + each + p, weight, 0});
    shift(place, p, weight * static_cast<double>(moved));
    shift(ball.place(moved, p), each + p, weight);
  }
}

}  // namespace

DensePoints dense_points(const RowBall& ball, const std::vector<std::uint32_t>& moved,
                         const std::vector<double>& scales, Scalar scalar) {
  DensePoints points;
  points.single = scalar == Scalar::float32;
  points.given = ball.x();
  points.x.resize(ball.x().size());
  for (std::size_t j = 0; j < points.x.size(); ++j) points.x[j] = points.cast(points.given[j]);
  points.moved = moved.size();
  points.columns = moved.data();
  points.scales = scales.empty() ? nullptr : scales.data();
  // A feature's units differ from those of the first in the column alone.
  std::vector<RowBall::Place> places;
  const BallKind kind = ball.ball().options().kind;
  for (std::uint64_t unit = 0; unit < (kind == BallKind::one_hot ? 2U : 1U); ++unit) {
    for (std::size_t p = 0; p < ball.shape().points(); ++p) {
      places.push_back(ball.place(unit, p));
      points.slots.push_back({0, ball.weight(p), places.back().radius * places.back().extra});
    }
  }
  if (kind == BallKind::cross || kind == BallKind::one_hot) {
    look_at_cross(points);
  } else {
    add_simplex(ball, std::move(places), points);
  }
  return points;
}

}  // namespace harmonia
