#if defined(__x86_64__)

#include "normals_simd.hpp"

namespace harmonia {
namespace {

struct Avx512 {
  static constexpr std::size_t kLanes = 16;
  using Floats = __m512;
  using Ints = __m512i;

  static Ints lane_numbers() {
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  static Ints broadcast(std::uint32_t v) { return _mm512_set1_epi32(static_cast<int>(v)); }
  static Floats broadcast(float v) { return _mm512_set1_ps(v); }
  static void store(float* p, Floats v) { _mm512_storeu_ps(p, v); }

  static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  static Ints exclusive(Ints a, Ints b) { return _mm512_xor_si512(a, b); }
  static Ints both(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  template <int Bits>
  static Ints right(Ints v) {
    return _mm512_srli_epi32(v, Bits);
  }
  template <int Bits>
  static Ints right_signed(Ints v) {
    return _mm512_srai_epi32(v, Bits);
  }
  template <int Bits>
  static Ints left(Ints v) {
    return _mm512_slli_epi32(v, Bits);
  }
  // The two words of each product.
  static void multiply(Ints a, std::uint32_t factor, Ints& low, Ints& high) {
    const Ints m = broadcast(factor), even = _mm512_mul_epu32(a, m),
               odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), m);
    constexpr __mmask16 kOdd = 0xaaaa;
    low = _mm512_mask_blend_epi32(kOdd, even, _mm512_slli_epi64(odd, 32));
    high = _mm512_mask_blend_epi32(kOdd, _mm512_srli_epi64(even, 32), odd);
  }

  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats root(Floats v) { return _mm512_sqrt_ps(v); }
  static Floats least(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats to_floats(Ints v) { return _mm512_cvtepi32_ps(v); }
  static Ints as_ints(Floats v) { return _mm512_castps_si512(v); }
  static Floats as_floats(Ints v) { return _mm512_castsi512_ps(v); }
  static __mmask16 odd(Ints v) { return _mm512_test_epi32_mask(v, _mm512_set1_epi32(1)); }
  static Floats choose(__mmask16 mask, Floats yes, Floats no) { return _mm512_mask_blend_ps(mask, no, yes); }
};

}  // namespace

void normal_groups_avx512(const NormalsKey& key, std::uint32_t first_block, std::size_t groups, float* out) {
  normal_groups<Avx512>(key, first_block, groups, out);
  // GCC 12 leaves it out here, and all code of narrow registers after this would take twice as long.
  _mm256_zeroupper();
}

}  // namespace harmonia

#endif
