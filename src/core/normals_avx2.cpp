#if defined(__x86_64__)

#include "normals_simd.hpp"

namespace harmonia {
namespace {

struct Avx2 {
  static constexpr std::size_t kLanes = 8;
  using Floats = __m256;
  using Ints = __m256i;

  static Ints lane_numbers() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
  static Ints broadcast(std::uint32_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }
  static Floats broadcast(float v) { return _mm256_set1_ps(v); }
  static void store(float* p, Floats v) { _mm256_storeu_ps(p, v); }

  static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  static Ints exclusive(Ints a, Ints b) { return _mm256_xor_si256(a, b); }
  static Ints both(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  template <int Bits>
  static Ints right(Ints v) {
    return _mm256_srli_epi32(v, Bits);
  }
  template <int Bits>
  static Ints right_signed(Ints v) {
    return _mm256_srai_epi32(v, Bits);
  }
  template <int Bits>
  static Ints left(Ints v) {
    return _mm256_slli_epi32(v, Bits);
  }
  // The two words of each product.
  static void multiply(Ints a, std::uint32_t factor, Ints& low, Ints& high) {
    const Ints m = broadcast(factor), even = _mm256_mul_epu32(a, m),
               odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  }

  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats root(Floats v) { return _mm256_sqrt_ps(v); }
  static Floats least(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats to_floats(Ints v) { return _mm256_cvtepi32_ps(v); }
  static Ints as_ints(Floats v) { return _mm256_castps_si256(v); }
  static Floats as_floats(Ints v) { return _mm256_castsi256_ps(v); }
  // Of a choice the highest bit counts.
  static Ints odd(Ints v) { return _mm256_slli_epi32(v, 31); }
  static Floats choose(Ints mask, Floats yes, Floats no) {
    return _mm256_blendv_ps(no, yes, as_floats(mask));
  }
};

}  // namespace

void normal_groups_avx2(const NormalsKey& key, std::uint32_t first_block, std::size_t groups, float* out) {
  normal_groups<Avx2>(key, first_block, groups, out);
  // GCC 12 leaves it out here, and all code of narrow registers after this would take twice as long.
  _mm256_zeroupper();
}

}  // namespace harmonia

#endif
