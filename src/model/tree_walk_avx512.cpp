#if defined(__x86_64__)

#include "tree_deep_simd.hpp"
#include "tree_rays_simd.hpp"
#include "tree_turn_simd.hpp"

namespace harmonia {
namespace {

// Sixteen rows at a time.
struct Avx512 {
  static constexpr std::size_t kLanes = 16;
  static constexpr unsigned kLevelsTogether = 4;
  static constexpr unsigned kSingleFrom = kCompleteDepth;
  static constexpr std::size_t kTurned = 16;
  using Floats = __m512;
  using Ints = __m512i;
  using Mask = __mmask16;
  struct Sums {
    __m512i low, high;
  };

  // Turns 16 rows from a column on into 16 columns; true if a value is NaN.
  static bool turn(const float* const (&rows)[kLanes], std::size_t column, float* to) {
    Floats a[kTurned], b[kTurned];
    Mask missing = 0;
    for (std::size_t i = 0; i < kTurned; ++i) {
      a[i] = _mm512_loadu_ps(rows[i] + column);
      missing |= is_nan(a[i]);
    }
    for (std::size_t i = 0; i < kTurned; i += 2) {
      b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    for (std::size_t i = 0; i < kTurned; i += 4) {
      a[i] = _mm512_shuffle_ps(b[i], b[i + 2], 0x44);
      a[i + 1] = _mm512_shuffle_ps(b[i], b[i + 2], 0xee);
      a[i + 2] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0x44);
      a[i + 3] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0xee);
    }
    for (std::size_t i = 0; i < kTurned; i += 8) {
      for (std::size_t j = 0; j < 4; ++j) {
        b[i + j] = _mm512_shuffle_f32x4(a[i + j], a[i + j + 4], 0x88);
        b[i + j + 4] = _mm512_shuffle_f32x4(a[i + j], a[i + j + 4], 0xdd);
      }
    }
    for (std::size_t j = 0; j < 8; ++j) {
      _mm512_storeu_ps(to + j * kLanes, _mm512_shuffle_f32x4(b[j], b[j + 8], 0x88));
      _mm512_storeu_ps(to + (j + 8) * kLanes, _mm512_shuffle_f32x4(b[j], b[j + 8], 0xdd));
    }
    return missing != 0;
  }

  static Ints load(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static void store(std::int32_t* p, Ints v) { _mm512_storeu_si512(p, v); }
  static Floats load(const float* p) { return _mm512_loadu_ps(p); }
  static Ints broadcast(std::int32_t v) { return _mm512_set1_epi32(v); }
  static Floats broadcast(float v) { return _mm512_set1_ps(v); }
  static Ints lane_numbers() {
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  static Ints multiply(Ints a, Ints b) { return _mm512_mullo_epi32(a, b); }
  static Ints inverse(Ints v) { return _mm512_xor_si512(v, _mm512_set1_epi32(-1)); }
  static Ints blend(Mask mask, Ints yes, Ints no) { return _mm512_mask_blend_epi32(mask, no, yes); }
  static Ints child(Ints position, Mask right) {
    const Ints left = _mm512_add_epi32(position, position);
    return next(left, right);
  }
  static Ints next(Ints left, Mask right) {
    return _mm512_mask_add_epi32(left, right, left, _mm512_set1_epi32(1));
  }

  static Mask none() { return 0; }
  static Mask fill(std::int32_t ones) { return static_cast<Mask>(ones); }
  static Mask negative(Ints v) { return _mm512_cmplt_epi32_mask(v, _mm512_setzero_si512()); }
  static Mask both(Mask a, Mask b) { return a & b; }
  static Mask either(Mask a, Mask b) { return a | b; }
  static Mask and_not(Mask without, Mask mask) { return static_cast<Mask>(~without & mask); }
  static bool any(Mask mask) { return mask != 0; }
  static bool all(Mask mask) { return mask == 0xffff; }
  static bool lane(Mask mask, std::size_t i) { return ((mask >> i) & 1U) != 0; }
  static Mask not_less(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ); }
  static Mask equal(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static Mask is_nan(Floats v) { return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q); }

  // A bit for each of kRayLanes values: it is not below the threshold.
  static std::uint64_t not_less_bits(const float* values, float threshold) {
    const Floats t = broadcast(threshold);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kRayLanes; i += kLanes)
      found |= std::uint64_t{not_less(load(values + i), t)} << i;
    return found;
  }
  static std::uint64_t not_less_bits(const double* values, double threshold) {
    const __m512d t = _mm512_set1_pd(threshold);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kRayLanes; i += 8) {
      const __mmask8 right = _mm512_cmp_pd_mask(_mm512_loadu_pd(values + i), t, _CMP_NLT_UQ);
      found |= std::uint64_t{right} << i;
    }
    return found;
  }

