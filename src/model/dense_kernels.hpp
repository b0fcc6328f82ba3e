#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

/// How far a unit is, at a point, from where its tangent at the row leads.
template <class T>
struct DenseBend {
  std::uint32_t unit = 0;
  T value = 0;
};

/// The bends of one layer at one point, and what a panel's units get from every unit of that layer.
template <class T>
struct DenseBends {
  const T* rows = nullptr;  ///< units of the layer × width of the panel
  const DenseBend<T>* first = nullptr;
  std::size_t count = 0;
};

/// What a unit of the layers between makes of a difference, as numbers that its own sum z decides.
template <class T>
struct DenseChange {
  enum class Kind : std::uint8_t {
    identity,
    leaky,       ///< a·delta, and b·(z + delta) more where c·(z + delta) < 0
    clip,        ///< z + delta, kept between a and b
    tanh,        ///< tanh(z + b·delta) − tanh(z), times c; a is tanh(z), d is 1 − a²
    elu,         ///< of slope b; a is e^z; of this and all that follow, c is the activation of z
    softplus,    ///< a is sigmoid(z)
    silu,        ///< a is tanh(z/2), d is 1 − a²
    gelu,        ///< a is Φ(z)
    gelu_tanh,   ///< b is the argument of tanh, a its tanh, d is 1 − a²
    hard_swish,  ///< a is clip(z/6 + 1/2, 0, 1)
  };
  Kind kind = Kind::identity;
  T z = 0, a = 0, b = 0, c = 0, d = 0;
};

/// Products for differences, which are in T. A panel is `vectors` × lanes numbers wide; at most 64.
template <class T>
struct DenseKernel {
  std::size_t lanes;
  std::size_t most_vectors;  ///< of a panel
  std::size_t columns;       ///< of a tile
  /// out (columns × width) = Σ over the listed k of w[k × columns + c] · b[k × width + q].
  void (*tile)(const T* w, const T* b, const std::uint32_t* listed, std::size_t count, std::size_t vectors,
               T* out);
  /// delta = start + step · slope + Σ over bends of value · rows[unit]. Bit q of the answer: |delta[q]| has
  /// come to distance[q].
  std::uint64_t (*point)(const T* start, const T* slope, T step, const DenseBends<T>* bends,
                         std::size_t layers, const T* distance, std::size_t vectors, T* delta);
  /// out[q] is what the unit makes of delta[q]; whether any of it is not 0. delta and out may be the same.
  bool (*change)(const DenseChange<T>& unit, const T* delta, std::size_t width, T* out);
};

/// A layer's sums: y (count × outputs) = x (count × inputs) · weightsᵀ, in double. The bits of a row of y do
/// not depend on the rows beside it.
struct DenseForward {
  void (*floats)(const float* weights, std::size_t inputs, std::size_t outputs, const double* x,
                 std::size_t count, double* y);
  void (*doubles)(const double* weights, std::size_t inputs, std::size_t outputs, const double* x,
                  std::size_t count, double* y);
  /// Of rows of floats, summed in float over a few hundred inputs at a time.
  void (*float_rows)(const float* weights, std::size_t inputs, std::size_t outputs, const float* x,
                     std::size_t count, double* y);
};

/// The first sums of a point: out = start + step · along, in double, cast once to the type of `out`. The same
/// bits by every instruction set. False if one of them is not finite.
struct DenseUnits {
  bool (*floats)(const double* start, const double* along, double step, std::size_t count, float* out);
  bool (*doubles)(const double* start, const double* along, double step, std::size_t count, double* out);
};

/// Sums of squares, for bounds.
struct DenseSquares {
  /// sums[i] += w[i]².
  void (*add)(const float* w, std::size_t count, float* sums);
  /// Σ first[i] · w[i]² and Σ second[i] · w[i]².
  void (*masked)(const float* w, const float* first, const float* second, std::size_t count, double* sums);
};

extern const DenseSquares kScalarSquares, kAvx2Squares, kAvx512Squares;
extern const DenseKernel<float> kScalarDense, kAvx2Dense, kAvx512Dense;
extern const DenseKernel<double> kScalarDenseExact, kAvx2DenseExact, kAvx512DenseExact;
extern const DenseUnits kScalarUnits, kAvx2Units, kAvx512Units;
extern const DenseForward kScalarForward, kAvx2Forward, kAvx512Forward;

}  // namespace harmonia
