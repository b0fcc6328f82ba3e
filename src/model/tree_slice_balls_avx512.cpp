#if defined(__x86_64__)

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

// Where the bits of the leaves begin that points come to which turn off k levels below, of as many levels.
constexpr unsigned other_at(unsigned levels, unsigned k) {
  unsigned at = 0;
  for (unsigned above = 0; above < k; ++above) at += levels - 1 - above;
  return at;
}

// What rows and their points come to below a split.
template <unsigned Levels>
struct Turning {
  __m256i bit[Levels];   // as Below, of the rows
  __m256i near[Levels];  // of each level, whether a point turns off there
  /// And of the leaf that it comes to, the bits below that level.
  __m256i other[Levels > 1 ? other_at(Levels, Levels) : 1];
};

template <unsigned Levels>
[[gnu::always_inline]] inline Turning<Levels> turning_below(const Ways* ways, const Ways* near,
                                                            std::size_t heap) {
  Turning<Levels> found;
  const __m256i right = load(ways[heap]);
  found.bit[0] = right;
  found.near[0] = load(near[heap]);
  if constexpr (Levels > 1) {
    const auto on_left = turning_below<Levels - 1>(ways, near, 2 * heap);
    const auto on_right = turning_below<Levels - 1>(ways, near, 2 * heap + 1);
    for (unsigned i = 0; i + 1 < Levels; ++i) {
      found.bit[i + 1] = choose(right, on_right.bit[i], on_left.bit[i]);
      found.near[i + 1] = choose(right, on_right.near[i], on_left.near[i]);
      found.other[i] = choose(right, on_left.bit[i], on_right.bit[i]);
    }
    for (unsigned i = 0; i < other_at(Levels - 1, Levels - 1); ++i)
      found.other[Levels - 1 + i] = choose(right, on_right.other[i], on_left.other[i]);
  }
  return found;
}

// Splits of a column below one of it, `Level` levels from the root, see another value of a point that turned
// off there than of its row: finds the bits of the leaf that the point comes to, and of every row, whether it
// passes that split.
template <unsigned Depth, unsigned Level>
[[gnu::flatten]] void find_bent(Ways* ways, std::size_t heap, __m256i (&bits)[Depth], __m256i& passes) {
  passes = _mm256_set1_epi64x(-1);
  for (unsigned level = 0; level < Level; ++level) {
    const std::size_t child = heap >> (Level - 1 - level);
    const __m256i right = load(ways[child / 2]);
    passes = child % 2 == 1 ? _mm256_and_si256(passes, right) : _mm256_andnot_si256(right, passes);
  }
  if constexpr (Level + 1 < Depth) {
    const auto on_left = leaves_below<Depth - 1 - Level>(ways, 2 * heap);
    const auto on_right = leaves_below<Depth - 1 - Level>(ways, 2 * heap + 1);
    const __m256i right = load(ways[heap]);
    for (unsigned i = 0; i + 1 + Level < Depth; ++i) bits[i] = choose(right, on_left.bit[i], on_right.bit[i]);
  }
}

template <unsigned Depth, unsigned Level = 0>
void find_bent_on(unsigned level, Ways* ways, std::size_t heap, __m256i (&bits)[Depth], __m256i& passes) {
  if constexpr (Level + 1 < Depth) {
    if (level != Level) return find_bent_on<Depth, Level + 1>(level, ways, heap, bits, passes);
  }
  find_bent<Depth, Level>(ways, heap, bits, passes);
}

// What becomes of one split that others of its column lie below.
template <unsigned Depth>
struct Bent {
  unsigned level;
  __m256i bits[Depth], passes;
};

template <unsigned Depth>
std::size_t find_all_bent(const SlicedKin* kin, const SlicedKin* end, Ways* ways, const Ways* near,
                          Bent<Depth>* bent) {
  std::size_t count = 0;
  while (kin != end) {
    const SlicedKin* last = kin;
    alignas(32) Ways kept[std::size_t{1} << Depth];
    for (; last != end && last->upper == kin->upper; ++last) {
      const std::size_t lower = last->lower;
      const __m256i way = load(ways[lower]);
      store(kept[last - kin], way);
      // A point that went right has a larger value.
      store(ways[lower], last->right ? _mm256_or_si256(way, load(near[lower]))
                                     : _mm256_andnot_si256(load(near[lower]), way));
    }
    Bent<Depth>& found = bent[count++];
    found.level = static_cast<unsigned>(31 - __builtin_clz(kin->upper));
    find_bent_on<Depth>(found.level, ways, kin->upper, found.bits, found.passes);
    for (const SlicedKin* each = kin; each != last; ++each) store(ways[each->lower], load(kept[each - kin]));
    kin = last;
  }
  return count;
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

// Points of a tree that come to another leaf than their row.
struct TurnedList {
  std::size_t count = 0;
  // Their row, and levels below the split where they turn off.
  std::uint8_t row[kDeepest * kSliceRows + kGroup], below[kDeepest * kSliceRows + kGroup];
  alignas(64)
      std::uint8_t others[kDeepest * kSliceRows];  // of so many levels below, the leaf of every row's point

  void add(__m256i of, unsigned levels) {
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
      _mm512_storeu_si512(below + count, _mm512_set1_epi8(static_cast<char>(levels)));
      count += static_cast<std::size_t>(__builtin_popcountll(words[g]));
    }
  }
};

