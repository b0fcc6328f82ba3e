#pragma once

// The kernels of dense networks over the vectors that the including source defines, each of which is compiled
// for one instruction set. Everything is in its unnamed namespace.
//
// A set S has kLanes, kVectors, kColumns and kUnits (of a block of the forward product), the type V, and
// load, store, broadcast, fma, zero, reach (bit i: |a| >= b in lane i) and sum; of double also load(const
// float*).

#include "dense_changes_simd.hpp"
#include "dense_kernels.hpp"

namespace harmonia {
namespace {

template <class S, class T, std::size_t Vectors>
void tile_of(const T* w, const T* b, const std::uint32_t* listed, std::size_t count, T* out) {
  constexpr std::size_t kWidth = Vectors * S::kLanes;
  typename S::V sums[S::kColumns][Vectors];
  for (auto& column : sums) {
    for (auto& sum : column) sum = S::zero();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const T* const left = w + listed[i] * S::kColumns;
    const T* const right = b + listed[i] * kWidth;
    typename S::V parts[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) parts[v] = S::load(right + v * S::kLanes);
    for (std::size_t c = 0; c < S::kColumns; ++c) {
      const typename S::V factor = S::broadcast(left[c]);
      for (std::size_t v = 0; v < Vectors; ++v) sums[c][v] = S::fma(factor, parts[v], sums[c][v]);
    }
  }
  for (std::size_t c = 0; c < S::kColumns; ++c) {
    for (std::size_t v = 0; v < Vectors; ++v) S::store(out + c * kWidth + v * S::kLanes, sums[c][v]);
  }
}

template <class S, class T, std::size_t Vectors>
std::uint64_t point_of(const T* start, const T* slope, T step, const DenseBends<T>* bends, std::size_t layers,
                       const T* distance, T* delta) {
  constexpr std::size_t kWidth = Vectors * S::kLanes;
  typename S::V sums[Vectors];
  const typename S::V factor = S::broadcast(step);
  for (std::size_t v = 0; v < Vectors; ++v)
    sums[v] = S::fma(factor, S::load(slope + v * S::kLanes), S::load(start + v * S::kLanes));
  for (std::size_t m = 0; m < layers; ++m) {
    const DenseBends<T>& layer = bends[m];
    for (std::size_t i = 0; i < layer.count; ++i) {
      const T* const row = layer.rows + layer.first[i].unit * kWidth;
      const typename S::V value = S::broadcast(layer.first[i].value);
      for (std::size_t v = 0; v < Vectors; ++v)
        sums[v] = S::fma(value, S::load(row + v * S::kLanes), sums[v]);
    }
  }
  std::uint64_t reached = 0;
  for (std::size_t v = 0; v < Vectors; ++v) {
    S::store(delta + v * S::kLanes, sums[v]);
    reached |= std::uint64_t{S::reach(sums[v], S::load(distance + v * S::kLanes))} << (v * S::kLanes);
  }
  return reached;
}

template <class S, class T>
void any_tile(const T* w, const T* b, const std::uint32_t* listed, std::size_t count, std::size_t vectors,
              T* out) {
  if (vectors == 1) return tile_of<S, T, 1>(w, b, listed, count, out);
  if constexpr (S::kVectors > 2) {
    if (vectors == 3) return tile_of<S, T, 3>(w, b, listed, count, out);
  }
  tile_of<S, T, 2>(w, b, listed, count, out);
}

template <class S, class T>
std::uint64_t any_point(const T* start, const T* slope, T step, const DenseBends<T>* bends,
                        std::size_t layers, const T* distance, std::size_t vectors, T* delta) {
  if (vectors == 1) return point_of<S, T, 1>(start, slope, step, bends, layers, distance, delta);
  if constexpr (S::kVectors > 2) {
    if (vectors == 3) return point_of<S, T, 3>(start, slope, step, bends, layers, distance, delta);
  }
  return point_of<S, T, 2>(start, slope, step, bends, layers, distance, delta);
}

template <class S, class T>
constexpr DenseKernel<T> dense_kernel() {
  return {S::kLanes, S::kVectors, S::kColumns, any_tile<S, T>, any_point<S, T>, change_of<T>};
}

// Adds to y what some inputs give, units × rows of x at once; every pair of them is summed in the same order
// whatever is beside it.
template <class S, class W, class X, std::size_t Units, std::size_t Rows>
void forward_block(const W* weights, const X* x, std::size_t stride, std::size_t inputs, std::size_t outputs,
                   double* y) {
  typename S::V sums[Units][Rows];
  for (auto& unit : sums) {
    for (auto& sum : unit) sum = S::zero();
  }
  std::size_t i = 0;
  for (; i + S::kLanes <= inputs; i += S::kLanes) {
    typename S::V rows[Rows];
    for (std::size_t r = 0; r < Rows; ++r) rows[r] = S::load(x + r * stride + i);
    for (std::size_t u = 0; u < Units; ++u) {
      const typename S::V weight = S::load(weights + u * stride + i);
      for (std::size_t r = 0; r < Rows; ++r) sums[u][r] = S::fma(weight, rows[r], sums[u][r]);
    }
  }
  for (std::size_t u = 0; u < Units; ++u) {
    for (std::size_t r = 0; r < Rows; ++r) {
      double sum = S::sum(sums[u][r]);
      for (std::size_t j = i; j < inputs; ++j)
        sum += static_cast<double>(weights[u * stride + j]) * static_cast<double>(x[r * stride + j]);
      y[r * outputs + u] += sum;
    }
  }
}

template <class S, class W, class X, std::size_t Units>
void forward_units(const W* weights, const X* x, std::size_t stride, std::size_t inputs, std::size_t outputs,
                   std::size_t count, double* y) {
  std::size_t r = 0;
  for (; r + 4 <= count; r += 4)
    forward_block<S, W, X, Units, 4>(weights, x + r * stride, stride, inputs, outputs, y + r * outputs);
  for (; r + 2 <= count; r += 2)
    forward_block<S, W, X, Units, 2>(weights, x + r * stride, stride, inputs, outputs, y + r * outputs);
  if (r < count)
    forward_block<S, W, X, Units, 1>(weights, x + r * stride, stride, inputs, outputs, y + r * outputs);
}

template <class S, class W, class X>
void forward(const W* weights, std::size_t inputs, std::size_t outputs, const X* x, std::size_t count,
             double* y) {
  // So many inputs at a time that those of some dozen rows stay in the cache.
  constexpr std::size_t kTogether = 2048;
  for (std::size_t i = 0; i < count * outputs; ++i) y[i] = 0;
  for (std::size_t i = 0; i < inputs; i += kTogether) {
    const std::size_t some = inputs - i < kTogether ? inputs - i : kTogether;
    std::size_t u = 0;
    for (; u + S::kUnits <= outputs; u += S::kUnits)
      forward_units<S, W, X, S::kUnits>(weights + u * inputs + i, x + i, inputs, some, outputs, count, y + u);
    for (; u < outputs; ++u)
      forward_units<S, W, X, 1>(weights + u * inputs + i, x + i, inputs, some, outputs, count, y + u);
  }
}

template <class Floats, class Doubles>
constexpr DenseForward dense_forward() {
  return {forward<Doubles, float, double>, forward<Doubles, double, double>, forward<Floats, float, float>};
}

template <class T>
bool write_units(const double* start, const double* along, double step, std::size_t count, T* out) {
  constexpr T kMost =
      sizeof(T) == sizeof(float) ? static_cast<T>(0x1.fffffep+127) : static_cast<T>(0x1.fffffffffffffp+1023);
  int beyond = 0;  // a loop without a way out, which the compiler makes vectors of
  for (std::size_t i = 0; i < count; ++i) {
    const T unit = static_cast<T>(start[i] + step * along[i]);
    out[i] = unit;
    beyond |= static_cast<int>(!(unit <= kMost)) | static_cast<int>(!(unit >= -kMost));
  }
  return beyond == 0;
}

constexpr DenseUnits dense_units() { return {write_units<float>, write_units<double>}; }

template <class S>
void add_squares(const float* w, std::size_t count, float* sums) {
  std::size_t i = 0;
  for (; i + S::kLanes <= count; i += S::kLanes) {
    const typename S::V weight = S::load(w + i);
    S::store(sums + i, S::fma(weight, weight, S::load(sums + i)));
  }
  for (; i < count; ++i) sums[i] += w[i] * w[i];
}

template <class S>
void masked_squares(const float* w, const float* first, const float* second, std::size_t count,
                    double* sums) {
  constexpr std::size_t kTogether = 2;
  typename S::V firsts[kTogether], seconds[kTogether];
  for (std::size_t v = 0; v < kTogether; ++v) firsts[v] = seconds[v] = S::zero();
  std::size_t i = 0;
  for (; i + kTogether * S::kLanes <= count; i += kTogether * S::kLanes) {
    for (std::size_t v = 0; v < kTogether; ++v) {
      const std::size_t at = i + v * S::kLanes;
      const typename S::V weight = S::load(w + at), square = S::fma(weight, weight, S::zero());
      firsts[v] = S::fma(square, S::load(first + at), firsts[v]);
      seconds[v] = S::fma(square, S::load(second + at), seconds[v]);
    }
  }
  sums[0] = sums[1] = 0;
  for (std::size_t v = 0; v < kTogether; ++v) {
    sums[0] += S::sum(firsts[v]);
    sums[1] += S::sum(seconds[v]);
  }
  for (; i < count; ++i) {
    sums[0] += static_cast<double>(w[i] * w[i] * first[i]);
    sums[1] += static_cast<double>(w[i] * w[i] * second[i]);
  }
}

template <class S>
constexpr DenseSquares dense_squares() {
  return {add_squares<S>, masked_squares<S>};
}

}  // namespace
}  // namespace harmonia
