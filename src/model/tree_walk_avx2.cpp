#if defined(__x86_64__)

#include "tree_deep_simd.hpp"
#include "tree_rays_simd.hpp"
#include "tree_turn_simd.hpp"

namespace harmonia {
namespace {

// For every set of lanes, a bit each: their numbers, a byte each, in order.
struct LaneOrders {
  std::uint64_t of[256] = {};
  constexpr LaneOrders() {
    for (unsigned set = 0; set < 256; ++set) {
      unsigned place = 0;
      for (std::uint64_t lane = 0; lane < 8; ++lane)
        if (((set >> lane) & 1U) != 0) of[set] |= lane << (8 * place++);
    }
  }
};
constexpr LaneOrders kOrders;

// Eight rows at a time. Masks are all ones in the lanes that are meant.
struct Avx2 {
  static constexpr std::size_t kLanes = 8;
  static constexpr unsigned kLevelsTogether = 4;
  static constexpr unsigned kSingleFrom = 6;
  static constexpr std::size_t kTurned = 0;
  using Floats = __m256;
  using Ints = __m256i;
  using Mask = __m256i;
  struct Sums {
    __m256i low, high;
  };

  static Ints load(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static void store(std::int32_t* p, Ints v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static Floats load(const float* p) { return _mm256_loadu_ps(p); }
  static Ints broadcast(std::int32_t v) { return _mm256_set1_epi32(v); }
  static Floats broadcast(float v) { return _mm256_set1_ps(v); }
  static Ints lane_numbers() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
  static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  static Ints multiply(Ints a, Ints b) { return _mm256_mullo_epi32(a, b); }
  static Ints inverse(Ints v) { return _mm256_xor_si256(v, _mm256_set1_epi32(-1)); }
  static Ints blend(Mask mask, Ints yes, Ints no) { return _mm256_blendv_epi8(no, yes, mask); }
  static Ints child(Ints position, Mask right) {
    return _mm256_sub_epi32(_mm256_add_epi32(position, position), right);
  }
  static Ints next(Ints left, Mask right) { return _mm256_sub_epi32(left, right); }

  static Mask none() { return _mm256_setzero_si256(); }
  static Mask fill(std::int32_t ones) { return _mm256_set1_epi32(ones); }
  static Mask negative(Ints v) { return _mm256_srai_epi32(v, 31); }
  static Mask both(Mask a, Mask b) { return _mm256_and_si256(a, b); }
  static Mask either(Mask a, Mask b) { return _mm256_or_si256(a, b); }
  static Mask and_not(Mask without, Mask mask) { return _mm256_andnot_si256(without, mask); }
  static bool any(Mask mask) { return _mm256_movemask_ps(_mm256_castsi256_ps(mask)) != 0; }
  static bool all(Mask mask) { return _mm256_movemask_ps(_mm256_castsi256_ps(mask)) == 0xff; }
  static bool lane(Mask mask, std::size_t i) {
    return ((static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(mask))) >> i) & 1U) != 0;
  }
  static Mask not_less(Floats a, Floats b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_NLT_UQ)); }
  static Mask equal(Floats a, Floats b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
  static Mask is_nan(Floats v) { return _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)); }

  static Mask within(Floats a, Floats b, Floats reach) {
    const Floats distance = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), _mm256_sub_ps(a, b));
    return _mm256_castps_si256(_mm256_cmp_ps(distance, reach, _CMP_LE_OQ));
  }
  static Floats as_floats(Ints bits) { return _mm256_castsi256_ps(bits); }
  static Floats blend(Mask mask, Floats yes, Floats no) {
    return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(mask));
  }
  static Mask same(Ints a, Ints b) { return _mm256_cmpeq_epi32(a, b); }
  static Mask differ(Mask a, Mask b) { return _mm256_xor_si256(a, b); }
  static Ints both_bits(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  template <unsigned Bits>
  static Ints shift_right(Ints v) {
    return _mm256_srli_epi32(v, Bits);
  }
  static Ints shift_right_by(Ints v, unsigned bits) {
    return _mm256_srl_epi32(v, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  static Ints shift_left_by(Ints v, unsigned bits) {
    return _mm256_sll_epi32(v, _mm_cvtsi32_si128(static_cast<int>(bits)));
  }
  template <unsigned Bits>
  static Ints shift_left(Ints v) {
    return _mm256_slli_epi32(v, Bits);
  }
  static Ints with_bit(Ints v, Mask mask, std::int32_t bit) {
    return _mm256_or_si256(v, _mm256_and_si256(mask, _mm256_set1_epi32(bit)));
  }
  static Mask has_bit(Ints v, std::int32_t bit) {
    const Ints one = _mm256_set1_epi32(bit);
    return _mm256_cmpeq_epi32(_mm256_and_si256(v, one), one);
  }
  static Mask positive(Ints v) { return _mm256_cmpgt_epi32(v, _mm256_setzero_si256()); }
  // Puts the lanes that are meant side by side, and says how many they are; a whole vector is written.
  static std::size_t append(std::uint32_t* to, Mask mask, Ints v) {
    const auto meant = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
    const Ints order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(kOrders.of[meant])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(v, order));
    return static_cast<std::size_t>(__builtin_popcount(meant));
  }

  // A bit for each of kRayLanes values: it is not below the threshold.
  static std::uint64_t not_less_bits(const float* values, float threshold) {
    const Floats t = broadcast(threshold);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kRayLanes; i += kLanes)
      found |= static_cast<std::uint64_t>(static_cast<unsigned>(
                   _mm256_movemask_ps(_mm256_castsi256_ps(not_less(load(values + i), t)))))
               << i;
    return found;
  }
  static std::uint64_t not_less_bits(const double* values, double threshold) {
    const __m256d t = _mm256_set1_pd(threshold);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kRayLanes; i += 4) {
      const __m256d right = _mm256_cmp_pd(_mm256_loadu_pd(values + i), t, _CMP_NLT_UQ);
      found |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_pd(right))) << i;
    }
    return found;
  }

  static Floats gather(const float* p, Ints at) { return _mm256_i32gather_ps(p, at, 4); }
  static Ints gather(const std::int32_t* p, Ints at) { return _mm256_i32gather_epi32(p, at, 4); }

  // Two numbers that lie side by side, of which the first is number `at` of such pairs.
  struct Pairs {
    Floats first;
    Ints second;
  };
  static Pairs gather_pairs(const float* p, Ints at) {
    const auto* from = reinterpret_cast<const long long*>(p);
    const Floats low = _mm256_castsi256_ps(_mm256_i32gather_epi64(from, _mm256_castsi256_si128(at), 8));
    const Floats high = _mm256_castsi256_ps(_mm256_i32gather_epi64(from, _mm256_extracti128_si256(at, 1), 8));
    // Pairs 0 1 4 5 and 2 3 6 7, then in order.
    const auto in_order = [](Floats v) { return _mm256_permute4x64_epi64(_mm256_castps_si256(v), 0xd8); };
    return {_mm256_castsi256_ps(in_order(_mm256_shuffle_ps(low, high, 0x88))),
            in_order(_mm256_shuffle_ps(low, high, 0xdd))};
  }

  static Ints bits(Floats v) { return _mm256_castps_si256(v); }

  struct Doubles {
    __m256d low, high;
  };
  static Doubles gather_doubles(const double* p, Ints at) {
    const auto* from = reinterpret_cast<const long long*>(p);
    return {_mm256_castsi256_pd(_mm256_i32gather_epi64(from, _mm256_castsi256_si128(at), 8)),
            _mm256_castsi256_pd(_mm256_i32gather_epi64(from, _mm256_extracti128_si256(at, 1), 8))};
  }
  static Doubles blend_doubles(Mask mask, double yes, double no) {
    const __m256d y = _mm256_set1_pd(yes), n = _mm256_set1_pd(no);
    const auto half = [&](__m128i lanes) {
      return _mm256_blendv_pd(n, y, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(lanes)));
    };
    return {half(_mm256_castsi256_si128(mask)), half(_mm256_extracti128_si256(mask, 1))};
  }
  static Doubles add(const Doubles& a, const Doubles& b) {
    return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
  }
  static Floats to_floats(const Doubles& v) {
    return _mm256_set_m128(_mm256_cvtpd_ps(v.high), _mm256_cvtpd_ps(v.low));
  }

  // A tree's slot at `position`, which is on level Level < kSingleFrom: looked up in registers.
  template <unsigned Level>
  static Floats at(const float* slots, Ints position) {
    if constexpr (Level == 0) {
      return _mm256_broadcast_ss(slots + 1);
    } else if constexpr (Level <= 2) {
      return _mm256_permutevar8x32_ps(_mm256_loadu_ps(slots), position);
    } else {
      return among<(1U << Level) / 8>(slots + (1U << Level), position);
    }
  }
  template <unsigned Level>
  static Ints at(const std::int32_t* slots, Ints position) {
    return _mm256_castps_si256(at<Level>(reinterpret_cast<const float*>(slots), position));
  }

  // The same of any level.
  template <unsigned Level, class T>
  static auto slot(const T* slots, Ints position) {
    if constexpr (Level < kSingleFrom) {
      return at<Level>(slots, position);
    } else {
      return gather(slots, position);
    }
  }

  static Sums load_sums(const std::int64_t* p) {
    const auto* from = reinterpret_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
  }
  static Sums zero_sums() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  static void accumulate(Sums& sums, const std::int64_t* leaves, Ints leaf) {
    const auto* p = reinterpret_cast<const long long*>(leaves);
    sums.low = _mm256_add_epi64(sums.low, _mm256_i32gather_epi64(p, _mm256_castsi256_si128(leaf), 8));
    sums.high = _mm256_add_epi64(sums.high, _mm256_i32gather_epi64(p, _mm256_extracti128_si256(leaf, 1), 8));
  }
  // The same of a complete tree's leaves.
  template <unsigned Depth>
  static void accumulate_leaves(Sums& sums, const std::int64_t* leaves, Ints leaf) {
    accumulate(sums, leaves, leaf);
  }
  static void store(std::int64_t* p, const Sums& sums) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), sums.low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 4), sums.high);
  }

 private:
  // One of 8·Registers slots, by the low bits of the position.
  template <unsigned Registers>
  static Floats among(const float* slots, Ints position) {
    if constexpr (Registers == 1) {
      return _mm256_permutevar8x32_ps(_mm256_loadu_ps(slots), position);
    } else {
      constexpr int kBit = Registers == 2 ? 3 : 4;
      const Floats low = among<Registers / 2>(slots, position);
      const Floats high = among<Registers / 2>(slots + 4 * Registers, position);
      return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(position, 31 - kBit)));
    }
  }
};

}  // namespace

const TreeKernel kAvx2Trees{
    Avx2::kLanes,        gather_block<Avx2>, walk_any_depth<Avx2>, find_near_any_depth<Avx2>,
    pick_of<Avx2>,       turn_off_any<Avx2>, find_apart_any<Avx2>, find_near_deep<Avx2>,
    turn_off_deep<Avx2>, walk_rays_of<Avx2>};

}  // namespace harmonia

#endif