  static Mask within(Floats a, Floats b, Floats reach) {
    return _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_sub_ps(a, b)), reach, _CMP_LE_OQ);
  }
  static Floats as_floats(Ints bits) { return _mm512_castsi512_ps(bits); }
  static Floats blend(Mask mask, Floats yes, Floats no) { return _mm512_mask_blend_ps(mask, no, yes); }
  static Mask same(Ints a, Ints b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static Mask differ(Mask a, Mask b) { return static_cast<Mask>(a ^ b); }
  static Ints both_bits(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  template <unsigned Bits>
  static Ints shift_right(Ints v) {
    return _mm512_srli_epi32(v, Bits);
  }
  static Ints shift_right_by(Ints v, unsigned bits) {
    return _mm512_srl_epi32(v, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  static Ints shift_left_by(Ints v, unsigned bits) {
    return _mm512_sll_epi32(v, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  template <unsigned Bits>
  static Ints shift_left(Ints v) {
    return _mm512_slli_epi32(v, Bits);
  }
  static Ints with_bit(Ints v, Mask mask, std::int32_t bit) {
    return _mm512_mask_or_epi32(v, mask, v, _mm512_set1_epi32(bit));
  }
  static Mask has_bit(Ints v, std::int32_t bit) { return _mm512_test_epi32_mask(v, _mm512_set1_epi32(bit)); }
  static Mask positive(Ints v) { return _mm512_cmpgt_epi32_mask(v, _mm512_setzero_si512()); }
  // Puts the lanes that are meant side by side, and says how many they are; a whole vector is written.
  static std::size_t append(std::uint32_t* to, Mask mask, Ints v) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(mask, v));
    return static_cast<std::size_t>(__builtin_popcount(mask));
  }

  static Floats gather(const float* p, Ints at) { return _mm512_i32gather_ps(at, p, 4); }
  static Ints gather(const std::int32_t* p, Ints at) { return _mm512_i32gather_epi32(at, p, 4); }

  // Two numbers that lie side by side, of which the first is number `at` of such pairs.
  struct Pairs {
    Floats first;
    Ints second;
  };
  static Pairs gather_pairs(const float* p, Ints at) {
    const Ints low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), p, 8);
    const Ints high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), p, 8);
    const Ints even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const Ints odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    return {_mm512_castsi512_ps(_mm512_permutex2var_epi32(low, even, high)),
            _mm512_permutex2var_epi32(low, odd, high)};
  }

  static Ints bits(Floats v) { return _mm512_castps_si512(v); }

  struct Doubles {
    __m512d low, high;
  };
  static Doubles gather_doubles(const double* p, Ints at) {
    return {_mm512_i32gather_pd(_mm512_castsi512_si256(at), p, 8),
            _mm512_i32gather_pd(_mm512_extracti64x4_epi64(at, 1), p, 8)};
  }
  static Doubles blend_doubles(Mask mask, double yes, double no) {
    const __m512d y = _mm512_set1_pd(yes), n = _mm512_set1_pd(no);
    return {_mm512_mask_blend_pd(static_cast<__mmask8>(mask), n, y),
            _mm512_mask_blend_pd(static_cast<__mmask8>(mask >> 8), n, y)};
  }
  static Doubles add(const Doubles& a, const Doubles& b) {
    return {_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)};
  }
  static Floats to_floats(const Doubles& v) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(v.low)), _mm512_cvtpd_ps(v.high), 1);
  }

  // A tree's slot at `position`, which is on level Level. Up to 64 slots of a level are looked up in
  // registers.
  template <unsigned Level>
  static Floats at(const float* slots, Ints position) {
    if constexpr (Level == 0) {
      return _mm512_set1_ps(slots[1]);
    } else if constexpr (Level <= 3) {
      return _mm512_permutexvar_ps(position, _mm512_loadu_ps(slots));
    } else if constexpr (Level == 4) {
      return _mm512_permutexvar_ps(position, _mm512_loadu_ps(slots + 16));
    } else if constexpr (Level == 5) {
      return among32(slots + 32, position);
    } else if constexpr (Level == 6) {
      const Mask high = _mm512_test_epi32_mask(position, _mm512_set1_epi32(32));
      return _mm512_mask_blend_ps(high, among32(slots + 64, position), among32(slots + 96, position));
    } else {
      return gather(slots, position);
    }
  }
  template <unsigned Level>
  static Ints at(const std::int32_t* slots, Ints position) {
    if constexpr (Level <= 6) {
      return _mm512_castps_si512(at<Level>(reinterpret_cast<const float*>(slots), position));
    } else {
      return gather(slots, position);
    }
  }

  // The same of any level.
  template <unsigned Level, class T>
  static auto slot(const T* slots, Ints position) {
    return at<Level>(slots, position);
  }

  static Sums load_sums(const std::int64_t* p) { return {_mm512_loadu_si512(p), _mm512_loadu_si512(p + 8)}; }
  static Sums zero_sums() { return {_mm512_setzero_si512(), _mm512_setzero_si512()}; }
  static void accumulate(Sums& sums, const std::int64_t* leaves, Ints leaf) {
    sums.low = _mm512_add_epi64(sums.low, _mm512_i32gather_epi64(_mm512_castsi512_si256(leaf), leaves, 8));
    sums.high =
        _mm512_add_epi64(sums.high, _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(leaf, 1), leaves, 8));
  }
  // The same of a complete tree's leaves.
  template <unsigned Depth>
  static void accumulate_leaves(Sums& sums, const std::int64_t* leaves, Ints leaf) {
    if constexpr (Depth >= 4 && Depth <= 6) {
      sums.low = _mm512_add_epi64(sums.low, among_leaves<(1U << Depth) / 16>(
                                                leaves, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(leaf))));
      sums.high =
          _mm512_add_epi64(sums.high, among_leaves<(1U << Depth) / 16>(
                                          leaves, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(leaf, 1))));
    } else {
      accumulate(sums, leaves, leaf);
    }
  }
  static void store(std::int64_t* p, const Sums& sums) {
    _mm512_storeu_si512(p, sums.low);
    _mm512_storeu_si512(p + 8, sums.high);
  }

 private:
  // One of 16·Pairs leaves.
  template <unsigned Pairs>
  static __m512i among_leaves(const std::int64_t* leaves, __m512i leaf) {
    if constexpr (Pairs == 1) {
      return _mm512_permutex2var_epi64(_mm512_loadu_si512(leaves), leaf, _mm512_loadu_si512(leaves + 8));
    } else {
      const __mmask8 high = _mm512_test_epi64_mask(leaf, _mm512_set1_epi64(8 * Pairs));
      return _mm512_mask_blend_epi64(high, among_leaves<Pairs / 2>(leaves, leaf),
                                     among_leaves<Pairs / 2>(leaves + 8 * Pairs, leaf));
    }
  }
  static Floats among32(const float* slots, Ints position) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(slots), position, _mm512_loadu_ps(slots + 16));
  }
};

}  // namespace

const TreeKernel kAvx512Trees{
    Avx512::kLanes,        gather_block<Avx512>, walk_any_depth<Avx512>, find_near_any_depth<Avx512>,
    pick_of<Avx512>,       turn_off_any<Avx512>, find_apart_any<Avx512>, find_near_deep<Avx512>,
    turn_off_deep<Avx512>, walk_rays_of<Avx512>};

}  // namespace harmonia

#endif
