#include "harmonia/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace harmonia {
namespace {

TEST(Random, PhiloxGivesThePublishedWords) {
  const std::array<std::uint32_t, 4> zeros{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), zeros);
  const std::array<std::uint32_t, 4> ones{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}), ones);
}

// The bits are a promise to every seeded result: this test must never be changed to fit the code.
TEST(Random, NormalsKeepTheirBits) {
  std::vector<float> z(130);
  normals({.seed = 7, .stream = Stream::direction, .row = 3, .sample = 11}, z);
  std::uint64_t hash = 1469598103934665603U;
  for (const float value : z) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211U;
  EXPECT_EQ(hash, 0xfcff00208a712f11U);
}

TEST(Random, EveryInstructionSetGivesTheSameBits) {
  for (const std::size_t n : {1, 2, 63, 64, 65, 1000}) {
    const DrawKey key{.seed = 0x123456789abcdef, .stream = Stream::rotation, .row = n, .sample = 5};
    std::vector<float> expected(n), z(n);
    normals(key, expected, Simd::scalar);
    for (const Simd simd : {Simd::avx2, Simd::avx512}) {
      if (static_cast<int>(simd) > static_cast<int>(best_simd())) continue;
      normals(key, z, simd);
      EXPECT_EQ(z, expected) << "n = " << n;
    }
  }
}

TEST(Random, AShorterRowIsThePrefixOfALongerOne) {
  std::vector<float> all(200), part(37);
  normals({.row = 1}, all);
  normals({.row = 1}, part);
  for (std::size_t j = 0; j < part.size(); ++j) EXPECT_EQ(part[j], all[j]);
}

// 2^20 draws; Kolmogorov–Smirnov at a false-alarm rate of 1e-3 (1.95), moments at five standard errors.
TEST(Random, NormalsAreNormal) {
  const std::size_t n = 1 << 20;
  std::vector<float> z(n);
  normals({.seed = 42}, z);
  double mean = 0, square = 0, cube = 0, fourth = 0;
  for (const double v : z) {
    mean += v;
    square += v * v;
    cube += v * v * v;
    fourth += v * v * v * v;
  }
  const double count = static_cast<double>(n), sd = 1 / std::sqrt(count);
  EXPECT_NEAR(mean / count, 0, 5 * sd);
  EXPECT_NEAR(square / count, 1, 5 * std::sqrt(2.0) * sd);
  EXPECT_NEAR(cube / count, 0, 5 * std::sqrt(15.0) * sd);
  EXPECT_NEAR(fourth / count, 3, 5 * std::sqrt(96.0) * sd);
  std::sort(z.begin(), z.end());
  double gap = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double below = 0.5 * std::erfc(-static_cast<double>(z[i]) / std::sqrt(2.0));
    gap = std::max(gap, std::abs(below - (static_cast<double>(i) + 0.5) / count));
  }
  EXPECT_LT(gap * std::sqrt(count), 1.95);
}

TEST(Random, UniformsAndWholeNumbersStayInRange) {
  double mean = 0;
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 70000; ++i) {
    const double u = draw_uniform({.stream = Stream::uniform_data, .row = i}, i % 3);
    EXPECT_TRUE(u >= 0 && u < 1);
    mean += u;
    ++counts[draw_below({.stream = Stream::permutation, .row = i}, 7)];
  }
  EXPECT_NEAR(mean / 70000, 0.5, 5 * std::sqrt(1.0 / 12 / 70000));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 5 * std::sqrt(10000.0));
}

}  // namespace
}  // namespace harmonia
