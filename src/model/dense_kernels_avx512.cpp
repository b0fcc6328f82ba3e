#if defined(__x86_64__)

#include <immintrin.h>

#include "dense_kernels_simd.hpp"

namespace harmonia {
namespace {

struct Floats {
  static constexpr std::size_t kLanes = 16, kVectors = 3, kColumns = 8, kUnits = 6;
  using V = __m512;
  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, V v) { _mm512_storeu_ps(p, v); }
  static V broadcast(float v) { return _mm512_set1_ps(v); }
  static V zero() { return _mm512_setzero_ps(); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static unsigned reach(V a, V b) { return _mm512_cmp_ps_mask(_mm512_abs_ps(a), b, _CMP_GE_OQ); }
  static double sum(V v) {
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(v));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
    return _mm512_reduce_add_pd(_mm512_add_pd(low, high));
  }
};

struct Doubles {
  static constexpr std::size_t kLanes = 8, kVectors = 3, kColumns = 8, kUnits = 6;
  using V = __m512d;
  static V load(const double* p) { return _mm512_loadu_pd(p); }
  static V load(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
  static void store(double* p, V v) { _mm512_storeu_pd(p, v); }
  static V broadcast(double v) { return _mm512_set1_pd(v); }
  static V zero() { return _mm512_setzero_pd(); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  static unsigned reach(V a, V b) { return _mm512_cmp_pd_mask(_mm512_abs_pd(a), b, _CMP_GE_OQ); }
  static double sum(V v) { return _mm512_reduce_add_pd(v); }
};

}  // namespace

const DenseSquares kAvx512Squares = dense_squares<Floats>();
const DenseKernel<float> kAvx512Dense = dense_kernel<Floats, float>();
const DenseKernel<double> kAvx512DenseExact = dense_kernel<Doubles, double>();
const DenseForward kAvx512Forward = dense_forward<Floats, Doubles>();
const DenseUnits kAvx512Units = dense_units();

}  // namespace harmonia

#endif
