#pragma once

// Included by sources that are compiled for one instruction set: plain data alone, no inline functions.

#include <cstddef>
#include <cstdint>

namespace harmonia {

constexpr std::uint32_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;  // of Philox4x32 [Salmon 2011]
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

/// Normal numbers are made in groups of four words of this many blocks.
constexpr std::size_t kNormalLanes = 16;
constexpr std::size_t kNormalGroup = 4 * kNormalLanes;

/// What a family of draws has but its blocks.
struct NormalsKey {
  std::uint32_t seed_low, seed_high, sample, row, stream;
};

/// Makes groups of normal numbers, the first from block `first_block` on.
using NormalGroups = void(const NormalsKey& key, std::uint32_t first_block, std::size_t groups, float* out);

NormalGroups normal_groups_avx2, normal_groups_avx512;

}  // namespace harmonia
