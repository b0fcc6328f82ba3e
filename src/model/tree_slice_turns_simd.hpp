#pragma once

// What points need that turn off in slices of bits, whatever the shape of trees (see tree_slice_balls.hpp).

#include "tree_slices_simd.hpp"

namespace harmonia {
namespace {

constexpr int kNotLast = 0x2A;     // of three bits: the third, unless the first and the second
constexpr int kUnlessOnly = 0x8A;  // the third, unless the first without the second

__m256i load(const std::uint64_t (&words)[kGroups]) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
}
void store(std::uint64_t (&words)[kGroups], __m256i bits) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), bits);
}
__m256i choose(__m256i which, __m256i one, __m256i other) {
  return _mm256_ternarylogic_epi64(which, one, other, kChoose);
}

// As find_ways(), and of every split: of every row a bit, one of its two points is beyond the threshold.
void find_ways_and_near(const SlicedSplit* split, const SlicedSplit* end, const SliceRanks& ranks,
                        const SliceReach& reach, Ways* ways, Ways* near) {
  const __m512i one = _mm512_set1_epi8(1);
  for (; split != end; ++split) {
    const __m512i rank = _mm512_set1_epi8(static_cast<char>(split->rank));
    const __m512i before = _mm512_sub_epi8(rank, one);
    const std::size_t place = split->place, first = split->ranks;
    const std::uint8_t* const own = (split->missing_left ? ranks.left : ranks.right) + first;
    const std::uint8_t* const low = reach.low + first;
    const std::uint8_t* const further = reach.further + first;
    for (std::size_t g = 0; g < kGroups; ++g) {
      ways[place][g] = _mm512_cmpge_epu8_mask(_mm512_load_si512(own + g * kGroup), rank);
      // low < rank and rank <= low + further
      const __m512i above = _mm512_sub_epi8(before, _mm512_load_si512(low + g * kGroup));
      near[place][g] = _mm512_cmplt_epu8_mask(above, _mm512_load_si512(further + g * kGroup));
    }
  }
}

// Splits of a column below one of it see another value of a point that turned off there than of its row:
// sets their ways to those of the point, and keeps what they were.
void bend_ways(const SlicedKin* kin, const SlicedKin* end, const Ways* near, Ways* ways, Ways* kept) {
  for (; kin != end; ++kin, ++kept) {
    const __m256i way = load(ways[kin->lower]), beyond = load(near[kin->lower]);
    store(*kept, way);
    // A point that went right has a larger value.
    store(ways[kin->lower], kin->right ? _mm256_or_si256(way, beyond) : _mm256_andnot_si256(beyond, way));
  }
}
void unbend_ways(const SlicedKin* kin, const SlicedKin* end, const Ways* kept, Ways* ways) {
  for (; kin != end; ++kin, ++kept) store(ways[kin->lower], load(*kept));
}

// Points that turned off at a split of their column are not there at those below.
void drop_turned(const SlicedKin* kin, const SlicedKin* end, const Ways* ways, Ways* near) {
  for (; kin != end; ++kin) {
    const __m256i above = load(near[kin->upper]), way = load(ways[kin->lower]), own = load(near[kin->lower]);
    // Below on the left, those that turned off are above their rows, and turn where their rows go left.
    store(near[kin->lower], kin->right ? _mm256_ternarylogic_epi64(above, way, own, kNotLast)
                                       : _mm256_ternarylogic_epi64(above, way, own, kUnlessOnly));
  }
}

// Of every row a bit, it is meant.
__m256i meant_rows(std::size_t rows) {
  alignas(32) Ways words;
  for (std::size_t g = 0; g < kGroups; ++g) {
    const std::size_t before = g * kGroup, left = rows > before ? rows - before : 0;
    words[g] = left >= kGroup ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  }
  return load(words);
}

// Points of a tree that come to another leaf than their row.
struct TurnedList {
  std::size_t count = 0;
  // Their row, and the level where they turn off.
  std::uint8_t row[kMostTurnLevels * kSliceRows + kGroup], level[kMostTurnLevels * kSliceRows + kGroup];
  // Of every level, the leaf that the point of every row comes to.
  alignas(64) std::uint8_t others[kMostTurnLevels * kSliceRows];

