#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// Counter-based random numbers: every draw is a pure function of (seed, stream, row, sample, feature), so it
/// does not depend on threads, batch size or the width of the machine. The bits are fixed: changing them
/// changes every seeded result.
namespace harmonia {

/// What a draw is for; draws of different streams are independent.
enum class Stream : std::uint32_t {
  direction = 1,
  rotation = 2,
  permutation = 3,
  uniform_data = 4,
  subsample = 5,
  jitter = 6,
  noise = 7,
  noise_radius = 8,
  search = 9,
  search_noise = 10,
  folds = 11,
  prompt = 12,
  monitor_ties = 13,
  monitor_sample = 14
};

/// The key of a family of draws.
struct DrawKey {
  std::uint64_t seed = 1;
  Stream stream = Stream::direction;
  std::uint64_t row = 0;     ///< below 2^32
  std::uint64_t sample = 0;  ///< below 2^32
};

/// Philox4x32-10 [Salmon 2011]: a block of four 32-bit words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Block `block` of the family: four words.
std::array<std::uint32_t, 4> draw_words(const DrawKey& key, std::uint32_t block);

/// A double in [0, 1) with 53 random bits.
double draw_uniform(const DrawKey& key, std::uint64_t feature);

/// A whole number in [0, bound); its bias is below bound / 2^64.
std::uint64_t draw_below(const DrawKey& key, std::uint64_t bound);

/// Flips the sign of v[j] by bit j of the family.
void random_signs(const DrawKey& key, std::span<double> v);

/// Instruction sets that normals() has a path for. All give the same bits.
enum class Simd { scalar, avx2, avx512 };

/// The best path that this processor can run.
Simd best_simd();

/// out[j] is standard normal number j of the family, in single precision (Box–Muller; |z| < 6.8). Feature
/// 64g + 16w + l takes word w of Philox block 16g + l, so that 16 lanes are stored without a shuffle.
void normals(const DrawKey& key, std::span<float> out, Simd simd = best_simd());

}  // namespace harmonia
