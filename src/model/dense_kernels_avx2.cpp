#if defined(__x86_64__)

#include <immintrin.h>

#include "dense_kernels_simd.hpp"

namespace harmonia {
namespace {

struct Floats {
  static constexpr std::size_t kLanes = 8, kVectors = 2, kColumns = 6, kUnits = 3;
  using V = __m256;
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, V v) { _mm256_storeu_ps(p, v); }
  static V broadcast(float v) { return _mm256_set1_ps(v); }
  static V zero() { return _mm256_setzero_ps(); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static unsigned reach(V a, V b) {
    const V size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a);
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(size, b, _CMP_GE_OQ)));
  }
  static double sum(V v) {
    double lanes[4];
    _mm256_storeu_pd(lanes, _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                                          _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))));
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
};

struct Doubles {
  static constexpr std::size_t kLanes = 4, kVectors = 2, kColumns = 6, kUnits = 3;
  using V = __m256d;
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static V load(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static void store(double* p, V v) { _mm256_storeu_pd(p, v); }
  static V broadcast(double v) { return _mm256_set1_pd(v); }
  static V zero() { return _mm256_setzero_pd(); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  static unsigned reach(V a, V b) {
    const V size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(size, b, _CMP_GE_OQ)));
  }
  static double sum(V v) {
    double lanes[kLanes];
    store(lanes, v);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
};

}  // namespace

const DenseSquares kAvx2Squares = dense_squares<Floats>();
const DenseKernel<float> kAvx2Dense = dense_kernel<Floats, float>();
const DenseKernel<double> kAvx2DenseExact = dense_kernel<Doubles, double>();
const DenseForward kAvx2Forward = dense_forward<Floats, Doubles>();
const DenseUnits kAvx2Units = dense_units();

}  // namespace harmonia

#endif