  void add(__m256i of, unsigned at) {
    alignas(32) Ways words;
    store(words, of);
    alignas(64) static constexpr auto kNumbers = [] {
      struct {
        std::uint8_t at[kGroup];
      } numbers{};
      for (std::size_t i = 0; i < kGroup; ++i) numbers.at[i] = static_cast<std::uint8_t>(i);
      return numbers;
    }();
    for (std::size_t g = 0; g < kGroups; ++g) {
      const __m512i numbers =
          _mm512_add_epi8(_mm512_load_si512(kNumbers.at), _mm512_set1_epi8(static_cast<char>(g * kGroup)));
      _mm512_storeu_si512(row + count, _mm512_maskz_compress_epi8(words[g], numbers));
      _mm512_storeu_si512(level + count, _mm512_set1_epi8(static_cast<char>(at)));
      count += static_cast<std::size_t>(__builtin_popcountll(words[g]));
    }
  }
};

// Places of a sum, and of its mark.
std::uint64_t both_places(std::size_t sum, std::size_t mark) { return std::uint64_t{mark} << 32 | sum; }

// Where the sums of such points are, and what they get: found for a tree while that memory is still on its
// way, and added after the next one.
struct TurnedSums {
  std::size_t count = 0;
  std::uint64_t place[kMostTurnLevels * kSliceRows];  // of a sum, and above 32 bits that of its mark
  std::int64_t more[kMostTurnLevels * kSliceRows];

  // `place_of(leaf, level)`: of a point that turns off there.
  template <class PlaceOf>
  void find(const TurnedList& list, const std::uint8_t* rows, const std::int64_t* leaves, const SliceSums& to,
            const PlaceOf& place_of) {
    const std::uint64_t a_row = both_places(to.row_sums, to.row_marks);
    const std::int64_t* const sums = to.sums;
    for (std::size_t i = 0; i < list.count; ++i) {
      const std::uint32_t row = list.row[i], level = list.level[i], leaf = rows[row];
      const std::uint64_t at = row * a_row + place_of(leaf, level);
      place[i] = at;
      more[i] = leaves[list.others[level * kSliceRows + row]] - leaves[leaf];
      __builtin_prefetch(sums + static_cast<std::uint32_t>(at), 1);
    }
    count = list.count;
  }
  void add(const SliceSums& to) {
    std::int64_t* const sums = to.sums;
    unsigned char* const marks = to.marks;
    for (std::size_t i = 0; i < count; ++i) {
      sums[static_cast<std::uint32_t>(place[i])] += more[i];
      marks[place[i] >> 32] = 1;
    }
    count = 0;
  }
};

// Walks trees whose leaves have numbers of so many bits: find(tree, ways, near, leaves, list) finds the
// leaves of rows and lists the points that turn off, place_of(tree, leaf, level) is that of such a point's
// sum and mark.
template <unsigned Bits, bool Complete, class Find, class PlaceOf>
void walk_turning(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                  const SliceReach& reach, const SliceSums& to, std::int64_t* sums, const Find& find,
                  const PlaceOf& place_of) {
  constexpr std::size_t kSlots = std::size_t{1} << Bits;
  alignas(32) Ways ways[kSortedTrees * kSlots] = {}, near[kSortedTrees * kSlots] = {};
  TurnedList list;
  TurnedSums turned;
  const auto look = [&](std::size_t group) {
    const SlicedSplit* const first = trees.splits + trees.first[group];
    const SlicedSplit* const last = trees.splits + trees.first[group + 1];
    // No point turns off below a leaf.
    if (Complete && last - first < static_cast<std::ptrdiff_t>(kSortedTrees * (kSlots - 1)))
      for (Ways& each : near) store(each, _mm256_setzero_si256());
    find_ways_and_near(first, last, ranks, reach, ways, near);
  };
  sum_leaves<Bits>(trees, sums, look, [&](std::size_t tree, std::uint8_t* leaves) {
    const std::size_t own = tree % kSortedTrees * kSlots;
    find(tree, ways + own, near + own, leaves, list);
    turned.add(to);
    turned.find(list, leaves, turns.leaves + (tree << Bits), to,
                [&](std::uint32_t leaf, std::uint32_t level) { return place_of(tree, leaf, level); });
  });
  turned.add(to);
  _mm256_zeroupper();
}

}  // namespace
}  // namespace harmonia
