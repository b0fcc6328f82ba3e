#if defined(__x86_64__)

#include "tree_slices_simd.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kLanes = 16;

// -- ranks ---

// One of 16 · 2^Halvings numbers.
template <unsigned Halvings>
__m512 among(const float* numbers, __m512i at) {
  if constexpr (Halvings == 0) {
    return _mm512_permutexvar_ps(at, _mm512_loadu_ps(numbers));
  } else if constexpr (Halvings == 1) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(numbers), at, _mm512_loadu_ps(numbers + kLanes));
  } else {
    constexpr int kHalf = 8 << Halvings;
    const __mmask16 high = _mm512_test_epi32_mask(at, _mm512_set1_epi32(kHalf));
    return _mm512_mask_blend_ps(high, among<Halvings - 1>(numbers, at),
                                among<Halvings - 1>(numbers + kHalf, at));
  }
}

template <unsigned Level, unsigned Steps, bool Ties>
void search(const float* table, const __m512 (&x)[4], __m512i (&at)[4], __mmask16 (&tied)[4]) {
  if constexpr (Level < Steps) {
    for (std::size_t b = 0; b < 4; ++b) {
      const __m512 threshold = among<(Level > 4 ? Level - 4 : 0)>(table + rank_level(Level), at[b]);
      const __mmask16 right = _mm512_cmp_ps_mask(x[b], threshold, _CMP_NLT_UQ);
      if constexpr (Ties) tied[b] |= _mm512_cmp_ps_mask(x[b], threshold, _CMP_EQ_OQ);
      const __m512i left = _mm512_add_epi32(at[b], at[b]);
      at[b] = _mm512_mask_add_epi32(left, right, left, _mm512_set1_epi32(1));
    }
    search<Level + 1, Steps, Ties>(table, x, at, tied);
  }
}

template <unsigned Steps, bool Ties>
[[gnu::flatten]] std::uint64_t rank_in(const float* table, const float* values, std::size_t block,
                                       std::uint8_t* to, std::uint8_t* left) {
  __m512 x[4];
  __m512i at[4];
  for (std::size_t b = 0; b < 4; ++b) {
    x[b] = _mm512_loadu_ps(values + b * block);
    at[b] = _mm512_setzero_si512();
  }
  __mmask16 tied[4] = {};
  search<0, Steps, Ties>(table, x, at, tied);
  const auto put = [](std::uint8_t* where, __m512i rank) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(where), _mm512_cvtepi32_epi8(rank));
  };
  for (std::size_t b = 0; b < 4; ++b) put(to + b * kLanes, at[b]);  // of NaN it is the highest
  for (std::size_t b = 0; b < 4 && left != nullptr; ++b) {
    const __mmask16 there = _mm512_cmp_ps_mask(x[b], x[b], _CMP_ORD_Q);
    put(left + b * kLanes, _mm512_maskz_mov_epi32(there, at[b]));
  }
  std::uint64_t ties = 0;
  for (std::size_t b = 0; b < 4 && Ties; ++b) ties |= std::uint64_t{tied[b]} << (b * kLanes);
  return ties;
}

template <bool Ties>
void rank_all(const SlicedInput* inputs, std::size_t count, const float* tables, const float* x,
              std::size_t width, std::uint8_t* ranks, std::uint8_t* left, std::uint64_t* ties) {
  using Rank = std::uint64_t (*)(const float*, const float*, std::size_t, std::uint8_t*, std::uint8_t*);
  constexpr Rank kBySteps[kRankSteps + 1] = {rank_in<0, Ties>, rank_in<1, Ties>, rank_in<2, Ties>,
                                             rank_in<3, Ties>, rank_in<4, Ties>, rank_in<5, Ties>,
                                             rank_in<6, Ties>, rank_in<7, Ties>, rank_in<8, Ties>};
  for (std::size_t i = 0; i < count; ++i) {
    const SlicedInput& input = inputs[i];
    const std::size_t to = i * kSliceRows;
    const std::uint64_t tied =
        kBySteps[input.steps](tables + input.table, x + input.input * kLanes, width * kLanes, ranks + to,
                              left == nullptr ? nullptr : left + to);
    if constexpr (Ties) ties[i] = tied;
  }
  _mm256_zeroupper();
}

