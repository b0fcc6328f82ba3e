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

DenseForward* forward_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return dense_forward_avx512;
  if (simd == Simd::avx2) return dense_forward_avx2;
#endif
  return dense_forward_scalar;
}

DenseFloatForward* float_forward_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return dense_float_forward_avx512;
  if (simd == Simd::avx2) return dense_float_forward_avx2;
#endif
  return dense_float_forward_scalar;
}

const DenseSquares& squares_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return kAvx512Squares;
  if (simd == Simd::avx2) return kAvx2Squares;
#endif
  return kScalarSquares;
}

SortedWeights sort_weights(const DenseLayer& layer, const std::vector<std::uint32_t>& moved,
                           const std::vector<double>& scales) {
  SortedWeights sorted;
  sorted.moved = moved.size();
  const std::size_t m = moved.size();
  sorted.size.resize(layer.outputs * m);
  sorted.order.resize(layer.outputs * m);
  sorted.sum.resize(layer.outputs * (m + 1));
  sorted.scaled.resize(layer.outputs * m);
  std::vector<double> sizes(m), squares(m);
  for (std::size_t j = 0; j < layer.outputs; ++j) {
    const float* const weights = layer.weights.data() + j * layer.inputs;
    std::uint32_t* const order = sorted.order.data() + j * m;
    double* const sum = sorted.sum.data() + j * (m + 1);
    for (std::size_t k = 0; k < m; ++k) {
      sizes[k] = std::abs(static_cast<double>(weights[moved[k]])) * (scales.empty() ? 1 : scales[k]);
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

template <class T>
DensePacks<T>::DensePacks(const DenseNetwork& network, const std::vector<std::uint32_t>& moved, Simd simd)
    : network_(network), moved_(moved), kernel_(&kernel_for<T>(simd)) {}

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
            return layer.weights[k * layer.inputs + (l == 0 ? moved_[i] : i)];
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
            packed[j * moved_.size() + k] = static_cast<T>(layer.weights[j * layer.inputs + moved_[k]]);
        }
      } else {
        packed = tiles(layer.inputs, layer.outputs,
                       [&](std::size_t i, std::size_t k) { return layer.weights[k * layer.inputs + i]; });
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
      moved(std::move(columns)),
      scales(std::move(column_scales)),
      piecewise(all_piecewise(of)),
      forward(forward_for(simd)),
      float_forward(float_forward_for(simd)),
      squares(&squares_for(simd)),
      floats(network, moved, simd),
      doubles(network, moved, simd) {
  if (piecewise) sorted = sort_weights(network.layers.front(), moved, scales);
  for (const DenseLayer& layer : network.layers) {
    std::vector<double>& of_rows = row_squares.emplace_back(layer.outputs);
    double all = 0;
    for (std::size_t k = 0; k < layer.outputs; ++k) {
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        const double weight = layer.weights[k * layer.inputs + i];
        of_rows[k] += weight * weight;
      }
      all += of_rows[k];
    }
    norms.push_back(std::sqrt(all));
  }
}

}  // namespace harmonia
