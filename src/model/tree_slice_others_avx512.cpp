#if defined(__x86_64__)

#include "tree_slice_turns_simd.hpp"

namespace harmonia {
namespace {

// What rows and their points come to below a split, or at a leaf: the bits of the leaves' numbers, and of
// every level from the split's own to before `end`, whether a point turns off there, and the bits of the leaf
// that it comes to.
template <unsigned Bits>
struct Piled {
  __m256i bit[Bits];
  unsigned end;
  __m256i near[kMostTurnLevels], other[kMostTurnLevels][Bits];
};

// The bits of a leaf's number, highest first, for every row.
template <unsigned Bits>
void put_number(std::uint8_t number, __m256i (&bit)[Bits]) {
  for (unsigned i = 0; i < Bits; ++i)
    bit[i] = _mm256_set1_epi64x(-static_cast<long long>((number >> (Bits - 1 - i)) & 1));
}

// By steps that end with two numbers on the pile, those of a split's children: the bits of the leaf that rows
// come to which go the other way at the split.
template <unsigned Bits>
[[gnu::flatten]] void find_bent(const SlicedStep* step, const SlicedStep* own, const Ways* ways,
                                __m256i (&found)[Bits]) {
  __m256i pile[kMostPiled][Bits];
  std::size_t piled = 0;
  const auto give_way = [&](const SlicedStep& split, bool turned, __m256i* to) {
    const __m256i* const left = pile[split.left_on_top ? piled : piled - 1];
    const __m256i* const right = pile[split.left_on_top ? piled - 1 : piled];
    const __m256i goes_right = load(ways[split.number]);
    for (unsigned i = 0; i < Bits; ++i)
      to[i] = turned ? choose(goes_right, left[i], right[i]) : choose(goes_right, right[i], left[i]);
  };
  for (; step != own; ++step) {
    if (step->leaf) {
      put_number<Bits>(step->number, pile[piled++]);
    } else {
      --piled;
      give_way(*step, false, pile[piled - 1]);
    }
  }
  --piled;
  give_way(*own, true, found);
}

// Of all bends of a tree, in their order.
template <unsigned Bits>
void find_all_bent(const SlicedTurns& turns, const SlicedBend* bend, const SlicedBend* end,
                   const SlicedStep* steps, Ways* ways, const Ways* near, __m256i (*found)[Bits]) {
  alignas(32) Ways kept[std::size_t{1} << Bits];
  for (; bend != end; ++bend, ++found) {
    const SlicedKin *const first = turns.kin + bend->first_kin, *const last = turns.kin + bend->last_kin;
    bend_ways(first, last, near, ways, kept);
    find_bent<Bits>(steps + bend->first_step, steps + bend->own_step, ways, *found);
    unbend_ways(first, last, kept, ways);
  }
}

template <unsigned Bits>
[[gnu::flatten]] void find_turned(const SlicedStep* steps, std::uint32_t first, std::uint32_t last,
                                  const SlicedBend* bend, const SlicedBend* bends_end,
                                  const __m256i (*bent)[Bits], const Ways* ways, const Ways* near,
                                  Piled<Bits>* pile) {
  std::size_t piled = 0;
  for (std::uint32_t at = first; at < last; ++at) {
    const SlicedStep& step = steps[at];
    if (step.leaf) {
      put_number<Bits>(step.number, pile[piled].bit);
      pile[piled++].end = step.level;
      continue;
    }
    --piled;
    Piled<Bits>& to = pile[piled - 1];
    const Piled<Bits>& left = pile[step.left_on_top ? piled : piled - 1];
    const Piled<Bits>& right = pile[step.left_on_top ? piled - 1 : piled];
    const __m256i goes_right = load(ways[step.number]);
    const unsigned both = left.end < right.end ? left.end : right.end;
    const unsigned end = left.end < right.end ? right.end : left.end;
    for (unsigned level = step.level + 1U; level < both; ++level) {
      to.near[level] = choose(goes_right, right.near[level], left.near[level]);
      for (unsigned i = 0; i < Bits; ++i)
        to.other[level][i] = choose(goes_right, right.other[level][i], left.other[level][i]);
    }
    // On levels that one of them alone has.
    const bool left_deeper = right.end < left.end;
    const Piled<Bits>& deeper = left_deeper ? left : right;
    for (unsigned level = both; level < end; ++level) {
      to.near[level] = left_deeper ? _mm256_andnot_si256(goes_right, deeper.near[level])
                                   : _mm256_and_si256(goes_right, deeper.near[level]);
      for (unsigned i = 0; i < Bits; ++i) to.other[level][i] = deeper.other[level][i];
    }
    to.near[step.level] = load(near[step.number]);
    const bool is_bent = bend != bends_end && bend->own_step == at;
    for (unsigned i = 0; i < Bits; ++i) {
      const __m256i on_left = left.bit[i], on_right = right.bit[i];
      to.other[step.level][i] = is_bent ? (*bent)[i] : choose(goes_right, on_left, on_right);
      to.bit[i] = choose(goes_right, on_right, on_left);
    }
    to.end = end;
    if (is_bent) {
      ++bend;
      ++bent;
    }
  }
}

template <unsigned Bits>
void list_turned(const Piled<Bits>& root, __m256i meant, std::uint8_t* leaves, TurnedList& list) {
  const auto put = [](const __m256i(&bit)[Bits], std::uint8_t* to) {
    __m256i words[kDeepest];
    for (unsigned i = 0; i < kDeepest; ++i)
      words[i] = i < kDeepest - Bits ? _mm256_setzero_si256() : bit[i + Bits - kDeepest];
    bytes_of(words, to);
  };
  put(root.bit, leaves);
  list.count = 0;
  for (unsigned level = 0; level < root.end; ++level) {
    const __m256i turned = _mm256_and_si256(root.near[level], meant);
    if (_mm256_testz_si256(turned, turned)) continue;
    put(root.other[level], list.others + level * kSliceRows);
    list.add(turned, level);
  }
}

template <unsigned Bits>
void walk_bits(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
               const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  const __m256i meant = meant_rows(to.rows);
  const std::uint64_t a_place = both_places(to.place_sums, 1);
  Piled<Bits> pile[kMostPiled];
  __m256i bent[std::size_t{1} << Bits][Bits];
  const auto find = [&](std::size_t tree, Ways* ways, Ways* near, std::uint8_t* leaves, TurnedList& list) {
    const SlicedBend* const bends = turns.bends + turns.first_bend[tree];
    const SlicedBend* const end = turns.bends + turns.first_bend[tree + 1];
    find_all_bent<Bits>(turns, bends, end, trees.steps, ways, near, bent);
    if (bends != end) drop_turned(turns.kin + bends->first_kin, turns.kin + (end - 1)->last_kin, ways, near);
    find_turned<Bits>(trees.steps, trees.first_step[tree], trees.first_step[tree + 1], bends, end, bent, ways,
                      near, pile);
    list_turned<Bits>(pile[0], meant, leaves, list);
  };
  walk_turning<Bits, false>(trees, turns, ranks, reach, to, sums, find,
                            [&](std::size_t tree, std::uint32_t leaf, std::uint32_t level) {
                              const std::size_t number = (tree << Bits) + leaf;
                              const std::uint32_t place = turns.above[number * turns.levels + level];
                              return (place >> 1) * a_place + to.side_sums[place & 1U];
                            });
}

template <unsigned Bits = 1>
void walk_any(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
              const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  if constexpr (Bits < kDeepest) {
    if (trees.bits != Bits) return walk_any<Bits + 1>(trees, turns, ranks, reach, to, sums);
  }
  walk_bits<Bits>(trees, turns, ranks, reach, to, sums);
}

}  // namespace

void walk_other_turns_avx512(const SlicedTrees& trees, const SlicedTurns& turns, const SliceRanks& ranks,
                             const SliceReach& reach, const SliceSums& to, std::int64_t* sums) {
  walk_any(trees, turns, ranks, reach, to, sums);
}

}  // namespace harmonia

#endif
