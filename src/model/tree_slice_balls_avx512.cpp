#if defined(__x86_64__)

#include "tree_slice_turns_simd.hpp"

namespace harmonia {
namespace {

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

// Of a split `Level` levels from the root, below which ways are bent: the bits of the leaf that a point comes
// to which turned off there, and of every row, whether it passes that split.
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
  alignas(32) Ways kept[std::size_t{1} << Depth];
  while (kin != end) {
    const SlicedKin* last = kin;
    while (last != end && last->upper == kin->upper) ++last;
    bend_ways(kin, last, near, ways, kept);
    Bent<Depth>& found = bent[count++];
    found.level = static_cast<unsigned>(31 - __builtin_clz(kin->upper));
    find_bent_on<Depth>(found.level, ways, kin->upper, found.bits, found.passes);
    unbend_ways(kin, last, kept, ways);
    kin = last;
  }
  return count;
}

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
    bytes_of(others, list.others + level * kSliceRows);
    list.add(_mm256_and_si256(found.near[level], meant), level);
  }
}

template <unsigned Depth>
void walk_depth(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  constexpr std::size_t kSlots = std::size_t{1} << Depth;
  const __m256i meant = meant_rows(to.rows);
  const std::uint64_t a_place = both_places(to.place_sums, 1);
  Bent<Depth> bent[kSlots];
  std::uint64_t places[2 * kSlots];  // of the points of each side at each split
  const auto find = [&](std::size_t tree, Ways* ways, Ways* near, std::uint8_t* leaves, TurnedList& list) {
    const SlicedKin* const kin = turns.kin + turns.first_kin[tree];
    const SlicedKin* const end = turns.kin + turns.first_kin[tree + 1];
    const std::size_t count = find_all_bent<Depth>(kin, end, ways, near, bent);
    drop_turned(kin, end, ways, near);
    find_turned<Depth>(ways, near, bent, count, meant, leaves, list);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const std::uint64_t place = turns.places[(tree << Depth) + slot] * a_place;
      places[2 * slot] = place + to.side_sums[0];
      places[2 * slot + 1] = place + to.side_sums[1];
    }
  };
  walk_turning<Depth, true>(trees, turns, ranks, reach, to, sums, find,
                            [&](std::size_t, std::uint32_t leaf, std::uint32_t level) {
                              return places[(kSlots | leaf) >> (Depth - 1 - level)];
                            });
}

template <unsigned Depth = 1>
void walk_complete(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                   const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  if constexpr (Depth < kDeepest) {
    if (trees.depth != Depth) return walk_complete<Depth + 1>(trees, turns, ranks, reach, to, sums);
  }
  walk_depth<Depth>(trees, turns, ranks, reach, to, sums);
}

}  // namespace

void walk_turns_avx512(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                       const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  trees.depth > 0 ? walk_complete(trees, turns, ranks, reach, to, sums)
                  : walk_other_turns_avx512(trees, turns, ranks, reach, to, sums);
}

}  // namespace harmonia

#endif
