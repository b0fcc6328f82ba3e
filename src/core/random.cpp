#include "harmonia/core/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "normals.hpp"

namespace harmonia {
namespace {

// The counter is (block, sample, row, stream): the block varies fastest, as features do.
std::array<std::uint32_t, 4> counter_of(const DrawKey& key, std::uint32_t block) {
  return {block, static_cast<std::uint32_t>(key.sample), static_cast<std::uint32_t>(key.row),
          static_cast<std::uint32_t>(key.stream)};
}

std::array<std::uint32_t, 2> key_of(const DrawKey& key) {
  return {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)};
}

// One group of 64 normals. Every operation is correctly rounded, so that all paths give the same bits.
// Polynomials: Cephes' logf, sinf, cosf.
void normal_group(const NormalsKey& key, std::uint32_t first_block, float* out) {
  std::uint32_t word[4][kNormalLanes];
  for (std::size_t l = 0; l < kNormalLanes; ++l) {
    word[0][l] = first_block + static_cast<std::uint32_t>(l);
    word[1][l] = key.sample;
    word[2][l] = key.row;
    word[3][l] = key.stream;
  }
  std::uint32_t k0 = key.seed_low, k1 = key.seed_high;
  for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    for (std::size_t l = 0; l < kNormalLanes; ++l) {
      const std::uint64_t a = std::uint64_t{kMultiply0} * word[0][l];
      const std::uint64_t b = std::uint64_t{kMultiply1} * word[2][l];
      word[0][l] = static_cast<std::uint32_t>(b >> 32) ^ word[1][l] ^ k0;
      word[2][l] = static_cast<std::uint32_t>(a >> 32) ^ word[3][l] ^ k1;
      word[1][l] = static_cast<std::uint32_t>(b);
      word[3][l] = static_cast<std::uint32_t>(a);
    }
  }
  for (std::size_t pair = 0; pair < 2; ++pair) {
    const std::uint32_t* u = word[2 * pair];
    const std::uint32_t* v = word[2 * pair + 1];
    float* first = out + 2 * pair * kNormalLanes;
    float* second = first + kNormalLanes;
    for (std::size_t l = 0; l < kNormalLanes; ++l) {
      // A uniform in (0, 1): 31 bits and a half.
      const float half =
          std::fma(static_cast<float>(static_cast<std::int32_t>(u[l] >> 1)), 0x1p-31F, 0x1p-32F);
      const float uniform = half < 0x1.fffffep-1F ? half : 0x1.fffffep-1F;
      // log: uniform = 2^exponent · (1 + f) with 1 + f in [√½, √2).
      const auto bits = std::bit_cast<std::int32_t>(uniform);
      const std::int32_t above = bits - 0x3f3504f3;
      const auto exponent = static_cast<float>(above >> 23);
      const float f = std::bit_cast<float>(bits - (above & static_cast<std::int32_t>(0xff800000))) - 1.0F;
      float p = 7.0376836292e-2F;
      p = std::fma(p, f, -1.1514610310e-1F);
      p = std::fma(p, f, 1.1676998740e-1F);
      p = std::fma(p, f, -1.2420140846e-1F);
      p = std::fma(p, f, 1.4249322787e-1F);
      p = std::fma(p, f, -1.6668057665e-1F);
      p = std::fma(p, f, 2.0000714765e-1F);
      p = std::fma(p, f, -2.4999993993e-1F);
      p = std::fma(p, f, 3.3333331174e-1F);
      const float square = f * f;
      p = (p * f) * square;
      p = std::fma(-0.5F, square, p) + f;
      const float radius = std::sqrt(-2.0F * std::fma(exponent, 0.69314718056F, p));
      // sin and cos of 2π·v/2^32: the nearest quarter turn, and what is left of it.
      const std::uint32_t quarter = (v[l] + 0x20000000U) >> 30;
      const auto left = static_cast<std::int32_t>(v[l] - (quarter << 30));
      const float x = static_cast<float>(left) * (6.283185307179586F * 0x1p-32F);
      const float z = x * x;
      float s = -1.9515295891e-4F;
      s = std::fma(s, z, 8.3321608736e-3F);
      s = std::fma(s, z, -1.6666654611e-1F);
      s = std::fma(s * z, x, x);
      float c = 2.443315711809948e-5F;
      c = std::fma(c, z, -1.388731625493765e-3F);
      c = std::fma(c, z, 4.166664568298827e-2F);
      c = std::fma(c * z, z, std::fma(-0.5F, z, 1.0F));
      const bool swap = (quarter & 1U) != 0;
      const std::uint32_t sine = std::bit_cast<std::uint32_t>(swap ? c : s) ^ ((quarter & 2U) << 30);
      const std::uint32_t cosine = std::bit_cast<std::uint32_t>(swap ? s : c) ^ (((quarter + 1U) & 2U) << 30);
      first[l] = radius * std::bit_cast<float>(sine);
      second[l] = radius * std::bit_cast<float>(cosine);
    }
  }
}

void normal_groups_scalar(const NormalsKey& key, std::uint32_t first_block, std::size_t groups, float* out) {
  for (std::size_t g = 0; g < groups; ++g) {
    normal_group(key, first_block + static_cast<std::uint32_t>(g * kNormalLanes), out + g * kNormalGroup);
  }
}

NormalGroups* groups_for([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return normal_groups_avx512;
  if (simd == Simd::avx2) return normal_groups_avx2;
#endif
  return normal_groups_scalar;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{kMultiply0} * counter[0];
    const std::uint64_t b = std::uint64_t{kMultiply1} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::array<std::uint32_t, 4> draw_words(const DrawKey& key, std::uint32_t block) {
  return philox(counter_of(key, block), key_of(key));
}

double draw_uniform(const DrawKey& key, std::uint64_t feature) {
  const auto words = draw_words(key, static_cast<std::uint32_t>(feature / 2));
  const std::size_t half = 2 * (feature % 2);
  const std::uint64_t bits = (std::uint64_t{words[half + 1]} << 32) | words[half];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::uint64_t draw_below(const DrawKey& key, std::uint64_t bound) {
  const auto words = draw_words(key, 0);
  const std::uint64_t bits = (std::uint64_t{words[1]} << 32) | words[0];
  // The high word of bits × bound [Lemire 2019], without its rejection step.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

void random_signs(const DrawKey& key, std::span<double> v) {
  for (std::size_t first = 0; first < v.size(); first += 128) {
    const auto words = draw_words(key, static_cast<std::uint32_t>(first / 128));
    const std::size_t count = std::min<std::size_t>(128, v.size() - first);
    for (std::size_t j = 0; j < count; ++j) {
      if ((words[j / 32] >> (j % 32)) & 1U) v[first + j] = -v[first + j];
    }
  }
}

Simd best_simd() {
#if defined(__x86_64__)
  static const Simd best = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Simd::scalar;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return wide ? Simd::avx512 : Simd::avx2;
  }();
  return best;
#else
  return Simd::scalar;
#endif
}

void normals(const DrawKey& key, std::span<float> out, Simd simd) {
  const auto counter = counter_of(key, 0);
  const auto [low, high] = key_of(key);
  const NormalsKey family{low, high, counter[1], counter[2], counter[3]};
  NormalGroups* const make = groups_for(simd);
  const std::size_t whole = out.size() / kNormalGroup, rest = out.size() % kNormalGroup;
  make(family, 0, whole, out.data());
  if (rest == 0) return;
  float group[kNormalGroup];
  make(family, static_cast<std::uint32_t>(whole * kNormalLanes), 1, group);
  std::copy_n(group, rest, out.data() + whole * kNormalGroup);
}

}  // namespace harmonia
