#include "harmonia/ball/rotations.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"

namespace harmonia {
namespace {

// Q ← H·Q on rows first…n−1, where H reflects along v (v has n − first components). Written as sums of rows,
// so that every entry is formed in the same order on every machine.
void reflect(Matrix<double>& q, std::size_t first, std::span<const double> v, std::vector<double>& sums) {
  const std::size_t n = q.columns();
  double square = 0;
  for (const double component : v) square += component * component;
  if (square == 0) return;
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double* row = q.row(first + i);
    for (std::size_t j = first; j < n; ++j) sums[j] += v[i] * row[j];
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double factor = 2 * v[i] / square;
    double* row = q.row(first + i);
    for (std::size_t j = first; j < n; ++j) row[j] -= factor * sums[j];
  }
}

// A Haar-distributed orthogonal matrix [Stewart 1980]: reflections that take normal vectors of n, n − 1, …, 1
// components to an axis, from the shortest to the longest, and the signs that make the result unbiased.
Matrix<double> haar(std::uint64_t seed, std::size_t k, std::size_t n) {
  Matrix<double> q(n, n);
  for (std::size_t i = 0; i < n; ++i) q.row(i)[i] = 1;
  std::vector<double> sums(n), v;
  std::vector<float> z;
  for (std::size_t size = 1; size <= n; ++size) {
    z.resize(size);
    normals({.seed = seed, .stream = Stream::rotation, .row = k, .sample = size}, z);
    v.assign(z.begin(), z.end());
    const std::size_t first = n - size;
    double square = 0;
    for (const double component : v) square += component * component;
    const double length = std::sqrt(square);
    const double sign = v[0] < 0 ? -1 : 1;
    v[0] += sign * length;
    reflect(q, first, v, sums);
    // The reflection takes the vector to −sign·length·e; flipping by −sign makes R's diagonal positive.
    for (std::size_t j = first; j < n; ++j) q.row(first)[j] *= -sign;
  }
  return q;
}

// In place, scaled to be orthonormal; the size is a power of two.
void walsh_hadamard(std::span<double> v) {
  for (std::size_t half = 1; half < v.size(); half *= 2) {
    for (std::size_t i = 0; i < v.size(); i += 2 * half) {
      for (std::size_t j = i; j < i + half; ++j) {
        const double a = v[j], b = v[j + half];
        v[j] = a + b;
        v[j + half] = a - b;
      }
    }
  }
  const double scale = 1 / std::sqrt(static_cast<double>(v.size()));
  for (double& component : v) component *= scale;
}

}  // namespace

Rotations::Rotations(std::uint64_t seed, std::size_t count, std::size_t dimension)
    : seed_(seed), ones_(count, dimension) {
  const bool exact = dimension <= kHaarLimit;
  if (exact && count * dimension * dimension > (std::size_t{4} << 30) / sizeof(double)) {
    throw Error(ErrorCode::usage,
                fmt::format("rotated:{} in {} dimensions needs {} GiB; ask for fewer rotations", count,
                            dimension, count * dimension * dimension * sizeof(double) >> 30));
  }
  for (std::size_t k = 0; k < count; ++k) {
    double* ones = ones_.row(k);
    if (exact) {
      matrices_.push_back(haar(seed, k, dimension));
      for (std::size_t i = 0; i < dimension; ++i) {
        for (std::size_t j = 0; j < dimension; ++j) ones[j] += matrices_[k].row(i)[j];
      }
    } else {
      std::fill(ones, ones + dimension, 1.0);
      hadamard(k, {ones, dimension});
    }
  }
}

void Rotations::image(std::size_t k, std::size_t j, std::span<double> out) const {
  if (!matrices_.empty()) {
    const double* row = matrices_[k].row(j);
    std::copy(row, row + out.size(), out.begin());
    return;
  }
  std::fill(out.begin(), out.end(), 0.0);
  out[j] = 1;
  hadamard(k, out);
}

void Rotations::hadamard(std::size_t k, std::span<double> v) const {
  // Two overlapping blocks of a power of two cover any length; every transform is orthogonal, so the whole
  // is. Signs before each of them: two bare transforms of nearly the same block would undo each other.
  const std::size_t block = std::bit_floor(v.size());
  for (std::uint64_t round = 0; round < 6; ++round) {
    random_signs({.seed = seed_, .stream = Stream::rotation, .row = k, .sample = round}, v);
    walsh_hadamard(round % 2 == 0 ? v.first(block) : v.last(block));
  }
}

}  // namespace harmonia
