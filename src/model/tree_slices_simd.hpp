#pragma once

// What rows and balls share on their way through slices of bits (see tree_slices.hpp). Included by sources
// that are compiled for AVX-512 with VBMI and GFNI.

#include <immintrin.h>

#include "tree_slice_walk.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kGroup = 64;                    // rows, a byte each of a vector
constexpr std::size_t kGroups = kSliceRows / kGroup;  // a bit each of a word
constexpr unsigned kDeepest = 8;
constexpr std::size_t kTogether = 32;     // trees whose leaves are known before they are summed
constexpr std::size_t kMostSummed = 256;  // trees, whose bytes add up to 16 bits

// -- from splits to leaves ---

constexpr int kChoose = 0xCA;         // of three bits: if the first, the second, else the third
using Ways = std::uint64_t[kGroups];  // of a split: of every row a bit, it goes right

// The bits of the number, below a split, of the leaf that rows would come to from there; the first is the
// way at the split itself.
template <unsigned Levels>
struct Below {
  __m256i bit[Levels];
};

template <unsigned Levels>
[[gnu::always_inline]] inline Below<Levels> leaves_below(const Ways* ways, std::size_t heap) {
  Below<Levels> found;
  const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(ways[heap]));
  found.bit[0] = right;
  if constexpr (Levels > 1) {
    const auto on_left = leaves_below<Levels - 1>(ways, 2 * heap);
    const auto on_right = leaves_below<Levels - 1>(ways, 2 * heap + 1);
    for (unsigned i = 0; i + 1 < Levels; ++i)
      found.bit[i + 1] = _mm256_ternarylogic_epi64(right, on_right.bit[i], on_left.bit[i], kChoose);
  }
  return found;
}

// From a bit of every row in each of eight words, the first one highest, to a byte of every row.
void bytes_of(const __m256i (&words)[8], std::uint8_t* to) {
  __m512i two[4];
  for (std::size_t i = 0; i < 4; ++i)
    two[i] = _mm512_inserti64x4(_mm512_castsi256_si512(words[2 * i]), words[2 * i + 1], 1);
  alignas(64) static constexpr auto kTurned = [] {
    struct {
      std::uint8_t at[64];
    } turned{};
    for (unsigned row = 0; row < 8; ++row)
      for (unsigned word = 0; word < 8; ++word)
        turned.at[8 * row + word] =
            static_cast<std::uint8_t>((word < 4 ? 8 * word : 64 + 8 * (word - 4)) + row);
    return turned;
  }();
  const __m512i turned = _mm512_load_si512(kTurned.at);
  const __m512i diagonal = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ULL));
  for (std::size_t g = 0; g < kGroups; ++g) {
    const __m512i of_group = _mm512_add_epi64(_mm512_setr_epi64(0, 4, 8, 12, 0, 4, 8, 12),
                                              _mm512_set1_epi64(static_cast<long long>(g)));
    const __m512i low = _mm512_permutex2var_epi64(two[0], of_group, two[1]);
    const __m512i high = _mm512_permutex2var_epi64(two[2], of_group, two[3]);
    const __m512i eights = _mm512_permutex2var_epi8(low, turned, high);
    _mm512_storeu_si512(to + g * kGroup, _mm512_gf2p8affine_epi64_epi8(diagonal, eights, 0));
  }
}

// -- sums ---

// One byte of the leaves of 64 rows.
template <unsigned Depth>
__m512i byte_of(const std::uint8_t* bytes, __m512i leaf) {
  if constexpr (Depth <= 6) {
    return _mm512_permutexvar_epi8(leaf, _mm512_loadu_si512(bytes));
  } else if constexpr (Depth == 7) {
    return _mm512_permutex2var_epi8(_mm512_loadu_si512(bytes), leaf, _mm512_loadu_si512(bytes + 64));
  } else {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(leaf), byte_of<7>(bytes, leaf),
                                  byte_of<7>(bytes + 128, leaf));
  }
}

