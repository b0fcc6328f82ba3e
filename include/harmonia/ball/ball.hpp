#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/image.hpp"
#include "harmonia/data/schema.hpp"

namespace harmonia {

/// Which points stand for the sphere. n is the number of features that are moved.
enum class BallKind {
  simplex,          ///< n + 1 vertices of the regular simplex
  anti_simplex,     ///< the same, reflected
  simplex_pairs,    ///< simplex and anti-simplex: n + 1 pairs
  cross,            ///< ± one feature at a time: n pairs
  one_hot,          ///< the cross-polytope's 2n points one by one, as the paper samples them
  rotated,          ///< randomly rotated simplex pairs, the same for every row
  rotated_simplex,  ///< randomly rotated simplices without their reflections
  rademacher,       ///< every feature ± r/√n, in pairs: all 2^(n−1) for n <= 20, else independent draws
  random,           ///< independent unit vectors, single
  random_pairs,     ///< independent unit vectors, in pairs
  gaussian,         ///< independent normal vectors with deviation r/√n per feature, in pairs
  pixel,   ///< ± one pixel at a time of an image, all its channels together: as many pairs as pixels
  patch,   ///< ± one square of pixels at a time; the squares tile the image, cut off at its edges
  listed,  ///< directions given by the caller, in pairs
};

/// What is averaged: the sphere's surface, or the solid ball by Gauss quadrature over a few radii.
enum class Average { surface, solid };

/// The ball to put around every row.
struct BallOptions {
  BallKind kind = BallKind::simplex_pairs;
  std::size_t count = 0;  ///< rotations, independent draws, or a patch's side in pixels; 0: not said
  double radius = 0;      ///< > 0, in units of the features' scales
  Average average = Average::surface;
  Matrix<double> directions;  ///< of kind `listed`: unit vectors, one a row
  ImageShape image;           ///< of the rows, for pixel and patch

  /// Directions are blocks of an image's pixels.
  bool blocks() const { return kind == BallKind::pixel || kind == BallKind::patch; }
  /// Points differ from a base in one coordinate at most, and the base is that of many.
  bool one_coordinate() const {
    return kind == BallKind::cross || kind == BallKind::one_hot || kind == BallKind::simplex ||
           kind == BallKind::anti_simplex || kind == BallKind::simplex_pairs;
  }
  /// The side of such a block, in pixels.
  std::size_t block_side() const { return kind == BallKind::patch ? count : 1; }
};

/// Reads simplex, anti, simplex+anti, cross, one-hot, rotated:K, rotated-simplex:K,
/// rademacher[:N], random:N, random-pairs:N, gaussian:N, pixel, patch:K.
BallOptions parse_ball(const std::string& text);

/// The text that parse_ball reads.
std::string ball_name(const BallOptions& options);

/// Directions that can be drawn or put in a random order: their numbers have 32 bits.
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 32;

/// How many points a ball has around one row.
struct BallShape {
  std::uint64_t units = 0;   ///< directions, ± counted once; of an endless ball, how many were asked for
  bool endless = false;      ///< directions are independent draws, and there are always more
  bool paired = true;        ///< a unit is a direction and its opposite
  bool one_feature = false;  ///< unit k moves feature k against a base, for k < moved features
  std::size_t radii = 1;     ///< concentric spheres a unit is evaluated on
  std::size_t points() const { return (paired ? 2 : 1) * radii; }  ///< points a unit has
};

class Rotations;

/// Blocks of pixels that tile an image, by rows, those at the right and lower edge cut off.
class ImageBlocks {
 public:
  ImageBlocks(const ImageShape& image, std::size_t side)
      : image_(image), side_(side), across_((image.width + side - 1) / side) {}

  std::uint64_t count() const { return across_ * ((image_.height + side_ - 1) / side_); }
  /// Calls take(column) for every column of the block, ascending.
  template <class Take>
  void each(std::uint64_t block, const Take& take) const {
    const Part part = part_of(block);
    for (std::size_t y = part.top; y < part.bottom; ++y) {
      const std::size_t row = y * image_.width;
      const std::size_t end = (row + part.right) * image_.channels;
      for (std::size_t j = (row + part.left) * image_.channels; j < end; ++j) take(j);
    }
  }
  /// Columns that a block has.
  std::size_t size(std::uint64_t block) const {
    const Part part = part_of(block);
    return (part.bottom - part.top) * (part.right - part.left) * image_.channels;
  }
  /// The block that a column is in.
  std::uint64_t of(std::size_t column) const {
    const std::size_t pixel = column / image_.channels;
    return pixel / image_.width / side_ * across_ + pixel % image_.width / side_;
  }

