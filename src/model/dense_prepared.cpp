#include "dense_prepared.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace harmonia {
namespace {

template <class T>
const DenseKernel<T>& kernel_for([[maybe_unused]] Simd simd) {
  if constexpr (sizeof(T) == sizeof(float)) {
#if defined(__x86_64__)
    if (simd == Simd::avx512) return kAvx512Dense;
    if (simd == Simd::avx2) return kAvx2Dense;
#endif
    return kScalarDense;
  } else {
#if defined(__x86_64__)
    if (simd == Simd::avx512) return kAvx512DenseExact;
    if (simd == Simd::avx2) return kAvx2DenseExact;
#endif
    return kScalarDenseExact;
  }
}

const DenseSquares& squares_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return kAvx512Squares;
  if (simd == Simd::avx2) return kAvx2Squares;
#endif
  return kScalarSquares;
}

std::vector<DenseWeights> take_weights(DenseNetwork& network) {
  std::vector<DenseWeights> weights;
  for (DenseLayer& layer : network.layers) weights.emplace_back(std::move(layer.weights));
  return weights;
}

SortedWeights sort_weights(const DenseLayer& layer, const DenseWeights& weights,
                           const std::vector<std::uint32_t>& moved, const std::vector<double>& scales) {
  SortedWeights sorted;
  sorted.moved = moved.size();
  const std::size_t m = moved.size();
  sorted.size.resize(layer.outputs * m);
  sorted.order.resize(layer.outputs * m);
  sorted.sum.resize(layer.outputs * (m + 1));
  sorted.scaled.resize(layer.outputs * m);
  std::vector<double> sizes(m), squares(m);
  for (std::size_t j = 0; j < layer.outputs; ++j) {
    std::uint32_t* const order = sorted.order.data() + j * m;
    double* const sum = sorted.sum.data() + j * (m + 1);
    for (std::size_t k = 0; k < m; ++k) {
      sizes[k] = std::abs(weights[j * layer.inputs + moved[k]]) * (scales.empty() ? 1 : scales[k]);
      sorted.scaled[j * m + k] = static_cast<float>(sizes[k]);
      squares[k] += sizes[k] * sizes[k];
    }
    std::iota(order, order + m, 0U);
    std::sort(order, order + m, [&](std::uint32_t a, std::uint32_t b) {
      return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
    });
    for (std::size_t i = 0; i < m; ++i) {
      sorted.size[j * m + i] = static_cast<float>(sizes[order[i]]);
      sum[i + 1] = sum[i] + sizes[order[i]];
    }
  }
  if (m > 0) sorted.longest_column = std::sqrt(*std::max_element(squares.begin(), squares.end()));
  return sorted;
}

bool all_piecewise(const DenseNetwork& network) {
  return std::all_of(network.layers.begin(), network.layers.end(),
                     [](const DenseLayer& layer) { return layer.activation.piecewise(); });
}

}  // namespace

DenseWeights::DenseWeights(std::vector<double> weights) : floats(weights.begin(), weights.end()) {
  if (!std::equal(weights.begin(), weights.end(), floats.begin(),
                  [](double a, float b) { return a == static_cast<double>(b); })) {
    doubles = std::move(weights);
  }
}

void DenseWeights::forward(const DenseForward& products, std::size_t inputs, std::size_t outputs,
                           const double* x, std::size_t count, double* y) const {
  if (doubles.empty()) {
    products.floats(floats.data(), inputs, outputs, x, count, y);
  } else {
    products.doubles(doubles.data(), inputs, outputs, x, count, y);
  }
}

const DenseForward& dense_forward_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return kAvx512Forward;
  if (simd == Simd::avx2) return kAvx2Forward;
#endif
  return kScalarForward;
}

const DenseUnits& dense_units_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return kAvx512Units;
  if (simd == Simd::avx2) return kAvx2Units;
#endif
  return kScalarUnits;
}

template <class T>
DensePacks<T>::DensePacks(const DenseNetwork& network, const std::vector<DenseWeights>& weights,
                          const std::vector<std::uint32_t>& moved, Simd simd)
    : network_(network), weights_(weights), moved_(moved), kernel_(&kernel_for<T>(simd)) {}

// Tiles of `columns` columns, each rows × kernel's columns, the last filled up with zeros.
template <class T>
std::vector<T> DensePacks<T>::tiles(std::size_t rows, std::size_t columns, const auto& weight) const {
  const std::size_t width = kernel_->columns, count = (columns + width - 1) / width;
  std::vector<T> packed(count * rows * width, T{0});
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t k = 0; k < rows; ++k) {
      for (std::size_t c = 0; c < width && t * width + c < columns; ++c)
        packed[(t * rows + k) * width + c] = static_cast<T>(weight(k, t * width + c));
    }
  }
  return packed;
}

template <class T>
const std::vector<DensePacked<T>>& DensePacks<T>::back() const {
  std::call_once(made_back_, [&] {
    for (std::size_t l = 0; l + 1 < network_.layers.size(); ++l) {
      const DenseLayer& layer = network_.layers[l];
      back_.emplace_back().by_output =
          tiles(layer.outputs, l == 0 ? moved_.size() : layer.inputs, [&](std::size_t k, std::size_t i) {
            return weights_[l][k * layer.inputs + (l == 0 ? moved_[i] : i)];
          });
    }
  });
  return back_;
}

template <class T>
const std::vector<DensePacked<T>>& DensePacks<T>::forward() const {
  std::call_once(made_forward_, [&] {
    for (std::size_t l = 0; l < network_.layers.size(); ++l) {
      const DenseLayer& layer = network_.layers[l];
      std::vector<T>& packed = forward_.emplace_back().by_input;
      if (l == 0) {
        packed.resize(layer.outputs * moved_.size());
        for (std::size_t j = 0; j < layer.outputs; ++j) {
          for (std::size_t k = 0; k < moved_.size(); ++k)
            packed[j * moved_.size() + k] = static_cast<T>(weights_[l][j * layer.inputs + moved_[k]]);
        }
      } else {
        packed = tiles(layer.inputs, layer.outputs,
                       [&](std::size_t i, std::size_t k) { return weights_[l][k * layer.inputs + i]; });
      }
    }
  });
  return forward_;
}

template class DensePacks<float>;
template class DensePacks<double>;

DensePrepared::DensePrepared(const DenseNetwork& of, std::vector<std::uint32_t> columns,
                             std::vector<double> column_scales, Simd simd)
    : network(of),
      weights(take_weights(network)),
      moved(std::move(columns)),
      scales(std::move(column_scales)),
      piecewise(all_piecewise(of)),
      products(&dense_forward_for(simd)),
      squares(&squares_for(simd)),
      floats(network, weights, moved, simd),
      doubles(network, weights, moved, simd) {
  if (piecewise) sorted = sort_weights(network.layers.front(), weights.front(), moved, scales);
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const DenseLayer& layer = network.layers[l];
    std::vector<double>& of_rows = row_squares.emplace_back(layer.outputs);
    double all = 0;
    for (std::size_t k = 0; k < layer.outputs; ++k) {
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        const double weight = weights[l][k * layer.inputs + i];
        of_rows[k] += weight * weight;
      }
      all += of_rows[k];
    }
    norms.push_back(std::sqrt(all));
  }
}

void DensePrepared::forward(std::size_t l, const double* x, std::size_t count, double* y) const {
  const DenseLayer& layer = network.layers[l];
  weights[l].forward(*products, layer.inputs, layer.outputs, x, count, y);
}

}  // namespace harmonia
