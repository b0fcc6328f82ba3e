#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>

#include "harmonia/ball/ball.hpp"
#include "harmonia/ball/rotations.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/value_checks.hpp"

namespace harmonia {
namespace {

// Σ v² in eight lanes, added up in a fixed order.
double sum_of_squares(std::span<const double> v) {
  std::array<double, 8> lanes{};
  std::size_t i = 0;
  for (; i + 8 <= v.size(); i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += v[i + lane] * v[i + lane];
  }
  for (; i < v.size(); ++i) lanes[i % 8] += v[i] * v[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// The point that lies in the bounds after as many turns at them as it takes.
double mirrored(const Feature& feature, double x) {
  const double width = feature.upper - feature.lower;
  if (width == 0) return feature.lower;
  if (!std::isfinite(width)) {
    if (x < feature.lower) return 2 * feature.lower - x;
    return x > feature.upper ? 2 * feature.upper - x : x;
  }
  if (x >= feature.lower && x <= feature.upper) return x;
  double way = std::fmod(x - feature.lower, 2 * width);
  if (way < 0) way += 2 * width;
  return feature.lower + std::min(way, 2 * width - way);
}

double room(const Feature& feature, double x) { return std::min(x - feature.lower, feature.upper - x); }

}  // namespace

RowBall::RowBall(const Ball& ball, std::span<const double> x, std::uint64_t row)
    : ball_(&ball), x_(x), row_(row) {
  const bool plain = ball.plain();
  const auto stays = [&](std::size_t j) { return std::isnan(x[j]) || (!plain && ball.schema()[j].fixed); };
  if (plain) {
    moved_ = x.size() - count_nan(x);
  } else {
    for (std::size_t j = 0; j < x.size(); ++j) moved_ += stays(j) ? 0 : 1;
  }
  all_move_ = moved_ == x.size();
  if (!all_move_) {
    moved_flags_.resize(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (stays(j)) continue;
      moved_flags_[j] = 1;
      columns_.push_back(static_cast<std::uint32_t>(j));
    }
  }
  shape_ = ball.shape(moved_);
  if (moved_ == 0) shape_.units = 0;
  if (moved_ > 0) geometry_ = &ball.geometry(moved_);
  if (!ball.plain() && ball.scales().empty()) check_bounds();
}

// The largest component of a direction in a column, so that bounds beyond it cut nothing short.
double RowBall::largest_component(std::size_t column) const {
  switch (ball_->options().kind) {
    case BallKind::simplex:
    case BallKind::anti_simplex:
    case BallKind::simplex_pairs:
      return std::max(geometry_->own + geometry_->rest, std::abs(geometry_->last));
    case BallKind::rademacher:
      return 1 / std::sqrt(static_cast<double>(moved_));
    case BallKind::pixel:
    case BallKind::patch:
      return 1 / std::sqrt(static_cast<double>(blocks().size(blocks().of(column))));
    default:
      return 1;
  }
}

void RowBall::check_bounds() {
  for (std::size_t j = 0; j < x_.size(); ++j) {
    const Feature& feature = ball_->schema()[j];
    if (x_[j] < feature.lower || x_[j] > feature.upper) {
      throw Error(ErrorCode::input, fmt::format("row {}, feature {}: {} is outside its bounds [{}, {}]", row_,
                                                feature.name, x_[j], feature.lower, feature.upper));
    }
    if (!moves(j)) continue;
    if (room(feature, x_[j]) < ball_->options().radius * largest_component(j) * feature.scale) {
      feature.mirrored ? mirrored_ = true : ++shortened_;
    }
    whole_steps_ |= feature.integer;
  }
}

double RowBall::constrained(std::size_t column, double displacement, bool own) const {
  const Feature& feature = ball_->schema()[column];
  if (feature.integer) {
    // At least one whole step where a feature is moved on its own: otherwise it would never be probed.
    const bool small = own && std::abs(displacement) < 1 && displacement != 0;
    displacement = small ? std::copysign(1.0, displacement) : std::round(displacement);
  }
  if (feature.bounded() && feature.mirrored) {
    return mirrored(feature, x_[column] + displacement) - x_[column];
  }
  if (feature.bounded()) {
    const double available = room(feature, x_[column]);
    const double most = feature.integer ? std::floor(available) : available;
    if (std::abs(displacement) > most) displacement = std::copysign(most, displacement);
  }
  return displacement;
}

double RowBall::schema_base_coordinate(const Place& place, std::size_t column) const {
  const Feature& feature = ball_->schema()[column];
  const double displacement = (place.radius * feature.scale) * place.base;
  if (feature.integer || feature.bounded()) return x_[column] + constrained(column, displacement, false);
  return x_[column] + displacement;
}

double RowBall::schema_own_coordinate(const Place& place) const {
  const Feature& feature = ball_->schema()[place.own];
  const double step = place.radius * feature.scale;
  if (feature.integer || feature.bounded()) {
    return x_[place.own] + constrained(place.own, step * (place.base + place.extra), true);
  }
  return base_coordinate(place, place.own) + step * place.extra;
}

double RowBall::schema_block_coordinate(const Place& place, std::size_t column) const {
  const Feature& feature = ball_->schema()[column];
  const double displacement = (place.radius * feature.scale) * place.extra;
  if (feature.integer || feature.bounded()) return x_[column] + constrained(column, displacement, true);
  return x_[column] + displacement;
}

template <class T>
void RowBall::fill_as(const Place& place, std::span<T> out) const {
  if (place.base == 0) {
    if constexpr (std::is_same_v<T, double>) {
      std::copy(x_.begin(), x_.end(), out.begin());
    } else {
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<T>(x_[j]);
    }
  } else if (all_move_ && ball_->plain()) {
    const double displacement = place.radius * place.base;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<T>(x_[j] + displacement);
  } else {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<T>(base_coordinate(place, j));
  }
}

void RowBall::fill(const Place& place, std::span<double> out) const { fill_as(place, out); }
void RowBall::fill(const Place& place, std::span<float> out) const { fill_as(place, out); }

template <class T>
void RowBall::fill_dense_as(const Place& place, std::span<const double> u, std::span<T> out) const {
  const double factor = place.radius * place.sign;
  if (ball_->plain()) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<T>(x_[j] + factor * u[j]);
    return;
  }
  const Schema& schema = ball_->schema();
  for (std::size_t j = 0; j < out.size(); ++j) {
    double displacement = moves(j) ? (factor * schema[j].scale) * u[j] : 0;
    if (schema[j].integer || schema[j].bounded()) displacement = constrained(j, displacement, false);
    out[j] = static_cast<T>(x_[j] + displacement);
  }
}

void RowBall::fill_dense(const Place& place, std::span<const double> u, std::span<double> out) const {
  fill_dense_as(place, u, out);
}
void RowBall::fill_dense(const Place& place, std::span<const double> u, std::span<float> out) const {
  fill_dense_as(place, u, out);
}

void RowBall::direction(std::uint64_t unit, std::span<double> out) const {
  const BallKind kind = ball_->options().kind;
  const auto n = static_cast<double>(moved_);
  const DrawKey key{.seed = ball_->seed(), .stream = Stream::direction, .row = row_, .sample = unit};
  switch (kind) {
    case BallKind::random:
    case BallKind::random_pairs:
    case BallKind::gaussian: {
      std::vector<float> z(out.size());
      normals(key, z);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = moves(j) ? static_cast<double>(z[j]) : 0;
      const double length = kind == BallKind::gaussian ? std::sqrt(n) : std::sqrt(sum_of_squares(out));
      for (double& component : out) component /= length;
      break;
    }
    case BallKind::rademacher: {
      const double size = 1 / std::sqrt(n);
      if (shape_.endless) {
        for (std::size_t j = 0; j < out.size(); ++j) out[j] = moves(j) ? size : 0;
        random_signs(key, out);
      } else {
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t k = 0; k < moved_; ++k) out[column(k)] = (unit >> k) & 1U ? -size : size;
      }
      break;
    }
    case BallKind::rotated_simplex:
    case BallKind::rotated: {
      const Rotations& rotations = ball_->rotations(moved_);
      const std::size_t k = unit / (moved_ + 1), vertex = unit % (moved_ + 1);
      const std::span<const double> ones = rotations.image_of_ones(k);
      const std::span<double> image = out.first(moved_);
      if (vertex < moved_) {
        rotations.image(k, vertex, image);
        for (std::size_t i = 0; i < moved_; ++i)
          image[i] = geometry_->own * image[i] + geometry_->rest * ones[i];
      } else {
        for (std::size_t i = 0; i < moved_; ++i) image[i] = geometry_->last * ones[i];
      }
      // Spread the components to the moved columns, from the last to the first because they share the memory.
      if (!all_move_) {
        std::size_t i = moved_;
        for (std::size_t j = out.size(); j-- > 0;) out[j] = moves(j) ? image[--i] : 0;
      }
      break;
    }
    case BallKind::pixel:
    case BallKind::patch: {
      const double size = 1 / std::sqrt(static_cast<double>(blocks().size(unit)));
      std::fill(out.begin(), out.end(), 0.0);
      blocks().each(unit, [&](std::size_t j) { out[j] = moves(j) ? size : 0; });
      break;
    }
    case BallKind::listed: {
      assert(ball_->options().directions.columns() == out.size());
      const double* listed = ball_->options().directions.row(unit);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = moves(j) ? listed[j] : 0;
      break;
    }
    default:
      std::fill(out.begin(), out.end(), 0.0);
  }
}

void RowBall::displacement(std::uint64_t unit, std::span<double> out) const {
  assert(ball_->shares_displacements());
  direction(unit, out);
  const std::span<const double> scales = ball_->scales();
  for (std::size_t j = 0; j < scales.size(); ++j) out[j] *= scales[j];
}

bool RowBall::below_resolution(Scalar scalar) const {
  if (shape_.units == 0) return false;
  const BallKind kind = ball_->options().kind;
  const bool simplex =
      kind == BallKind::simplex || kind == BallKind::anti_simplex || kind == BallKind::simplex_pairs;
  const bool one = kind == BallKind::cross || kind == BallKind::one_hot;
  // The typical component of a direction: the simplex's base, a single feature's whole step, or 1/√n.
  double component = 1 / std::sqrt(static_cast<double>(moved_));
  if (simplex) component = std::abs(geometry_->rest);
  if (one) component = 1;
  if (ball_->options().blocks()) component = 1 / std::sqrt(static_cast<double>(blocks().size(0)));
  const double epsilon = scalar == Scalar::float32
                             ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
  const double least = ball_->options().radius * geometry_->radii.front() * component;
  if (ball_->plain() && all_move_) {
    std::uint64_t below = 0;
    for (const double value : x_) below |= is_above(4 * epsilon * std::abs(value), least);
    return below != 0;
  }
  for (std::size_t j = 0; j < x_.size(); ++j) {
    const bool whole = !ball_->plain() && ball_->schema()[j].integer;
    const double scale = ball_->plain() ? 1 : ball_->schema()[j].scale;
    if (moves(j) && !whole && least * scale < 4 * epsilon * std::abs(x_[j])) return true;
  }
  return false;
}

}  // namespace harmonia