 private:
  struct Part {
    std::size_t top, bottom, left, right;
  };
  Part part_of(std::uint64_t block) const {
    const std::size_t top = block / across_ * side_, left = block % across_ * side_;
    return {top, std::min(top + side_, image_.height), left, std::min(left + side_, image_.width)};
  }

  ImageShape image_;
  std::size_t side_, across_;
};

/// What the balls around all rows with as many moved features share.
struct BallGeometry {
  std::vector<double> radii;    ///< of the concentric spheres, in units of the ball's radius
  std::vector<double> weights;  ///< of the spheres; they sum to 1
  /// Of the regular simplex: v_k = own·e_k + rest·1 for k < n, v_n = last·1, all of length 1.
  double own = 0, rest = 0, last = 0;
};

/// A ball of one kind and radius, to be put around rows.
class Ball {
 public:
  /// schema: one entry a feature, or empty if all are plain. Throws Error(usage) for a radius that cannot be.
  Ball(BallOptions options, Schema schema, std::uint64_t seed);

  const BallOptions& options() const { return options_; }
  /// Empty if plain(), so that a million features cost nothing.
  const Schema& schema() const { return schema_; }
  std::uint64_t seed() const { return seed_; }
  /// No feature has a scale, bounds, whole numbers or a fixed value.
  bool plain() const { return plain_; }
  /// The features' scales, if nothing but scales and fixed values makes them more than plain; else empty.
  std::span<const double> scales() const { return scales_; }
  /// Points are the row and a multiple of a displacement that all rows share, if none has a missing value.
  bool shares_displacements() const;
  /// The shape around a row of which `moved` features move.
  BallShape shape(std::size_t moved) const;
  /// The geometry in `moved` dimensions, at least one, made when first asked for. Safe to call from several
  /// threads.
  const BallGeometry& geometry(std::size_t moved) const;
  /// The rotations in `dimension` dimensions, made when first asked for. Safe to call from several threads.
  const Rotations& rotations(std::size_t dimension) const;

 private:
  BallOptions options_;
  Schema schema_;
  std::uint64_t seed_;
  bool plain_;
  std::vector<double> scales_;
  std::shared_ptr<struct BallCache> cache_;
};

/// The ball around one row. Coordinates are canonical: a simplex vertex is fl(base + step·a) on the base
/// fl(x + step·b), in double; every evaluator that forms its own points must form these.
class RowBall {
 public:
  /// x: one row, kept by the caller. A NaN is a missing feature and is not moved.
  /// Throws Error(input) if x lies outside the schema's bounds.
  RowBall(const Ball& ball, std::span<const double> x, std::uint64_t row);

  const Ball& ball() const { return *ball_; }
  std::span<const double> x() const { return x_; }
  std::uint64_t row() const { return row_; }
  const BallShape& shape() const { return shape_; }
  /// A column that is neither missing nor fixed.
  bool moves(std::size_t column) const { return all_move_ || (moved_flags_[column] != 0); }
  /// Features that move around this row.
  std::size_t moved() const { return moved_; }
  /// Features whose step the bounds cut short, on both sides alike.
  std::size_t shortened() const { return shortened_; }
  /// Every step is what the radius and the scales say: none is cut short or rounded to a whole number.
  bool nominal() const { return shortened_ == 0 && !whole_steps_ && !mirrored_; }
  /// Directions point everywhere alike, so that their average implies a Laplacian; blocks of several values
  /// do not.
  bool isotropic() const { return !ball_->options().blocks() || blocks().count() == x_.size(); }
  /// The weight of point p of a unit in the unit's value; the weights of a unit sum to 1.
  double weight(std::size_t p) const {
    return shape_.paired ? 0.5 * geometry_->weights[p / 2] : geometry_->weights[p];
  }

  /// Point p of a unit: coordinates are base coordinates, one of them replaced if `own` is a column.
  struct Place {
    static constexpr std::size_t kNone = ~std::size_t{0};
    double radius = 0;            ///< of its sphere
    double base = 0;              ///< coefficient of every moved feature's step
    double extra = 0;             ///< coefficient added at column `own`
    std::size_t own = kNone;      ///< the column that is replaced
    std::uint64_t block = kNone;  ///< the block whose columns are replaced, all by steps of `extra`
    bool dense = false;           ///< the unit has a direction vector instead
    double sign = 1;
  };
  Place place(std::uint64_t unit, std::size_t p) const;
  /// The unit moves one feature against the base, so that place() of all such units differ in `own` alone.
  bool one_feature(std::uint64_t unit) const { return shape_.one_feature && unit < moved_; }
  /// The column of moved feature k.
  std::size_t column(std::uint64_t k) const { return all_move_ ? k : columns_[k]; }