void rank(const SlicedInput* inputs, std::size_t count, const float* tables, const float* x,
          std::size_t width, std::uint8_t* ranks, std::uint8_t* left, std::uint64_t* ties) {
  ties == nullptr ? rank_all<false>(inputs, count, tables, x, width, ranks, left, ties)
                  : rank_all<true>(inputs, count, tables, x, width, ranks, left, ties);
}

// -- from ranks to leaves ---

// Which way all rows go at splits.
void find_ways(const SlicedSplit* split, const SlicedSplit* end, const SliceRanks& ranks, Ways* ways) {
  for (; split != end; ++split) {
    const __m512i rank = _mm512_set1_epi8(static_cast<char>(split->rank));
    const std::uint8_t* const own = (split->missing_left ? ranks.left : ranks.right) + split->ranks;
    for (std::size_t g = 0; g < kGroups; ++g)
      ways[split->place][g] = _mm512_cmpge_epu8_mask(_mm512_load_si512(own + g * kGroup), rank);
  }
}

// To the leaves of a complete tree.
template <unsigned Depth>
[[gnu::flatten]] void find_complete(const Ways* ways, std::uint8_t* leaves) {
  const auto bits = leaves_below<Depth>(ways, 1);
  __m256i words[kDeepest];
  for (unsigned i = 0; i < kDeepest; ++i)
    words[i] = i < kDeepest - Depth ? _mm256_setzero_si256() : bits.bit[i + Depth - kDeepest];
  bytes_of(words, leaves);
}

// And to those of another, whose numbers have so many bits.
template <unsigned Bits>
[[gnu::flatten]] void find_other(const SlicedStep* step, const SlicedStep* end, const Ways* ways,
                                 std::uint8_t* leaves) {
  __m256i pile[kMostPiled][Bits];
  std::size_t piled = 0;
  for (; step != end; ++step) {
    if (step->leaf) {
      for (unsigned i = 0; i < Bits; ++i)
        pile[piled][i] = _mm256_set1_epi64x(-static_cast<long long>((step->number >> (Bits - 1 - i)) & 1));
      ++piled;
      continue;
    }
    --piled;
    const __m256i* const left = pile[step->left_on_top ? piled : piled - 1];
    const __m256i* const right = pile[step->left_on_top ? piled - 1 : piled];
    const __m256i goes_right = _mm256_load_si256(reinterpret_cast<const __m256i*>(ways[step->number]));
    for (unsigned i = 0; i < Bits; ++i)
      pile[piled - 1][i] = _mm256_ternarylogic_epi64(goes_right, right[i], left[i], kChoose);
  }
  __m256i words[kDeepest];
  for (unsigned i = 0; i < kDeepest; ++i)
    words[i] = i < kDeepest - Bits ? _mm256_setzero_si256() : pile[0][i + Bits - kDeepest];
  bytes_of(words, leaves);
}

// Trees whose leaves have numbers of so many bits.
template <unsigned Bits, bool Complete>
void walk_bits(const SlicedTrees& trees, const SliceRanks& ranks, std::int64_t* sums) {
  constexpr std::size_t kSlots = std::size_t{1} << Bits;
  alignas(32) Ways ways[kSortedTrees * kSlots] = {};
  const auto look = [&](std::size_t group) {
    find_ways(trees.splits + trees.first[group], trees.splits + trees.first[group + 1], ranks, ways);
  };
  sum_leaves<Bits>(trees, sums, look, [&](std::size_t tree, std::uint8_t* leaves) {
    const Ways* const own = ways + tree % kSortedTrees * kSlots;
    if constexpr (Complete) {
      find_complete<Bits>(own, leaves);
    } else {
      find_other<Bits>(trees.steps + trees.first_step[tree], trees.steps + trees.first_step[tree + 1], own,
                       leaves);
    }
  });
  _mm256_zeroupper();
}

template <unsigned Bits = 1>
void walk(const SlicedTrees& trees, const SliceRanks& ranks, std::int64_t* sums) {
  if constexpr (Bits < kDeepest) {
    if (trees.bits != Bits) return walk<Bits + 1>(trees, ranks, sums);
  }
  trees.depth > 0 ? walk_bits<Bits, true>(trees, ranks, sums) : walk_bits<Bits, false>(trees, ranks, sums);
}

}  // namespace

const SliceKernel kAvx512Slices{rank, walk<>, walk_turns_avx512};

}  // namespace harmonia

#endif
