#include "dense_kernels_simd.hpp"

namespace harmonia {
namespace {

// Four numbers that the compiler may put into whatever registers the machine has.
template <class T>
struct Four {
  static constexpr std::size_t kLanes = 4, kVectors = 2, kColumns = 4, kUnits = 2;
  struct V {
    T lane[kLanes];
  };
  template <class From>
  static V load(const From* p) {
    return {{static_cast<T>(p[0]), static_cast<T>(p[1]), static_cast<T>(p[2]), static_cast<T>(p[3])}};
  }
  static void store(T* p, const V& v) {
    for (std::size_t i = 0; i < kLanes; ++i) p[i] = v.lane[i];
  }
  static V broadcast(T v) { return {{v, v, v, v}}; }
  static V zero() { return broadcast(0); }
  static V fma(const V& a, const V& b, V c) {
    for (std::size_t i = 0; i < kLanes; ++i) c.lane[i] += a.lane[i] * b.lane[i];
    return c;
  }
  static unsigned reach(const V& a, const V& b) {
    unsigned reached = 0;
    for (std::size_t i = 0; i < kLanes; ++i)
      reached |= (a.lane[i] >= b.lane[i] || -a.lane[i] >= b.lane[i] ? 1U : 0U) << i;
    return reached;
  }
  static double sum(const V& v) {
    double total = 0;
    for (const T lane : v.lane) total += static_cast<double>(lane);
    return total;
  }
};

}  // namespace

const DenseSquares kScalarSquares = dense_squares<Four<float>>();
const DenseKernel<float> kScalarDense = dense_kernel<Four<float>, float>();
const DenseKernel<double> kScalarDenseExact = dense_kernel<Four<double>, double>();
const DenseForward kScalarForward = dense_forward<Four<float>, Four<double>>();
const DenseUnits kScalarUnits = dense_units();

}  // namespace harmonia