  /// The base's coordinates.
  void fill(const Place& place, std::span<double> out) const;
  void fill(const Place& place, std::span<float> out) const;
  /// The base's coordinate in one column, as fill() gives it.
  double base_coordinate(const Place& place, std::size_t column) const {
    if (!moves(column) || place.base == 0) return x_[column];
    if (ball_->plain()) return x_[column] + place.radius * place.base;
    if (const auto scales = ball_->scales(); !scales.empty())
      return x_[column] + (place.radius * scales[column]) * place.base;
    return schema_base_coordinate(place, column);
  }
  /// The replaced coordinate.
  double own_coordinate(const Place& place) const {
    if (ball_->plain()) return base_coordinate(place, place.own) + place.radius * place.extra;
    if (const auto scales = ball_->scales(); !scales.empty())
      return base_coordinate(place, place.own) + (place.radius * scales[place.own]) * place.extra;
    return schema_own_coordinate(place);
  }
  /// The blocks of a ball of blocks.
  ImageBlocks blocks() const { return {ball_->options().image, ball_->options().block_side()}; }
  /// The coordinate of a column of the place's block.
  double block_coordinate(const Place& place, std::size_t column) const {
    if (!moves(column)) return x_[column];
    return ball_->plain() ? x_[column] + place.radius * place.extra : schema_block_coordinate(place, column);
  }
  /// The direction vector of a unit that is dense or a block, one component a column; 0 where the feature
  /// does not move.
  void direction(std::uint64_t unit, std::span<double> out) const;
  /// What a dense unit's point at radius 1 has more than the row, one component a column: the direction in
  /// the features' scales. Only where Ball::shares_displacements().
  void displacement(std::uint64_t unit, std::span<double> out) const;
  /// Coordinates of a point of a dense unit whose direction is `u`.
  void fill_dense(const Place& place, std::span<const double> u, std::span<double> out) const;
  void fill_dense(const Place& place, std::span<const double> u, std::span<float> out) const;

  /// The smallest nonzero step of this ball is under four units in the last place of the row's coordinates in
  /// the given type, so that points cannot be told from the centre.
  bool below_resolution(Scalar scalar) const;

 private:
  double largest_component(std::size_t column) const;
  void check_bounds();
  double schema_base_coordinate(const Place& place, std::size_t column) const;
  double schema_own_coordinate(const Place& place) const;
  double schema_block_coordinate(const Place& place, std::size_t column) const;
  double constrained(std::size_t column, double displacement, bool own) const;
  template <class T>
  void fill_as(const Place& place, std::span<T> out) const;
  template <class T>
  void fill_dense_as(const Place& place, std::span<const double> u, std::span<T> out) const;

  const Ball* ball_;
  std::span<const double> x_;
  std::uint64_t row_;
  bool all_move_ = true;
  std::size_t moved_ = 0;
  std::size_t shortened_ = 0;
  bool whole_steps_ = false;
  bool mirrored_ = false;
  std::vector<std::uint32_t> columns_;      // of the moved features, if not all move
  std::vector<unsigned char> moved_flags_;  // by column, if not all move
  BallShape shape_;
  const BallGeometry* geometry_ = nullptr;  // if any feature moves
};

inline RowBall::Place RowBall::place(std::uint64_t unit, std::size_t p) const {
  Place place;
  place.radius = ball_->options().radius * geometry_->radii[shape_.paired ? p / 2 : p];
  place.sign = shape_.paired && p % 2 == 1 ? -1 : 1;
  switch (ball_->options().kind) {
    case BallKind::one_hot:
      place.sign = unit % 2 == 1 ? -1 : 1;
      place.own = column(unit / 2);
      place.extra = place.sign;
      break;
    case BallKind::cross:
      place.own = column(unit);
      place.extra = place.sign;
      break;
    case BallKind::anti_simplex:
      place.sign = -1;
      [[fallthrough]];
    case BallKind::simplex:
    case BallKind::simplex_pairs:
      if (unit < moved_) {
        place.base = place.sign * geometry_->rest;
        place.extra = place.sign * geometry_->own;
        place.own = column(unit);
      } else {
        place.base = place.sign * geometry_->last;
      }
      break;
    case BallKind::pixel:
    case BallKind::patch:
      place.block = unit;
      place.extra = place.sign / std::sqrt(static_cast<double>(blocks().size(unit)));
      break;
    default:
      place.dense = true;
  }
  return place;
}

}  // namespace harmonia