// Of every byte and every group: the sums of pairs of rows as numbers of 16 bits, of which the low byte is
// the first row's, and those of the second rows alone.
struct ByteSums {
  __m512i pairs[kLeafBytes][kGroups], seconds[kLeafBytes][kGroups];
};

template <unsigned Depth>
[[gnu::flatten]] void add_leaves(const std::uint8_t* bytes, const std::uint8_t* leaves, std::size_t trees,
                                 ByteSums& sums) {
  constexpr std::size_t kLeaves = Depth <= 6 ? 64 : std::size_t{1} << Depth;
  for (std::size_t byte = 0; byte < kLeafBytes; ++byte) {
    __m512i pairs[kGroups], seconds[kGroups];
    for (std::size_t g = 0; g < kGroups; ++g) {
      pairs[g] = sums.pairs[byte][g];
      seconds[g] = sums.seconds[byte][g];
    }
    for (std::size_t tree = 0; tree < trees; ++tree) {
      const std::uint8_t* const own = bytes + (tree * kLeafBytes + byte) * kLeaves;
      for (std::size_t g = 0; g < kGroups; ++g) {
        const __m512i found =
            byte_of<Depth>(own, _mm512_loadu_si512(leaves + tree * kSliceRows + g * kGroup));
        pairs[g] = _mm512_add_epi16(pairs[g], found);
        seconds[g] = _mm512_add_epi16(seconds[g], _mm512_srli_epi16(found, 8));
      }
    }
    for (std::size_t g = 0; g < kGroups; ++g) {
      sums.pairs[byte][g] = pairs[g];
      sums.seconds[byte][g] = seconds[g];
    }
  }
}

// Adds what the bytes come to, each times its place, without regard to what is above 64 bits.
void take_sums(const ByteSums& bytes, std::int64_t* sums) {
  for (std::size_t g = 0; g < kGroups; ++g) {
    std::uint64_t total[kGroup] = {};
    for (std::size_t byte = 0; byte < kLeafBytes; ++byte) {
      std::uint16_t pairs[kGroup / 2], seconds[kGroup / 2];
      _mm512_storeu_si512(pairs, bytes.pairs[byte][g]);
      _mm512_storeu_si512(seconds, bytes.seconds[byte][g]);
      for (std::size_t i = 0; i < kGroup / 2; ++i) {
        const auto first = static_cast<std::uint16_t>(pairs[i] - (seconds[i] << 8));
        total[2 * i] += std::uint64_t{first} << (8 * byte);
        total[2 * i + 1] += std::uint64_t{seconds[i]} << (8 * byte);
      }
    }
    for (std::size_t i = 0; i < kGroup; ++i) {
      std::int64_t& sum = sums[g * kGroup + i];
      sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + total[i]);
    }
  }
}

// Adds the leaves that rows come to in trees whose leaves have numbers of so many bits: look(group) looks at
// the splits of kSortedTrees trees, find(tree, leaves) finds the leaves of one of them.
template <unsigned Bits, class Look, class Find>
void sum_leaves(const SlicedTrees& trees, std::int64_t* sums, const Look& look, const Find& find) {
  static_assert(kTogether % kSortedTrees == 0 && kMostSummed % kTogether == 0);
  constexpr std::size_t kLeaves = Bits <= 6 ? 64 : std::size_t{1} << Bits;
  alignas(64) std::uint8_t leaves[kTogether * kSliceRows];
  for (std::size_t first = 0; first < trees.count; first += kMostSummed) {
    const std::size_t last = trees.count - first < kMostSummed ? trees.count : first + kMostSummed;
    ByteSums bytes{};
    for (std::size_t tree = first; tree < last; tree += kTogether) {
      const std::size_t count = last - tree < kTogether ? last - tree : kTogether;
      for (std::size_t i = 0; i < count; ++i) {
        if (i % kSortedTrees == 0) look((tree + i) / kSortedTrees);
        find(tree + i, leaves + i * kSliceRows);
      }
      add_leaves<Bits>(trees.leaves + tree * kLeafBytes * kLeaves, leaves, count, bytes);
    }
    take_sums(bytes, sums);
  }
}

}  // namespace
}  // namespace harmonia
