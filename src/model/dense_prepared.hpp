#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "dense_kernels.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/model/dense_network.hpp"

namespace harmonia {

/// A first layer's weights by size, unit by unit, times the scales of the features that move: what a step
/// along a feature can do to a unit.
struct SortedWeights {
  std::size_t moved = 0;
  std::vector<float> size;           ///< units × moved, falling
  std::vector<std::uint32_t> order;  ///< units × moved: the moved feature that each belongs to
  std::vector<double> sum;           ///< units × (moved + 1): of the largest 0, 1, 2, …
  std::vector<float> scaled;         ///< units × moved: the same, in the order of the features
  double longest_column = 0;         ///< the largest root of the squares of one feature
};

/// A layer's weights, outputs × inputs.
struct DenseWeights {
  explicit DenseWeights(std::vector<double> weights);

  std::vector<float> floats;    ///< rounded
  std::vector<double> doubles;  ///< empty: the floats are all there is

  /// A layer's sums, without bias. x: count × inputs. y: count × outputs.
  void forward(const DenseForward& products, std::size_t inputs, std::size_t outputs, const double* x,
               std::size_t count, double* y) const;

  double operator[](std::size_t i) const {
    return doubles.empty() ? static_cast<double>(floats[i]) : doubles[i];
  }
};

/// The products of a layer by these instructions.
const DenseForward& dense_forward_for(Simd simd);
const DenseUnits& dense_units_for(Simd simd);

/// A layer's weights as products read them.
template <class T>
struct DensePacked {
  std::vector<T> by_output;  ///< tiles of inputs, each outputs × columns: for products that go back
  std::vector<T> by_input;   ///< tiles of outputs, each inputs × columns: for products that go forward
};

/// The weights of a network, packed for differences in T when they are first needed.
template <class T>
class DensePacks {
 public:
  /// `moved`: the columns of the first layer that are kept.
  DensePacks(const DenseNetwork& network, const std::vector<DenseWeights>& weights,
             const std::vector<std::uint32_t>& moved, Simd simd);

  const DenseKernel<T>& kernel() const { return *kernel_; }
  /// For products back from a layer to its inputs; of layer 0, to the moved features. Not of the last.
  const std::vector<DensePacked<T>>& back() const;
  /// For products forward. Of layer 0: units × moved.
  const std::vector<DensePacked<T>>& forward() const;

 private:
  std::vector<T> tiles(std::size_t rows, std::size_t columns, const auto& weight) const;

  const DenseNetwork& network_;
  const std::vector<DenseWeights>& weights_;
  const std::vector<std::uint32_t>& moved_;
  const DenseKernel<T>* kernel_;
  mutable std::once_flag made_back_, made_forward_;
  mutable std::vector<DensePacked<T>> back_, forward_;
};

/// What of a network and a ball all rows share.
struct DensePrepared {
  DensePrepared(const DenseNetwork& of, std::vector<std::uint32_t> columns, std::vector<double> column_scales,
                Simd simd);

  /// The sums of layer l, without bias. x: count × inputs. y: count × outputs.
  void forward(std::size_t l, const double* x, std::size_t count, double* y) const;

  DenseNetwork network;                          ///< without weights
  std::vector<DenseWeights> weights;             ///< of every layer
  std::vector<std::uint32_t> moved;              ///< columns that move
  std::vector<double> scales;                    ///< of these; empty: 1
  bool piecewise = true;                         ///< every activation is
  SortedWeights sorted;                          ///< if piecewise
  std::vector<std::vector<double>> row_squares;  ///< of every layer and unit: the sum of its weights' squares
  std::vector<double> norms;                     ///< of every layer: no less than its operator norm
  const DenseForward* products;
  const DenseSquares* squares;
  DensePacks<float> floats;
  DensePacks<double> doubles;

  std::size_t hidden() const { return network.layers.size() - 1; }
};

/// The packs in T.
template <class T>
const DensePacks<T>& packs_of(const DensePrepared& prepared) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return prepared.floats;
  } else {
    return prepared.doubles;
  }
}

}  // namespace harmonia