template <unsigned Depth>
[[gnu::flatten]] void find_turned(const Ways* ways, const Ways* near, const Bent<Depth>* bent,
                                  std::size_t count, __m256i meant, std::uint8_t* leaves, TurnedList& list) {
  Turning<Depth> found = turning_below<Depth>(ways, near, 1);
  for (const Bent<Depth>* each = bent; each != bent + count; ++each) {
    __m256i* const other = found.other + other_at(Depth, each->level);
    for (unsigned i = 0; i + 1 + each->level < Depth; ++i)
      other[i] = choose(each->passes, each->bits[i], other[i]);
  }
  __m256i words[kDeepest];
  for (unsigned i = 0; i < kDeepest; ++i)
    words[i] = i < kDeepest - Depth ? _mm256_setzero_si256() : found.bit[i + Depth - kDeepest];
  bytes_of(words, leaves);
  list.count = 0;
  for (unsigned level = 0; level < Depth; ++level) {
    __m256i others[kDeepest];
    for (unsigned i = 0; i < kDeepest; ++i) others[i] = words[i];
    __m256i* const own = others + kDeepest - Depth;
    own[level] = _mm256_xor_si256(own[level], _mm256_set1_epi64x(-1));
    for (unsigned i = level + 1; i < Depth; ++i) own[i] = found.other[other_at(Depth, level) + i - level - 1];
    const unsigned below = Depth - 1 - level;
    bytes_of(others, list.others + below * kSliceRows);
    list.add(_mm256_and_si256(found.near[level], meant), below);
  }
}

// Where the sums of such points are, and what they get: found for a tree while that memory is still on its
// way, and added after the next one.
struct TurnedSums {
  std::size_t count = 0;
  std::uint64_t place[kDeepest * kSliceRows];  // of a sum, and above 32 bits that of its mark
  std::int64_t more[kDeepest * kSliceRows];

  template <unsigned Depth>
  void find(const TurnedList& list, const std::uint8_t* rows, const std::int64_t* leaves,
            const std::uint32_t* places, const SliceSums& to) {
    constexpr std::uint32_t kSlots = 1U << Depth;
    const auto both = [](std::size_t sum, std::size_t mark) { return std::uint64_t{mark} << 32 | sum; };
    // Of the point of each side at each split.
    std::uint64_t of_side[2 * kSlots];
    const std::uint64_t a_place = both(to.place_sums, 1);
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      of_side[2 * slot] = places[slot] * a_place + to.side_sums[0];
      of_side[2 * slot + 1] = places[slot] * a_place + to.side_sums[1];
    }
    const std::uint64_t a_row = both(to.row_sums, to.row_marks);
    const std::int64_t* const sums = to.sums;
    for (std::size_t i = 0; i < list.count; ++i) {
      const std::uint32_t row = list.row[i], below = list.below[i], leaf = rows[row];
      const std::uint64_t at = row * a_row + of_side[(kSlots | leaf) >> below];
      place[i] = at;
      more[i] = leaves[list.others[below * kSliceRows + row]] - leaves[leaf];
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

template <unsigned Depth>
void walk_depth(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  constexpr std::size_t kSlots = std::size_t{1} << Depth;
  alignas(32) Ways ways[kSortedTrees * kSlots] = {}, near[kSortedTrees * kSlots] = {};
  alignas(32) Ways meant_words;
  for (std::size_t g = 0; g < kGroups; ++g) {
    const std::size_t before = g * kGroup, left = to.rows > before ? to.rows - before : 0;
    meant_words[g] = left >= kGroup ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  }
  const __m256i meant = load(meant_words);
  Bent<Depth> bent[kSlots];
  TurnedList list;
  TurnedSums turned;
  const auto look = [&](std::size_t group) {
    const SlicedSplit* const first = trees.splits + trees.first[group];
    const SlicedSplit* const last = trees.splits + trees.first[group + 1];
    if (last - first < static_cast<std::ptrdiff_t>(kSortedTrees * (kSlots - 1)))
      for (Ways& each : near) store(each, _mm256_setzero_si256());
    find_ways_and_near(first, last, ranks, reach, ways, near);
  };
  sum_leaves<Depth>(trees, sums, look, [&](std::size_t tree, std::uint8_t* leaves) {
    Ways* const own = ways + tree % kSortedTrees * kSlots;
    Ways* const own_near = near + tree % kSortedTrees * kSlots;
    const SlicedKin* const kin = turns.kin + turns.first_kin[tree];
    const SlicedKin* const end = turns.kin + turns.first_kin[tree + 1];
    const std::size_t count = find_all_bent<Depth>(kin, end, own, own_near, bent);
    drop_turned(kin, end, own, own_near);
    find_turned<Depth>(own, own_near, bent, count, meant, leaves, list);
    turned.add(to);
    turned.find<Depth>(list, leaves, turns.leaves + (tree << Depth), turns.places + (tree << Depth), to);
  });
  turned.add(to);
  _mm256_zeroupper();
}

template <unsigned Depth = 1>
void walk_any_depth(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                    const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  if constexpr (Depth < kDeepest) {
    if (trees.depth != Depth) return walk_any_depth<Depth + 1>(trees, turns, ranks, reach, to, sums);
  }
  walk_depth<Depth>(trees, turns, ranks, reach, to, sums);
}

}  // namespace

void walk_turns_avx512(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                       const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  walk_any_depth(trees, turns, ranks, reach, to, sums);
}

}  // namespace harmonia

#endif
