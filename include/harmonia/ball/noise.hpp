#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/schema.hpp"

namespace harmonia {

/// How points are scattered around a row.
enum class NoiseKind {
  gaussian,  ///< normal, deviation sigma in every feature, in units of the features' scales
  ball,      ///< uniform in the ball of radius sigma, in the same units
};

/// Reads gaussian, ball.
NoiseKind parse_noise(const std::string& text);

/// The text that parse_noise reads.
std::string noise_name(NoiseKind kind);

/// The noise to put around every row.
struct NoiseOptions {
  NoiseKind kind = NoiseKind::gaussian;
  Schema schema;              ///< scales, bounds, whole and fixed features; empty: all plain
  Matrix<double> directions;  ///< rows are the directions that a row is moved along, each times its own
                              ///< normal number times sigma; empty: the features
};

/// Samples that are told apart, at most.
constexpr std::uint64_t kMostNoiseSamples = std::uint64_t{1} << 32;

/// Whether the radius of [Cohen 2019, theorem 1] holds for the noise: gaussian and the same in every feature,
/// in units of the scales. Directions, and features that are fixed, bounded or whole, make another noise of
/// it.
bool certifiable(const NoiseOptions& options);

/// Points around rows. Sample k is the same displacement for every row and every sigma (common random
/// numbers), so that a class frequency is a function of sigma alone and rows can be compared.
class Noise {
 public:
  /// Throws Error(usage) if schema or directions are not of `inputs` features, Error(input) for a direction
  /// that is not finite or has length 0.
  Noise(NoiseOptions options, std::size_t inputs, std::uint64_t seed);

  const NoiseOptions& options() const { return options_; }
  /// Writes sample k around x, or its mirror image. Missing (NaN) and fixed features stay; a value past its
  /// bounds is put on them; whole features are rounded. Safe to call from several threads.
  void put(std::span<const double> x, double sigma, std::uint64_t sample, bool mirrored,
           std::span<double> out) const;
  /// Sample k at sigma is every row and sigma times one displacement: no value is bounded or whole. Missing
  /// values are not moved, so that it holds for rows without.
  bool linear() const;
  /// That displacement, one component a feature; only where linear(). Safe to call from several threads.
  void displacement(std::uint64_t sample, std::span<double> out) const;
  /// The normal numbers that sample k is made of, one a direction, or one a feature.
  void numbers(std::uint64_t sample, std::span<float> out) const;
  /// The dimension that the displacements have: directions, or features that can move.
  std::size_t dimension() const { return dimension_; }

 private:
  friend class NoiseRay;
  double reach(std::uint64_t sample, std::span<const float> z) const;
  double moved(std::size_t feature, double x, double by) const;
  void steps(double sigma, std::uint64_t sample, std::span<double> out) const;

  NoiseOptions options_;
  std::uint64_t seed_;
  std::size_t dimension_;
};

/// A sample around rows at many sigmas, feature by feature: the coordinates that Noise::put() writes, to the
/// bit. For noise without directions.
class NoiseRay {
 public:
  NoiseRay(const Noise& noise, std::size_t inputs) : noise_(noise), z_(inputs) {}

  /// Goes on to another sample.
  void take(std::uint64_t sample, std::span<const double> sigmas);
  /// The feature where it is `x` in the row, at the sigmas from number `first` on, cast to the type of a
  /// model's inputs.
  template <class T>
  void put(std::size_t feature, double x, std::size_t first, std::span<T> out) const;
  /// The same at the last sigma alone.
  double last(std::size_t feature, double x) const;

 private:
  const Noise& noise_;
  std::vector<float> z_;
  std::vector<double> steps_;
};

}  // namespace harmonia
