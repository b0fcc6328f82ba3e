#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Random rotations of R^n. Up to kHaarLimit dimensions they are Haar-distributed: a product of Householder
/// reflections of independent normal vectors with random signs [Stewart 1980]. Above, six rounds of random
/// signs and Hadamard transforms, O(n log n) a vector and without a matrix: an approximation.
class Rotations {
 public:
  static constexpr std::size_t kHaarLimit = 2048;

  /// `count` rotations of `dimension` dimensions, a pure function of the seed. Throws Error(usage) if the
  /// matrices would take more than 4 GiB.
  Rotations(std::uint64_t seed, std::size_t count, std::size_t dimension);

  /// Where rotation k takes unit vector j.
  void image(std::size_t k, std::size_t j, std::span<double> out) const;
  /// Where rotation k takes (1, …, 1).
  std::span<const double> image_of_ones(std::size_t k) const { return {ones_.row(k), ones_.columns()}; }

 private:
  void hadamard(std::size_t k, std::span<double> v) const;

  std::uint64_t seed_;
  std::vector<Matrix<double>> matrices_;  // row j of matrix k is the image of unit vector j
  Matrix<double> ones_;
};

}  // namespace harmonia
