#pragma once

// Normal numbers for many lanes at once, written once for every width. A source that includes it is compiled
// for one instruction set and gives the operations as V. All is in an unnamed namespace, so that nothing
// compiled for one processor is linked into what runs on another. Operation by operation it is what
// random.cpp does without vectors, so that the bits are the same.

#include <immintrin.h>

#include "normals.hpp"

namespace harmonia {
namespace {

// 4 × kLanes words of Philox, the blocks from `block` on.
template <class V>
void philox_words(const NormalsKey& key, std::uint32_t block, typename V::Ints* word) {
  word[0] = V::add(V::broadcast(block), V::lane_numbers());
  word[1] = V::broadcast(key.sample);
  word[2] = V::broadcast(key.row);
  word[3] = V::broadcast(key.stream);
  std::uint32_t k0 = key.seed_low, k1 = key.seed_high;
  for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    typename V::Ints a_low, a_high, b_low, b_high;
    V::multiply(word[0], kMultiply0, a_low, a_high);
    V::multiply(word[2], kMultiply1, b_low, b_high);
    word[0] = V::exclusive(V::exclusive(b_high, word[1]), V::broadcast(k0));
    word[2] = V::exclusive(V::exclusive(a_high, word[3]), V::broadcast(k1));
    word[1] = b_low;
    word[3] = a_low;
  }
}

// Box and Muller's two normal numbers a lane.
template <class V>
void normal_pair(typename V::Ints u, typename V::Ints v, float* first, float* second) {
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  const auto f = [](float value) { return V::broadcast(value); };
  const Floats uniform =
      V::least(V::fma(V::to_floats(V::template right<1>(u)), f(0x1p-31F), f(0x1p-32F)), f(0x1.fffffep-1F));
  const Ints bits = V::as_ints(uniform), above = V::subtract(bits, V::broadcast(0x3f3504f3U));
  const Floats exponent = V::to_floats(V::template right_signed<23>(above));
  const Floats m =
      V::subtract(V::as_floats(V::subtract(bits, V::both(above, V::broadcast(0xff800000U)))), f(1.0F));
  Floats p = f(7.0376836292e-2F);
  p = V::fma(p, m, f(-1.1514610310e-1F));
  p = V::fma(p, m, f(1.1676998740e-1F));
  p = V::fma(p, m, f(-1.2420140846e-1F));
  p = V::fma(p, m, f(1.4249322787e-1F));
  p = V::fma(p, m, f(-1.6668057665e-1F));
  p = V::fma(p, m, f(2.0000714765e-1F));
  p = V::fma(p, m, f(-2.4999993993e-1F));
  p = V::fma(p, m, f(3.3333331174e-1F));
  const Floats square = V::multiply(m, m);
  p = V::multiply(V::multiply(p, m), square);
  p = V::add(V::fma(f(-0.5F), square, p), m);
  const Floats radius = V::root(V::multiply(f(-2.0F), V::fma(exponent, f(0.69314718056F), p)));
  const Ints quarter = V::template right<30>(V::add(v, V::broadcast(0x20000000U)));
  const Ints left = V::subtract(v, V::template left<30>(quarter));
  const Floats x = V::multiply(V::to_floats(left), f(6.283185307179586F * 0x1p-32F)), z = V::multiply(x, x);
  Floats s = f(-1.9515295891e-4F);
  s = V::fma(s, z, f(8.3321608736e-3F));
  s = V::fma(s, z, f(-1.6666654611e-1F));
  s = V::fma(V::multiply(s, z), x, x);
  Floats c = f(2.443315711809948e-5F);
  c = V::fma(c, z, f(-1.388731625493765e-3F));
  c = V::fma(c, z, f(4.166664568298827e-2F));
  c = V::fma(V::multiply(c, z), z, V::fma(f(-0.5F), z, f(1.0F)));
  const auto sign = [](Ints q) { return V::template left<30>(V::both(q, V::broadcast(2U))); };
  const auto swap = V::odd(quarter);
  const Ints sine = V::exclusive(V::as_ints(V::choose(swap, c, s)), sign(quarter));
  const Ints cosine =
      V::exclusive(V::as_ints(V::choose(swap, s, c)), sign(V::add(quarter, V::broadcast(1U))));
  V::store(first, V::multiply(radius, V::as_floats(sine)));
  V::store(second, V::multiply(radius, V::as_floats(cosine)));
}

template <class V>
void normal_groups(const NormalsKey& key, std::uint32_t first_block, std::size_t groups, float* out) {
  for (std::size_t g = 0; g < groups; ++g, out += kNormalGroup) {
    for (std::size_t lane = 0; lane < kNormalLanes; lane += V::kLanes) {
      typename V::Ints word[4];
      philox_words<V>(key, first_block + static_cast<std::uint32_t>(g * kNormalLanes + lane), word);
      normal_pair<V>(word[0], word[1], out + lane, out + kNormalLanes + lane);
      normal_pair<V>(word[2], word[3], out + 2 * kNormalLanes + lane, out + 3 * kNormalLanes + lane);
    }
  }
}

}  // namespace
}  // namespace harmonia
